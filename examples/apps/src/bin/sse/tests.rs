use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::http::Request;
use llmnode::prelude::*;
use tower::ServiceExt;

use crate::{app, stub};

async fn asked(run: &Arc<Run>) -> Body {
    let request = Request::get("/plans/Oslo").body(Body::empty()).unwrap();
    app::router(Arc::clone(run))
        .oneshot(request)
        .await
        .unwrap()
        .into_body()
}

#[tokio::test]
async fn the_plan_grows_and_ends() {
    let server = stub(Duration::from_millis(1)).start().await.unwrap();
    let run = Arc::new(Run::new(
        OpenAi::builder()
            .base_url(server.base_url())
            .model("m")
            .build()
            .unwrap(),
    ));
    let body = axum::body::to_bytes(asked(&run).await, 1 << 20)
        .await
        .unwrap();
    let text = String::from_utf8(body.to_vec()).unwrap();
    assert!(
        text.contains("event: plan\ndata: {\"title\":\"Nor"),
        "{text}"
    );
    assert!(text.contains("Troms"), "{text}");
    assert!(
        text.ends_with("event: done\ndata: {\"days\":3}\n\n"),
        "{text}"
    );
}

#[tokio::test]
async fn a_browser_that_leaves_cancels_the_call() {
    let server = stub(Duration::from_millis(20)).start().await.unwrap();
    let (told, mut records) = tokio::sync::mpsc::unbounded_channel();
    let run = Run::new(
        OpenAi::builder()
            .base_url(server.base_url())
            .model("m")
            .build()
            .unwrap(),
    );
    let run = Arc::new(run.on_call(move |record| told.send(record.category).unwrap()));
    let mut body = Box::pin(asked(&run).await);
    std::future::poll_fn(|cx| body.as_mut().poll_frame(cx))
        .await
        .unwrap()
        .unwrap();
    drop(body);
    assert_eq!(records.recv().await, Some(Some(Category::Cancelled)));
    assert!(!server.requests()[0].is_complete(), "the rest was not sent");
}
