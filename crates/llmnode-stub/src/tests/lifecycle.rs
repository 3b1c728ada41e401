//! The server's settings, its log and its end.

use std::time::Duration;

use serde_json::json;
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::client::{Client, ask};
use super::{chat, post};
use crate::{StubReply, StubServer};

/// Until the server's task has had the time to end.
async fn refused(address: std::net::SocketAddr) {
    while TcpStream::connect(address).await.is_ok() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn dropping_the_handle_closes_everything() {
    let server = StubServer::builder()
        .script([StubReply::text("a"), StubReply::stall()])
        .start()
        .await
        .unwrap();
    let address = server.address();
    let mut idle = Client::connect(address).await;
    idle.send(post(&chat("a"))).await;
    idle.response().await.unwrap();
    let mut stalled = Client::connect(address).await;
    stalled.send(post(&chat("b"))).await;
    while server.requests_seen() < 2 {
        tokio::task::yield_now().await;
    }
    drop(server);
    assert_eq!(idle.rest().await.0, b"");
    assert_eq!(stalled.rest().await.0, b"");
    timeout(Duration::from_secs(5), refused(address))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_stopped_server_has_closed_its_port() {
    let server = StubServer::builder()
        .script([StubReply::stall()])
        .start()
        .await
        .unwrap();
    let address = server.address();
    let mut stalled = Client::connect(address).await;
    stalled.send(post(&chat("a"))).await;
    server.stop().await;
    assert!(TcpStream::connect(address).await.is_err());
    let again = StubServer::builder()
        .port(address.port())
        .start()
        .await
        .unwrap();
    assert_eq!(
        again.base_url(),
        format!("http://127.0.0.1:{}/v1", address.port())
    );
    assert!(
        StubServer::builder()
            .port(address.port())
            .start()
            .await
            .is_err()
    );
}

#[test]
fn without_a_runtime_there_is_an_error() {
    let mut start = Box::pin(StubServer::start());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(Err(error)) = start.as_mut().poll(&mut context) else {
        panic!("it started")
    };
    assert!(error.to_string().contains("no reactor running"), "{error}");
}

#[tokio::test]
async fn a_required_key() {
    let server = StubServer::builder()
        .api_key("sk-secret")
        .start()
        .await
        .unwrap();
    assert_eq!(ask(server.address(), &chat("a")).await.unwrap().status, 200);
    let mut client = Client::connect(server.address()).await;
    for wrong in [
        "",
        "Authorization: Bearer sk-wrong\r\n",
        "Authorization: sk-secret\r\n",
    ] {
        client
            .send(format!("GET /v1/models HTTP/1.1\r\n{wrong}\r\n"))
            .await;
        let response = client.response().await.unwrap();
        assert_eq!(
            (response.status, response.json()["error"]["code"].clone()),
            (401, json!("invalid_api_key"))
        );
    }
    client
        .send("GET /v1/models HTTP/1.1\r\nauthorization: bearer sk-secret\r\n\r\n")
        .await;
    assert_eq!(client.response().await.unwrap().status, 200);
}

#[tokio::test]
async fn no_debug_output_shows_a_key() {
    let builder = StubServer::builder().api_key("sk-secret");
    assert!(!format!("{builder:?}").contains("sk-secret"));
    let server = builder.start().await.unwrap();
    ask(server.address(), &chat("a")).await.unwrap();
    let request = &server.requests()[0];
    assert_eq!(request.header("AUTHORIZATION"), Some("Bearer sk-secret"));
    let shown = format!("{server:?} {request:?}");
    assert!(
        !shown.contains("sk-secret") && shown.contains("[redacted]"),
        "{shown}"
    );
    assert!(shown.contains("content-length") || shown.contains("Content-Length"));
}

#[tokio::test]
async fn the_log_is_bounded_and_counts_go_on() {
    let reply = StubReply::text("abcd").usage(10, 1);
    let server = StubServer::builder()
        .log_limit(2)
        .default_reply(reply)
        .start()
        .await
        .unwrap();
    for _ in 0..5 {
        ask(server.address(), &chat("a")).await.unwrap();
    }
    assert_eq!((server.requests().len(), server.requests_seen()), (2, 5));
    let totals = server.usage_totals();
    assert_eq!(
        (totals.input, totals.output, totals.total),
        (Some(50), Some(5), Some(55))
    );
}

#[tokio::test]
async fn a_client_that_leaves_before_the_answer_shows_in_the_log() {
    let server = StubServer::start().await.unwrap();
    server.push(StubReply::text("too late").after(Duration::from_secs(3600)));
    server.push(StubReply::huge(100_000_000));
    for seen in 1..=2 {
        let mut client = Client::connect(server.address()).await;
        client.send(post(&chat("a"))).await;
        while server.requests_seen() < seen {
            tokio::task::yield_now().await;
        }
    }
    // A later request is served all the same.
    assert_eq!(ask(server.address(), &chat("b")).await.unwrap().status, 200);
    let log = server.requests();
    assert!(!log[0].is_complete() && !log[1].is_complete() && log[2].is_complete());
    assert_eq!(server.usage_totals(), log[2].usage().unwrap());
}

#[tokio::test]
async fn messages_of_several_parts() {
    let server = StubServer::builder()
        .models(["a", "b"])
        .start()
        .await
        .unwrap();
    let parts = json!([{"type": "text", "text": "one"}, {"type": "image_url"}, {"type": "text", "text": "two"}]);
    let messages =
        json!([{"role": "system", "content": parts}, {"role": "assistant", "content": null}]);
    ask(
        server.address(),
        &json!({"model": "x", "messages": messages}),
    )
    .await
    .unwrap();
    let expected = [("system", "one\n[image_url]\ntwo"), ("assistant", "")]
        .map(|(r, c)| (r.to_owned(), c.to_owned()));
    assert_eq!(server.requests()[0].messages(), expected);
    assert_eq!(server.requests()[0].json().unwrap()["model"], "x");
    assert_eq!(server.requests()[0].path(), "/v1/chat/completions");

    let mut client = Client::connect(server.address()).await;
    client.send("GET /v1/models HTTP/1.1\r\n\r\n").await;
    let models = client.response().await.unwrap().json();
    assert_eq!(
        (&models["object"], &models["data"][1]["id"]),
        (&json!("list"), &json!("b"))
    );
}

/// Every way out of an exchange is reported, each request once.
#[tokio::test]
async fn each_request_is_told_when_the_server_is_done_with_it() {
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let script = [
        StubReply::text("a").usage(3, 4),
        StubReply::text("b").cut_short(),
        StubReply::text("c").reset_midway(),
        StubReply::reset(),
        StubReply::for_request(|_| panic!("a responder's bug")),
        StubReply::stall(),
        StubReply::stall(),
    ];
    let server = StubServer::builder()
        .script(script)
        .log_limit(0)
        .on_exchange(move |request| tell.send(request.clone()).unwrap())
        .start()
        .await
        .unwrap();
    for _ in 0..5 {
        ask(server.address(), &chat("x")).await;
    }
    // One client leaves, and from the other the server goes.
    let mut leaves = Client::connect(server.address()).await;
    leaves.send(post(&chat("y"))).await;
    while server.requests_seen() < 6 {
        tokio::task::yield_now().await;
    }
    drop(leaves);
    let mut stays = Client::connect(server.address()).await;
    stays.send(post(&chat("z"))).await;
    while server.requests_seen() < 7 {
        tokio::task::yield_now().await;
    }
    server.stop().await;
    let mut all = Vec::new();
    while let Some(request) = told.recv().await {
        let total = request.usage().and_then(|usage| usage.total);
        all.push((
            request.request_id().to_owned(),
            request.status(),
            total,
            request.is_complete(),
        ));
    }
    all.sort_unstable();
    let (ok, nothing) = (Some(200), (None, None, false));
    let expected = [
        (ok, Some(7), true),
        (ok, Some(2), false),
        (ok, Some(2), false),
    ];
    let expected = expected.into_iter().chain([nothing; 4]).enumerate();
    let expected = expected
        .map(|(at, (status, total, done))| (format!("req-{}", at + 1), status, total, done));
    assert_eq!(all, expected.collect::<Vec<_>>());
}

#[tokio::test]
async fn a_reset_midway_comes_after_the_head_and_is_no_proper_end() {
    let server = StubServer::builder()
        .script([StubReply::text("a").reset_midway()])
        .start()
        .await
        .unwrap();
    let mut client = Client::connect(server.address()).await;
    client.send(post(&chat("x"))).await;
    let mut head = [0; 12];
    // What has arrived may be thrown away by the reset, the error itself is not.
    let began = tokio::io::AsyncReadExt::read_exact(&mut client.0, &mut head).await;
    assert!(began.is_err() || head == *b"HTTP/1.1 200");
    assert!(!client.rest().await.1 || began.is_err());
}

#[tokio::test]
async fn an_idle_connection_is_closed_when_that_is_asked_for() {
    let idle = Duration::from_millis(20);
    let server = StubServer::builder()
        .idle_timeout(idle)
        .start()
        .await
        .unwrap();
    let mut client = Client::connect(server.address()).await;
    client.send(post(&chat("x"))).await;
    assert_eq!(client.response().await.unwrap().status, 200);
    assert_eq!(
        timeout(Duration::from_secs(5), client.rest())
            .await
            .unwrap(),
        (Vec::new(), true)
    );
}
