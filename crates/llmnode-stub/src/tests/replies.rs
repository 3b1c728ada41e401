//! Every kind of reply, as it looks from the other end of the wire.

use std::time::{Duration, Instant};

use llmnode_model::TokenUsage;
use serde_json::{Value, json};

use super::client::{Client, Response, ask};
use super::{chat, post};
use crate::{StubReply, StubServer};

/// The answer to "hello there" (11 characters, so 3 tokens) by a server whose script is this reply.
async fn answer(reply: StubReply) -> (StubServer, Response) {
    let server = StubServer::builder().script([reply]).start().await.unwrap();
    let response = ask(server.address(), &chat("hello there")).await.unwrap();
    (server, response)
}

fn usage(prompt: u64, completion: u64) -> Option<TokenUsage> {
    let mut usage = TokenUsage::new(prompt, completion);
    usage.total = Some(prompt + completion);
    Some(usage)
}

#[tokio::test]
async fn text_is_a_completion_with_counted_usage() {
    let (server, response) = answer(StubReply::text("Hi, \"Ada\"")).await;
    assert_eq!(
        (response.status, response.content().as_str()),
        (200, "Hi, \"Ada\"")
    );
    assert_eq!(response.header("content-type"), Some("application/json"));
    assert_eq!(response.header("x-request-id"), Some("req-1"));
    let body = response.json();
    assert_eq!(body["model"], "m");
    assert_eq!(body["choices"][0]["finish_reason"], "stop");
    assert_eq!(
        body["usage"],
        json!({"prompt_tokens": 3, "completion_tokens": 3, "total_tokens": 6})
    );
    let log = server.requests();
    assert_eq!(
        (log[0].status(), log[0].usage(), log[0].is_complete()),
        (Some(200), usage(3, 3), true)
    );
    assert_eq!((log[0].request_id(), log[0].method()), ("req-1", "POST"));
    assert_eq!(
        log[0].messages(),
        [("user".to_owned(), "hello there".to_owned())]
    );
    assert_eq!(server.usage_totals(), usage(3, 3).unwrap());
    assert_eq!(server.replies_left(), 0);
}

