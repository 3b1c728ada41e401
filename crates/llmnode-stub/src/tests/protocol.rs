//! HTTP as such: framing, keep-alive, caps, and requests that are not HTTP.

use proptest::prelude::*;
use serde_json::json;
use tokio::io::AsyncWriteExt;

use super::client::{Client, ask};
use super::{chat, post};
use crate::{StubReply, StubServer};

/// A server that answers every request with its last message.
async fn echo() -> StubServer {
    let reply = StubReply::for_request(|request| StubReply::text(request.messages()[0].1.clone()));
    StubServer::builder()
        .default_reply(reply)
        .max_body_bytes(100_000)
        .start()
        .await
        .unwrap()
}

#[tokio::test]
async fn one_connection_serves_many_requests_pipelined_ones_in_order() {
    let server = echo().await;
    let mut client = Client::connect(server.address()).await;
    let texts: Vec<String> = (0..50).map(|n| format!("question {n}")).collect();
    client
        .send(
            texts
                .iter()
                .map(|text| post(&chat(text)))
                .collect::<String>(),
        )
        .await;
    for text in &texts {
        assert_eq!(client.response().await.unwrap().content(), *text);
    }
    client
        .send(format!("\r\n{}", post(&chat("after an empty line"))))
        .await;
    assert_eq!(
        client.response().await.unwrap().content(),
        "after an empty line"
    );

    client
        .send("GET /v1/models HTTP/1.1\r\nConnection: close\r\n\r\n")
        .await;
    assert_eq!(
        client.response().await.unwrap().header("connection"),
        Some("close")
    );
    assert_eq!(client.rest().await, (Vec::new(), true));
    assert_eq!(server.requests_seen(), 52);
}

#[tokio::test]
async fn a_connection_ends_when_either_side_wants_it() {
    let server = StubServer::start().await.unwrap();
    for head in [
        "GET /v1/models HTTP/1.0\r\n\r\n",
        "GET /v1/models HTTP/1.1\r\nconnection: x, Close\r\n\r\n",
    ] {
        let mut client = Client::connect(server.address()).await;
        client.send(head).await;
        assert_eq!(client.response().await.unwrap().status, 200);
        assert_eq!(client.rest().await, (Vec::new(), true));
    }
    server.push(StubReply::text("bye").header("Connection", "close"));
    let mut client = Client::connect(server.address()).await;
    client.send(post(&chat("a"))).await;
    assert_eq!(client.response().await.unwrap().content(), "bye");
    assert_eq!(client.rest().await, (Vec::new(), true));
}

#[tokio::test]
async fn bodies_in_chunks_and_after_100_continue() {
    let server = echo().await;
    let mut client = Client::connect(server.address()).await;
    let body = chat(&"é".repeat(5000)).to_string();
    let mut request =
        b"POST /v1/chat/completions HTTP/1.1\r\nTransfer-Encoding: Chunked\r\n\r\n".to_vec();
    for (at, piece) in body.as_bytes().chunks(777).enumerate() {
        request.extend(format!("{:X};ext=\"{at}\"\r\n", piece.len()).bytes());
        request.extend(piece);
        request.extend(b"\r\n");
    }
    request.extend(b"0\r\nTrailer: x\r\n\r\n");
    request.extend(post(&chat("and then")).bytes());
    client.send(request).await;
    assert_eq!(client.response().await.unwrap().content(), "é".repeat(5000));
    assert_eq!(client.response().await.unwrap().content(), "and then");
    assert_eq!(server.requests()[0].body(), body);

    let waiting = post(&chat("waited")).replace("Host: stub", "Expect: 100-continue");
    let (head, body) = waiting.split_once("\r\n\r\n").unwrap();
    client.send(format!("{head}\r\n\r\n")).await;
    assert_eq!(client.response().await.unwrap().status, 100);
    client.send(body).await;
    assert_eq!(client.response().await.unwrap().content(), "waited");
}

