//! Redirects are followed on the same server only.

use llmnode_runtime::{AttemptKind, Category, Run};
use llmnode_stub::StubReply;

use crate::support::{CANARY, Greet, ask, builder, model, server};

#[tokio::test]
async fn on_the_same_server_the_request_is_repeated_once_and_the_place_remembered() {
    let server = server([
        StubReply::redirect("/v1/chat/completions?again=1"),
        StubReply::text("hello"),
        StubReply::text("hello again"),
        StubReply::raw(404, "moved back"),
        StubReply::text("back"),
    ])
    .await;
    let run = Run::new(builder(&server.base_url()).api_key(CANARY).build().unwrap());
    // Without any retries: a redirect costs none.
    let report = run
        .call(&Greet)
        .transport_retries(0)
        .report()
        .await
        .unwrap();
    assert_eq!(report.value, "hello");
    let kinds: Vec<_> = report
        .record
        .attempts
        .iter()
        .map(|attempt| (attempt.kind, attempt.status))
        .collect();
    assert_eq!(
        kinds,
        [
            (AttemptKind::First, Some(307)),
            (AttemptKind::Adapted, None)
        ]
    );
    assert_eq!(run.call(&Greet).await.unwrap(), "hello again");
    assert_eq!(
        run.call(&Greet).await.unwrap_err().category(),
        Category::NotFound
    );
    assert_eq!(run.call(&Greet).await.unwrap(), "back");
    let log = server.requests();
    let paths: Vec<_> = log.iter().map(|request| request.path()).collect();
    let (first, moved) = ("/v1/chat/completions", "/v1/chat/completions?again=1");
    assert_eq!(paths, [first, moved, moved, moved, first]);
    assert_eq!(
        (log[0].body(), log[0].header("authorization")),
        (log[1].body(), log[1].header("authorization"))
    );
    // The ledger has an entry for each request that the server saw.
    assert_eq!(run.ledger().total().requests, 5);
}

#[tokio::test]
async fn another_server_never_sees_the_request() {
    let elsewhere = server([]).await;
    for target in [
        elsewhere.base_url(),
        elsewhere.base_url().replace("http:", "https:"),
    ] {
        let server = server([StubReply::redirect(format!(
            "{target}/chat/completions?x=hidden"
        ))])
        .await;
        let model = builder(&server.base_url()).api_key(CANARY).build().unwrap();
        let error = ask(&model).await.unwrap_err();
        assert_eq!((error.category, error.retry), (Category::BadRequest, None));
        assert!(
            error.message.contains(&elsewhere.address().to_string()),
            "{error}"
        );
        assert!(!error.message.contains("hidden"));
    }
    assert_eq!(elsewhere.requests_seen(), 0);
}

#[tokio::test]
async fn in_a_circle_is_an_error() {
    let circle = server((0..20).map(|_| StubReply::redirect("/v1/chat/completions"))).await;
    let run = Run::new(model(&circle.base_url()));
    let error = run.call(&Greet).await.unwrap_err();
    assert_eq!(
        (error.category(), error.attempts().len()),
        (Category::BadRequest, 1)
    );
    assert!(error.message().contains("in a circle"), "{error}");
    let endless =
        server((0..20).map(|n| StubReply::redirect(format!("/v1/chat/completions?{n}")))).await;
    let run = Run::new(model(&endless.base_url()));
    let error = run.call(&Greet).await.unwrap_err();
    assert_eq!(
        (error.category(), error.attempts().len()),
        (Category::BadRequest, 5)
    );
    assert_eq!(endless.requests_seen(), 5);
}

/// The client keeps `authorization` to itself, but knows no other header of a key. It follows only where it need not repeat
/// the body.
#[cfg(feature = "http-client")]
#[tokio::test]
async fn a_client_of_ones_own_that_goes_elsewhere_is_told_so() {
    let elsewhere = server([StubReply::text("stolen")]).await;
    let target = format!("{}/chat/completions", elsewhere.base_url());
    let head = format!("HTTP/1.1 302 Found\r\nlocation: {target}\r\ncontent-length: 0\r\n\r\n");
    let found = crate::support::sends(head).await;
    let model = builder(&found)
        .http_client(crate::support::client())
        .build()
        .unwrap();
    let error = ask(&model).await.unwrap_err();
    assert_eq!((error.category, error.retry), (Category::BadRequest, None));
    assert!(error.message.contains("redirects switched off"), "{error}");

    let seen = elsewhere.requests_seen();
    let server = server([StubReply::redirect(target)]).await;
    let model = builder(&server.base_url())
        .http_client(crate::support::client())
        .build()
        .unwrap();
    let error = ask(&model).await.unwrap_err();
    assert_eq!((error.category, error.retry), (Category::BadRequest, None));
    assert!(error.message.contains("was not repeated there"), "{error}");
    assert_eq!(elsewhere.requests_seen(), seen);
}

/// What another server says of a batch is not taken for the provider's.
#[cfg(all(feature = "batch", feature = "http-client"))]
#[tokio::test]
async fn a_client_of_ones_own_that_looks_for_a_batch_elsewhere_is_told_so() {
    let ended = r#"{"id":"b","status":"completed"}"#;
    let length = ended.len();
    let elsewhere = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{ended}");
    let target = crate::support::sends(elsewhere).await;
    let head = format!("HTTP/1.1 302 Found\r\nlocation: {target}\r\ncontent-length: 0\r\n\r\n");
    let found = crate::support::sends(head).await;
    let model = builder(&found)
        .http_client(crate::support::client())
        .build()
        .unwrap();
    let batches = llmnode_model::ChatModel::batch_api(&model).unwrap();
    let error = batches.poll("b").await.unwrap_err();
    assert!(error.message.contains("redirects switched off"), "{error}");
}

/// No connection is made to the second server, but the first one has the request: it may have been processed.
#[cfg(feature = "http-client")]
#[tokio::test]
async fn a_redirect_to_nobody_does_not_make_the_request_unsent() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let head =
        format!("HTTP/1.1 302 Found\r\nlocation: http://{nobody}/\r\ncontent-length: 0\r\n\r\n");
    let found = crate::support::sends(head).await;
    let model = builder(&found)
        .http_client(crate::support::client())
        .build()
        .unwrap();
    let error = ask(&model).await.unwrap_err();
    assert_eq!(
        (error.category, error.reached),
        (Category::Network, true),
        "{error}"
    );
    assert!(error.message.contains("may have been processed"), "{error}");
}
