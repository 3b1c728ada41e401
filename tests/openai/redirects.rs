//! Redirects are followed on the same server only.

use llmnode_runtime::Category;
use llmnode_runtime::stub_server::Reply;

use crate::support::{CANARY, ask, builder, model, server};

#[tokio::test]
async fn on_the_same_server_the_request_is_repeated() {
    let server = server([Reply::redirect("/v1/chat/completions?again=1"), Reply::text("hello")]).await;
    let model = builder(&server.base_url()).api_key(CANARY).build().unwrap();
    assert_eq!(ask(&model).await.unwrap().text, "hello");
    let log = server.requests();
    assert_eq!(log[1].path(), "/v1/chat/completions?again=1");
    assert_eq!(
        (log[0].body(), log[0].header("authorization")),
        (log[1].body(), log[1].header("authorization"))
    );
}

#[tokio::test]
async fn another_server_never_sees_the_request() {
    let elsewhere = server([]).await;
    for target in [elsewhere.base_url(), elsewhere.base_url().replace("http:", "https:")] {
        let server = server([Reply::redirect(format!("{target}/chat/completions?x=hidden"))]).await;
        let model = builder(&server.base_url()).api_key(CANARY).build().unwrap();
        let error = ask(&model).await.unwrap_err();
        assert_eq!((error.category, error.retry), (Category::BadRequest, None));
        assert!(error.message.contains(&elsewhere.address().to_string()), "{error}");
        assert!(!error.message.contains("hidden"));
    }
    assert_eq!(elsewhere.requests_seen(), 0);
}

#[tokio::test]
async fn for_ever_is_an_error() {
    let server = server((0..20).map(|_| Reply::redirect("/v1/chat/completions"))).await;
    let error = ask(&model(&server.base_url())).await.unwrap_err();
    assert_eq!(error.category, Category::BadRequest);
    assert_eq!(server.requests_seen(), 6);
}
