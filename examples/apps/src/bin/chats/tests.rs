use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::http::Request;
use llmnode::StubServer;
use llmnode::chats::Conversations;
use llmnode::prelude::*;
use llmnode::stub_server::StubServerBuilder;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::app::{self, Service};
use crate::stub;

async fn service(stub: StubServerBuilder) -> (Arc<Service>, StubServer) {
    let server = stub.start().await.unwrap();
    let model = OpenAi::builder().base_url(server.base_url()).model("m");
    let service = Service {
        run: Run::new(model.build().unwrap()),
        chats: Conversations::in_memory(),
    };
    (Arc::new(service), server)
}

async fn sent(service: &Arc<Service>, request: Request<Body>) -> Body {
    let router = app::router(Arc::clone(service));
    router.oneshot(request).await.unwrap().into_body()
}

async fn text(body: Body) -> String {
    let bytes = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    String::from_utf8(bytes.to_vec()).unwrap()
}

async fn ask(service: &Arc<Service>, question: &str) -> Body {
    let request = Request::post("/chats/one").body(question.to_owned().into());
    sent(service, request.unwrap()).await
}

async fn shown(service: &Arc<Service>) -> Value {
    let request = Request::get("/chats/one").body(Body::empty()).unwrap();
    serde_json::from_str(&text(sent(service, request).await).await).unwrap()
}

#[tokio::test]
async fn an_answer_comes_in_pieces_and_is_kept() {
    let (service, _server) = service(stub(Duration::from_millis(1))).await;
    let events = text(ask(&service, "What about the sea?").await).await;
    assert!(events.contains("event: text\ndata: \"The \""), "{events}");
    assert!(events.ends_with("event: done\ndata: \"\"\n\n"), "{events}");
    let shown = shown(&service).await;
    assert_eq!(shown["messages"][0]["text"], "What about the sea?");
    assert_eq!(shown["messages"][1]["role"], "assistant");
    assert_eq!(shown["unfinished"], Value::Null);
}

#[tokio::test]
async fn a_second_tab_is_refused_and_costs_nothing() {
    let (service, server) = service(stub(Duration::from_millis(20))).await;
    let mut first = ask(&service, "One?").await;
    let piece = std::future::poll_fn(|cx| Pin::new(&mut first).poll_frame(cx)).await;
    piece.unwrap().unwrap();
    let second = text(ask(&service, "Two?").await).await;
    assert_eq!(second, "event: failed\ndata: \"conflict\"\n\n");
    text(first).await;
    assert_eq!(server.requests().len(), 1);
    assert_eq!(
        shown(&service).await["messages"].as_array().unwrap().len(),
        2
    );
}

#[tokio::test]
async fn a_browser_that_leaves_may_go_on() {
    let (service, _server) = service(stub(Duration::from_millis(20))).await;
    let mut first = ask(&service, "One?").await;
    let piece = std::future::poll_fn(|cx| Pin::new(&mut first).poll_frame(cx)).await;
    piece.unwrap().unwrap();
    drop(first);
    // The call ends when the server notices.
    let mut events = text(ask(&service, "").await).await;
    while events.contains("conflict") {
        tokio::time::sleep(Duration::from_millis(10)).await;
        assert_eq!(shown(&service).await["unfinished"], json!("One?"));
        events = text(ask(&service, "").await).await;
    }
    assert!(events.ends_with("event: done\ndata: \"\"\n\n"), "{events}");
    let shown = shown(&service).await;
    assert_eq!(shown["messages"].as_array().unwrap().len(), 2);
    assert_eq!(shown["messages"][0]["text"], "One?");
}
