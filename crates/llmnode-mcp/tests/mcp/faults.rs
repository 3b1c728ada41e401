//! What a server on the network does instead of answering.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use llmnode_mcp::Mcp;
use llmnode_runtime::Category;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::broadcast;

use crate::http::{Answer, Http, listen};
use crate::{result, server};

/// A server that answers as it should, but for the method `when`.
async fn but(when: &'static str, status: &'static str, body: &'static str) -> Http {
    listen(move |head, sent| {
        if !head.starts_with("post") {
            return ("405 Method Not Allowed".to_owned(), String::new());
        }
        let message: Value = serde_json::from_slice(sent).unwrap();
        if message["method"] == when {
            return (status.to_owned(), body.to_owned());
        }
        plain(&message)
    })
    .await
}

fn plain(message: &Value) -> Answer {
    match server::answer("", message) {
        Some(answer) => ("200 OK".to_owned(), answer.to_string()),
        None => ("202 Accepted".to_owned(), String::new()),
    }
}

const PAGE: &str = "<!DOCTYPE html><html><body>Sign in</body></html>";

#[tokio::test]
async fn what_fails_has_its_category_and_words_without_types() {
    for (status, body, category, says) in [
        (
            "401 Unauthorized",
            "",
            Category::ApiKeyError,
            "HTTP 401 Unauthorized; give it a token with `bearer_env`",
        ),
        (
            "401 Unauthorized\r\nwww-authenticate: Bearer realm=\"x\"",
            r#"{"error": "invalid_token"}"#,
            Category::ApiKeyError,
            "HTTP 401 Unauthorized: invalid_token",
        ),
        (
            "403 Forbidden",
            "not you",
            Category::ApiKeyError,
            "HTTP 403 Forbidden: not you",
        ),
        (
            "403 Forbidden",
            r#"{"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "not you"}}"#,
            Category::ApiKeyError,
            "HTTP 403 Forbidden: not you",
        ),
        (
            "404 Not Found",
            "nothing here",
            Category::NotFound,
            "HTTP 404 Not Found: nothing here",
        ),
        (
            "429 Too Many Requests",
            "slow down",
            Category::RateLimitError,
            "HTTP 429 Too Many Requests: slow down",
        ),
        (
            "500 Internal Server Error",
            PAGE,
            Category::ServerError,
            "HTTP 500 Internal Server Error: a web page",
        ),
        (
            "502 Bad Gateway\r\ncontent-type: text/html",
            PAGE,
            Category::ServerError,
            "HTTP 502 Bad Gateway: a web page",
        ),
        (
            "200 OK\r\ncontent-type: text/html",
            PAGE,
            Category::BadResponse,
            "answered with a web page",
        ),
        (
            "200 OK",
            "{",
            Category::BadResponse,
            "something that is no message of MCP",
        ),
    ] {
        let http = listen(move |_, _| (status.to_owned(), body.to_owned())).await;
        let fault = Mcp::http(&http.url)
            .name("web")
            .connect()
            .await
            .unwrap_err();
        assert_eq!(fault.category(), category, "{status}: {fault}");
        assert!(
            fault.message().contains(says) && !fault.message().contains("rmcp"),
            "{status}: {fault}"
        );
        let listing = but("tools/list", status, body).await;
        let fault = Mcp::http(&listing.url).connect().await.unwrap_err();
        assert_eq!(fault.category(), category, "{status}: {fault}");
        let called = but("tools/call", status, body).await;
        let server = Mcp::http(&called.url).name("web").connect().await.unwrap();
        let told = result(&server, "web_none", json!({})).await;
        assert!(
            told.contains(says) && !told.contains("rmcp") && !told.contains("was lost"),
            "{status}: {told}"
        );
        let may_have_run = !status.starts_with('4');
        assert_eq!(
            told.contains("it may have been executed"),
            may_have_run,
            "{status}: {told}"
        );
        assert_eq!(
            told.contains("it was not executed"),
            !may_have_run,
            "{status}: {told}"
        );
    }
}

#[tokio::test]
async fn nobody_is_there() {
    let address = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let fault = Mcp::http(format!("http://{address}/mcp"))
        .connect()
        .await
        .unwrap_err();
    assert_eq!(fault.category(), Category::Network);
    assert!(
        fault.message().contains("cannot be reached") && !fault.message().contains("rmcp"),
        "{fault}"
    );
}