#[tokio::test]
async fn what_is_not_http_gets_an_error_and_the_end_of_the_connection() {
    let server = echo().await;
    let long = "x".repeat(70_000);
    let chunked = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    let cases = [
        (400, "\x16\x03\x01\x02".to_owned()),
        (400, "\r\x16\x03".to_owned()),
        (400, "hello\r\n\r\n".to_owned()),
        (400, "GET / HTTP/1.1\n\n".to_owned()),
        (400, "GET  / HTTP/1.1\r\n\r\n".to_owned()),
        (400, "GET / FTP/1.1\r\n\r\n".to_owned()),
        (400, "G(T / HTTP/1.1\r\n\r\n".to_owned()),
        (505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned()),
        (400, "GET / HTTP/1.1\r\nno colon\r\n\r\n".to_owned()),
        (400, "GET / HTTP/1.1\r\n: empty\r\n\r\n".to_owned()),
        (400, "GET / HTTP/1.1\r\na: b\r\n folded\r\n\r\n".to_owned()),
        (400, "GET / HTTP/1.1\r\na: \0\r\n\r\n".to_owned()),
        (400, "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n".to_owned()),
        (400, "GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n".to_owned()),
        (400, "GET / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n".to_owned()),
        (501, "GET / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n".to_owned()),
        (413, "POST / HTTP/1.1\r\nContent-Length: 100001\r\n\r\n".to_owned()),
        (
            413,
            "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\nExpect: 100-continue\r\n\r\n"
                .to_owned(),
        ),
        (413, format!("{chunked}ffff\r\n{:065535}\r\nffff\r\n", 0)),
        (413, format!("{chunked}ffffffffffffffff\r\n")),
        (400, format!("{chunked}fffffffffffffffff\r\n")),
        (400, format!("{chunked}\r\n")),
        (400, format!("{chunked}+1\r\na\r\n")),
        (400, format!("{chunked}1\r\nabc\r\n")),
        (400, format!("{chunked}{long}")),
        (431, format!("{chunked}0\r\n{}", "a: b\r\n".repeat(70))),
        (431, format!("GET / HTTP/1.1\r\na: {long}")),
        (431, format!("GET / HTTP/1.1\r\na: {long}\r\n\r\n")),
        (431, format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(257))),
    ];
    for (at, (status, bytes)) in cases.iter().enumerate() {
        let shown: String = bytes.chars().take(100).collect();
        let mut client = Client::connect(server.address()).await;
        client.send(bytes).await;
        let response = client.response().await.unwrap_or_else(|| panic!("{shown}"));
        assert_eq!(response.status, *status, "{shown}: {}", response.json());
        assert!(response.json()["error"]["message"].is_string());
        client.0.shutdown().await.unwrap();
        assert_eq!(client.rest().await, (Vec::new(), true), "{shown}");
        assert_eq!(server.requests()[at].status(), Some(*status));
    }
    assert_eq!(server.requests_seen(), cases.len() as u64);
}

#[tokio::test]
async fn a_client_that_sends_on_reads_the_refusal_too() {
    let server = echo().await;
    let mut client = Client::connect(server.address()).await;
    let mut request =
        b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 20000000\r\n\r\n".to_vec();
    request.resize(20_000_000, b'x');
    client.send(request).await;
    assert_eq!(client.response().await.unwrap().status, 413);
}

#[tokio::test]
async fn a_client_that_leaves_early_leaves_no_trace() {
    let server = echo().await;
    let request = post(&chat("a"));
    for cut in [0, 1, 20, request.len() - 1] {
        let mut client = Client::connect(server.address()).await;
        client.send(&request[..cut]).await;
        client.0.shutdown().await.unwrap();
        assert_eq!(client.rest().await, (Vec::new(), true));
    }
    assert_eq!(server.requests_seen(), 0);
}