#[tokio::test]
async fn shapes_of_messages() {
    let (_s, response) = answer(StubReply::json(json!({"a": [1]})).finish_reason("length")).await;
    assert_eq!(response.content(), r#"{"a":[1]}"#);
    assert_eq!(response.json()["choices"][0]["finish_reason"], "length");

    let (_s, response) = answer(StubReply::refusal("I will not.")).await;
    let message = &response.json()["choices"][0]["message"];
    assert_eq!(
        (&message["content"], &message["refusal"]),
        (&Value::Null, &json!("I will not."))
    );
    assert_eq!(response.json()["usage"]["completion_tokens"], 3);

    let (_s, response) = answer(StubReply::null_content()).await;
    let message = &response.json()["choices"][0]["message"];
    assert_eq!(
        (&message["content"], &message["refusal"]),
        (&Value::Null, &Value::Null)
    );

    let (_s, response) = answer(StubReply::no_choices()).await;
    assert_eq!(response.json()["choices"], json!([]));
}

#[tokio::test]
async fn usage_is_overridden_or_omitted() {
    let (server, response) = answer(StubReply::text("a").usage(100, 20)).await;
    assert_eq!(response.json()["usage"]["total_tokens"], 120);
    assert_eq!(server.usage_totals(), usage(100, 20).unwrap());

    let (server, response) = answer(StubReply::text("a").without_usage()).await;
    assert_eq!(response.json().get("usage"), None);
    assert_eq!(server.requests()[0].usage(), None);

    let (server, response) = answer(StubReply::text("a").usage_json("nonsense")).await;
    assert_eq!(response.json()["usage"], "nonsense");
    assert_eq!(server.requests()[0].usage(), None);
}

#[tokio::test]
async fn answers_that_are_no_completion() {
    let limited =
        StubReply::error(429, "requests", "rate_limit_exceeded", "slow down").retry_after(2);
    let (server, response) = answer(limited).await;
    assert!(
        response
            .head
            .starts_with("HTTP/1.1 429 Too Many Requests\r\n")
    );
    assert_eq!(response.header("retry-after"), Some("2"));
    let error = json!({"message": "slow down", "type": "requests", "param": null, "code": "rate_limit_exceeded"});
    assert_eq!(response.json(), json!({"error": error}));
    assert_eq!(
        (server.requests()[0].status(), server.requests()[0].usage()),
        (Some(429), None)
    );

    let (_s, response) = answer(StubReply::error(401, "auth", 401, "no")).await;
    assert_eq!(response.json()["error"]["code"], 401);

    let (server, response) = answer(
        StubReply::raw(599, [0xff, 0])
            .header("Content-Type", "x/y")
            .header("X-Request-Id", "mine"),
    )
    .await;
    assert!(response.head.starts_with("HTTP/1.1 599 \r\n"));
    assert_eq!(
        (response.header("content-type"), &response.body[..]),
        (Some("x/y"), &[0xff, 0][..])
    );
    assert_eq!(
        response.head.to_lowercase().matches("x-request-id").count(),
        1
    );
    assert_eq!(server.requests()[0].request_id(), "mine");

    let (_s, response) = answer(StubReply::html(200)).await;
    assert!(
        response
            .header("content-type")
            .unwrap()
            .starts_with("text/html")
    );
    assert!(response.body.starts_with(b"<!DOCTYPE html>"));

    let (_s, response) = answer(StubReply::redirect("http://127.0.0.1:9/v1")).await;
    assert_eq!(
        (response.status, response.header("location")),
        (307, Some("http://127.0.0.1:9/v1"))
    );

    let (_s, response) = answer(StubReply::raw(204, Vec::new())).await;
    assert_eq!(
        (response.status, response.header("content-length")),
        (204, None)
    );
}

#[tokio::test]
async fn a_huge_body_is_a_well_formed_completion() {
    let bytes = 3_000_001;
    let (server, response) =
        answer(StubReply::huge(bytes as u64).body_after(Duration::from_millis(1))).await;
    assert_eq!(response.content(), "x".repeat(bytes));
    assert_eq!(response.json()["usage"]["completion_tokens"], 750_001);
    assert_eq!(server.requests()[0].usage(), usage(3, 750_001));
    assert!(server.requests()[0].is_complete());
}

#[tokio::test]
async fn delays_before_and_within_the_body() {
    let delay = Duration::from_millis(60);
    let server = StubServer::start().await.unwrap();
    server.push(StubReply::text("late").after(delay));
    server.push(StubReply::text("torn").body_after(delay));
    let mut client = Client::connect(server.address()).await;
    let begun = Instant::now();
    client.send(post(&chat("a"))).await;
    assert_eq!(client.response().await.unwrap().content(), "late");
    assert!(begun.elapsed() >= delay);

    let begun = Instant::now();
    client.send(post(&chat("b"))).await;
    assert_eq!(client.response().await.unwrap().content(), "torn");
    assert!(begun.elapsed() >= delay);
}

#[tokio::test]
async fn faults_break_the_connection_each_in_its_way() {
    for (reply, ends_properly) in [(StubReply::hang_up(), true), (StubReply::reset(), false)] {
        let server = StubServer::builder().script([reply]).start().await.unwrap();
        let mut client = Client::connect(server.address()).await;
        client.send(post(&chat("a"))).await;
        assert_eq!(client.rest().await, (Vec::new(), ends_properly));
        assert_eq!(
            (
                server.requests()[0].status(),
                server.requests()[0].is_complete()
            ),
            (None, false)
        );
    }

    let server = StubServer::builder()
        .script([StubReply::garbage()])
        .start()
        .await
        .unwrap();
    let mut client = Client::connect(server.address()).await;
    client.send(post(&chat("a"))).await;
    let (bytes, _) = client.rest().await;
    assert!(!bytes.is_empty() && !bytes.starts_with(b"HTTP/"));

    for reply in [
        StubReply::text("four").cut_short(),
        StubReply::huge(1_000_000).cut_short(),
    ] {
        let server = StubServer::builder().script([reply]).start().await.unwrap();
        let mut client = Client::connect(server.address()).await;
        client.send(post(&chat("a"))).await;
        let (bytes, ended) = client.rest().await;
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let announced: usize = head
            .split("content-length: ")
            .nth(1)
            .unwrap()
            .lines()
            .next()
            .unwrap()
            .parse()
            .unwrap();
        assert!(
            ended && !body.is_empty() && body.len() < announced * 3 / 4,
            "{} {announced}",
            body.len()
        );
        assert_eq!(
            (
                server.requests()[0].status(),
                server.requests()[0].is_complete()
            ),
            (Some(200), false)
        );
        assert_eq!(server.usage_totals(), usage(0, 0).unwrap());
    }
}

#[tokio::test]
async fn a_stalled_request_is_logged() {
    let server = StubServer::builder()
        .script([StubReply::stall()])
        .start()
        .await
        .unwrap();
    let mut client = Client::connect(server.address()).await;
    client.send(post(&chat("a"))).await;
    let silence = tokio::time::timeout(Duration::from_millis(50), client.response()).await;
    assert!(silence.is_err());
    assert_eq!(
        (server.requests().len(), server.requests()[0].status()),
        (1, None)
    );
}

#[tokio::test]
async fn replies_made_from_the_request() {
    let echo =
        StubReply::for_request(|request| StubReply::text(request.messages()[0].1.to_uppercase()));
    let server = StubServer::builder()
        .default_reply(echo)
        .start()
        .await
        .unwrap();
    server.push(StubReply::text("scripted first"));
    let mut client = Client::connect(server.address()).await;
    for (sent, expected) in [("a", "scripted first"), ("b", "B"), ("c", "C")] {
        client.send(post(&chat(sent))).await;
        assert_eq!(client.response().await.unwrap().content(), expected);
    }
    fn again() -> StubReply {
        StubReply::for_request(|_| again())
    }
    server.push(again());
    client.send(post(&chat("d"))).await;
    assert_eq!(client.response().await.unwrap().status, 500);
}

#[tokio::test]
async fn a_prebuilt_reply_needs_no_look_at_the_request() {
    let reply = StubReply::text("fixed").usage(7, 2).prebuilt();
    let server = StubServer::builder()
        .default_reply(reply)
        .log_limit(0)
        .start()
        .await
        .unwrap();
    let mut client = Client::connect(server.address()).await;
    for n in 1..=3 {
        client
            .send("POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 8\r\n\r\nnot JSON")
            .await;
        let response = client.response().await.unwrap();
        assert_eq!(
            (response.content().as_str(), response.header("x-request-id")),
            ("fixed", Some(&*format!("req-{n}")))
        );
    }
    assert_eq!((server.requests().len(), server.requests_seen()), (0, 3));
    assert_eq!(server.usage_totals(), usage(21, 6).unwrap());
    server.push(StubReply::text("other"));
    client.send(post(&chat("a"))).await;
    assert_eq!(client.response().await.unwrap().content(), "other");
}