/// A server of the older protocol that was started again after its first call, so that it knows a new session alone. What it says
/// to the old one is `gone`.
async fn restarted(gone: &'static str, body: &'static str) -> Http {
    let calls = Arc::new(AtomicUsize::new(0));
    listen(move |head, sent| {
        if !head.starts_with("post") {
            return ("405 Method Not Allowed".to_owned(), String::new());
        }
        let message: Value = serde_json::from_slice(sent).unwrap();
        let session = if calls.load(Ordering::SeqCst) == 0 {
            "first"
        } else {
            "second"
        };
        let begins = ["initialize", "server/discover"]
            .iter()
            .any(|method| message["method"] == *method);
        if !begins && !head.contains(&format!("mcp-session-id: {session}")) {
            return (gone.to_owned(), body.to_owned());
        }
        if message["method"] == "tools/call" {
            calls.fetch_add(1, Ordering::SeqCst);
        }
        let (status, body) = plain(&message);
        let status = if message["method"] == "initialize" {
            format!("{status}\r\nmcp-session-id: {session}")
        } else {
            status
        };
        (status, body)
    })
    .await
}

#[tokio::test]
async fn a_session_that_is_gone_is_opened_anew_for_the_next_call() {
    const GONE: &str = r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}"#;
    for (status, body, says) in [
        (
            "400 Bad Request",
            GONE,
            "has ended the session, and it was not executed: Bad Request: No valid session",
        ),
        (
            "400 Bad Request\r\ncontent-type: text/plain",
            "unknown Session",
            "has ended the session, and it was not",
        ),
        (
            "404 Not Found",
            "",
            "has ended the session, and it was not executed",
        ),
        (
            "202 Accepted",
            "",
            "accepted the request without an answer, and it may have been executed",
        ),
    ] {
        let http = restarted(status, body).await;
        let server = Mcp::http(&http.url).name("web").connect().await.unwrap();
        assert_eq!(
            result(&server, "web_none", json!({})).await,
            "done",
            "{status}"
        );
        let told = result(&server, "web_none", json!({})).await;
        assert!(told.contains(says), "{status}: {told}");
        assert_eq!(
            result(&server, "web_none", json!({})).await,
            "done",
            "{status}"
        );
        let heads = http.heads.lock().unwrap().clone();
        let posts = heads.iter().filter(|head| head.starts_with("post")).count();
        // Twice: discover, initialize, initialized, and one call; once the list, and the call that was refused.
        assert!(posts <= 11, "{status}: {posts}");
    }
}

/// An error of the tool that speaks of a session is none of the transport's.
#[tokio::test]
async fn a_session_that_a_tool_speaks_of_is_its_own() {
    let body =
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no chat session 5"}}"#;
    let http = but("tools/call", "200 OK", body).await;
    let server = Mcp::http(&http.url).name("web").connect().await.unwrap();
    let told = result(&server, "web_none", json!({})).await;
    assert!(
        told.contains("no chat session 5") && !told.contains("ended"),
        "{told}"
    );
}

/// One that keeps a stream open may bring the answer there. It does not, and is connected anew after the time of the call.
#[tokio::test]
async fn an_answer_that_never_comes_costs_one_call_its_time() {
    let http = but("tools/call", "202 Accepted", "").await;
    let limit = Duration::from_secs(30);
    let server = Mcp::http(&http.url)
        .name("web")
        .call_timeout(limit)
        .connect()
        .await
        .unwrap();
    let told = tokio::time::timeout(limit / 2, result(&server, "web_none", json!({})))
        .await
        .unwrap();
    assert!(
        told.contains("accepted the request without an answer"),
        "{told}"
    );
}

/// What the connections of one server share.
#[derive(Clone)]
struct Streaming {
    sessions: Arc<AtomicUsize>,
    streams: Arc<AtomicUsize>,
    said: broadcast::Sender<String>,
    /// Whether answers come on the stream.
    brings: bool,
}

/// A server of the older protocol that accepts each call, and answers on a stream that is open, if at all.
async fn streaming(brings: bool) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let streams = Arc::new(AtomicUsize::new(0));
    let said = broadcast::channel(16).0;
    let shared = Streaming {
        sessions: Arc::default(),
        streams: Arc::clone(&streams),
        said,
        brings,
    };
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(one_request(stream, shared.clone()));
        }
    });
    (url, streams)
}