#[tokio::test]
async fn many_connections_at_once() {
    let server = echo().await;
    let mut clients = Vec::new();
    for n in 0..300 {
        let mut client = Client::connect(server.address()).await;
        client.send(post(&chat(&n.to_string()))).await;
        clients.push(client);
    }
    for (n, client) in clients.iter_mut().enumerate() {
        assert_eq!(client.response().await.unwrap().content(), n.to_string());
    }
}

#[tokio::test]
async fn requests_that_are_refused_take_no_reply() {
    let server = StubServer::builder()
        .script([StubReply::text("for a good one")])
        .start()
        .await
        .unwrap();
    let message = json!({"role": "user", "content": "a"});
    let refused = [
        (json!([]), "JSON"),
        (json!({"messages": [message]}), "model"),
        (json!({"model": "m"}), "messages"),
        (json!({"model": "m", "messages": []}), "messages"),
        (json!({"model": "m", "messages": [1]}), "messages[0]"),
    ];
    for (body, named) in refused {
        let response = ask(server.address(), &body).await.unwrap();
        let error = response.json()["error"].clone();
        assert_eq!(
            (response.status, &error["type"]),
            (400, &json!("invalid_request_error"))
        );
        assert!(
            error["message"].as_str().unwrap().contains(named),
            "{error}"
        );
    }
    let mut client = Client::connect(server.address()).await;
    client
        .send("POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 3\r\n\r\n\u{7f}{x")
        .await;
    assert_eq!(client.response().await.unwrap().status, 400);
    for (method, path) in [
        ("GET", "/v1/chat/completions"),
        ("POST", "/v1/models"),
        ("GET", "/"),
        ("PUT", "*"),
    ] {
        client
            .send(format!("{method} {path} HTTP/1.1\r\n\r\n"))
            .await;
        let response = client.response().await.unwrap();
        assert_eq!(
            (response.status, response.json()["error"]["code"].clone()),
            (404, json!("unknown_url"))
        );
    }
    client
        .send("HEAD /v1 HTTP/1.1\r\n\r\nGET http://elsewhere/v1/models?x=1 HTTP/1.1\r\n\r\n")
        .await;
    // The answer to HEAD has a length but no body, so what follows it is the next answer.
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        head.push(char::from(
            tokio::io::AsyncReadExt::read_u8(&mut client.0)
                .await
                .unwrap(),
        ));
    }
    assert!(head.starts_with("HTTP/1.1 404 Not Found\r\n"));
    assert_eq!(
        client.response().await.unwrap().json()["data"][0]["id"],
        "stub"
    );
    assert_eq!(
        server.requests().last().unwrap().path(),
        "http://elsewhere/v1/models?x=1"
    );
    assert_eq!(server.replies_left(), 1);
    assert_eq!(
        ask(server.address(), &chat("a")).await.unwrap().content(),
        "for a good one"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn where_packets_are_split_makes_no_difference(
        cuts in proptest::collection::vec(0..400_usize, 0..6),
        noise in proptest::collection::vec(any::<u8>(), 0..60),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let server = echo().await;
            let mut client = Client::connect(server.address()).await;
            client.0.set_nodelay(true).unwrap();
            let chunked = "POST /v1/chat/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
            let body = chat("second").to_string();
            let (one, two) = body.split_at(11);
            let second = format!("{chunked}b\r\n{one}\r\n{:x}\r\n{two}\r\n0\r\n\r\n", two.len());
            let mut bytes = format!("{}{second}", post(&chat("first"))).into_bytes();
            bytes.extend_from_slice(&noise);
            let mut cuts = cuts;
            cuts.sort_unstable();
            let mut sent = 0;
            for cut in cuts {
                let cut = cut.clamp(sent, bytes.len());
                client.send(&bytes[sent..cut]).await;
                sent = cut;
                tokio::task::yield_now().await;
            }
            client.send(&bytes[sent..]).await;
            assert_eq!(client.response().await.unwrap().content(), "first");
            assert_eq!(client.response().await.unwrap().content(), "second");
            client.0.shutdown().await.unwrap();
            client.rest().await;
        });
    }
}