async fn one_request(mut stream: TcpStream, shared: Streaming) {
    let Streaming {
        sessions,
        streams,
        said,
        brings,
    } = shared;
    let mut received = Vec::new();
    let message = loop {
        if stream.read_buf(&mut received).await.unwrap_or(0) == 0 {
            return;
        }
        let text = String::from_utf8_lossy(&received);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        if head.starts_with("GET") {
            let answers = said.subscribe();
            streams.fetch_add(1, Ordering::SeqCst);
            return events(stream, answers).await;
        }
        if let Ok(message) = serde_json::from_str::<Value>(body) {
            break message;
        }
    };
    let (mut status, mut body) = plain(&message);
    if message["method"] == "initialize" {
        sessions.fetch_add(1, Ordering::SeqCst);
    }
    if message["method"] == "tools/call" {
        // The client has the stream before the answer is on it.
        while streams.load(Ordering::SeqCst) < sessions.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        if brings {
            said.send(body).unwrap();
        }
        status = "202 Accepted".to_owned();
        body = String::new();
    }
    let session = "content-type: application/json\r\nmcp-session-id: one\r\nconnection: close";
    let head = format!(
        "HTTP/1.1 {status}\r\n{session}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let _ = stream.write_all((head + &body).as_bytes()).await;
}

/// A stream that stays open for as long as the client reads it.
async fn events(mut stream: TcpStream, mut answers: broadcast::Receiver<String>) {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    let _ = stream.write_all(head.as_bytes()).await;
    while let Ok(answer) = answers.recv().await {
        if stream
            .write_all(format!("data: {answer}\n\n").as_bytes())
            .await
            .is_err()
        {
            return;
        }
    }
}

/// Waits until the server has a stream of this client's.
async fn listens(streams: &AtomicUsize, count: usize) {
    while streams.load(Ordering::SeqCst) < count {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    // The client counts the stream when it has read its head.
    tokio::time::sleep(Duration::from_millis(50)).await;
}

/// What a server accepts without an answer may be answered on a stream that is open.
#[tokio::test]
async fn an_accepted_call_is_answered_on_the_open_stream() {
    let (url, streams) = streaming(true).await;
    let server = Mcp::http(&url).name("web").connect().await.unwrap();
    listens(&streams, 1).await;
    for number in 1..=3 {
        let sum = result(&server, "web_add", json!({"a": number, "b": 1})).await;
        assert_eq!(sum, (number + 1).to_string());
    }
    assert_eq!(streams.load(Ordering::SeqCst), 1, "one session");
}

/// If it is not, the call ends with its own time, and the next one begins a new session.
#[tokio::test]
async fn an_accepted_call_that_no_stream_answers_costs_one_call_its_time() {
    let (url, streams) = streaming(false).await;
    let limit = Duration::from_millis(300);
    let server = Mcp::http(&url)
        .name("web")
        .call_timeout(limit)
        .connect()
        .await
        .unwrap();
    listens(&streams, 1).await;
    let told = result(&server, "web_none", json!({})).await;
    assert!(
        told.contains("no result within 300ms; it may have been executed"),
        "{told}"
    );
    // The next call opens a session, and with it a stream.
    let told = result(&server, "web_none", json!({})).await;
    assert!(told.contains("it may have been executed"), "{told}");
    listens(&streams, 2).await;
}

#[tokio::test]
async fn servers_of_every_protocol_are_connected_over_http() {
    for (mode, version) in [
        ("modern", "2026-07-28"),
        ("", "2025-11-25"),
        ("empty", "2025-11-25"),
    ] {
        let http = listen(move |head, sent| {
            if !head.starts_with("post") {
                return ("405 Method Not Allowed".to_owned(), String::new());
            }
            let message: Value = serde_json::from_slice(sent).unwrap();
            match server::answer(mode, &message) {
                Some(answer) => ("200 OK".to_owned(), answer.to_string()),
                None => ("202 Accepted".to_owned(), String::new()),
            }
        })
        .await;
        let server = Mcp::http(&http.url).name("web").connect().await.unwrap();
        assert!(
            format!("{server:?}").contains(&format!("protocol: \"{version}\"")),
            "{server:?}"
        );
        assert_eq!(
            result(&server, "web_add", json!({"a": 1, "b": 1})).await,
            "2",
            "{mode}"
        );
        let heads = http.heads.lock().unwrap().clone();
        let says = |head: &&String| {
            head.contains("mcp-method: tools/call") && head.contains("mcp-name: add")
        };
        assert_eq!(
            heads.iter().filter(says).count(),
            usize::from(mode == "modern"),
            "{heads:?}"
        );
    }
}
