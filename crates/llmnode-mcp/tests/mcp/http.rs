//! Servers over HTTP.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use llmnode_mcp::{Mcp, McpServer};
use llmnode_runtime::Category;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::{result, server};

/// A server with the heads of all requests.
pub(crate) struct Http {
    pub(crate) url: String,
    pub(crate) heads: Arc<Mutex<Vec<String>>>,
}

/// The status line with further headers, and the body.
pub(crate) type Answer = (String, String);

async fn http(mode: &'static str) -> Http {
    listen(move |head, body| {
        let (status, body) = respond(head, body, mode);
        (status.to_owned(), body)
    })
    .await
}

/// A server that answers a head in small letters and a body.
pub(crate) async fn listen(
    respond: impl Fn(&str, &[u8]) -> Answer + Send + Sync + 'static,
) -> Http {
    let respond = Arc::new(respond);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let heads: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&heads);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream, Arc::clone(&respond), Arc::clone(&seen)));
        }
    });
    Http { url, heads }
}

/// Answers the requests of a connection, one after another.
async fn serve<R>(mut stream: TcpStream, respond: Arc<R>, heads: Arc<Mutex<Vec<String>>>)
where
    R: Fn(&str, &[u8]) -> Answer,
{
    let mut received = Vec::new();
    loop {
        let Some(end) = received.windows(4).position(|four| four == b"\r\n\r\n") else {
            match stream.read_buf(&mut received).await {
                Ok(1..) => continue,
                _ => return,
            }
        };
        let head = String::from_utf8(received[..end].to_vec())
            .unwrap()
            .to_lowercase();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        let length: usize = length.map_or(0, |length| length.parse().unwrap());
        while received.len() < end + 4 + length {
            if stream.read_buf(&mut received).await.unwrap_or(0) == 0 {
                return;
            }
        }
        let body = received[end + 4..end + 4 + length].to_vec();
        received.drain(..end + 4 + length);
        let (status, body) = respond(&head, &body);
        heads.lock().unwrap().push(head);
        let kind = if status.contains("content-type") {
            ""
        } else {
            "content-type: application/json\r\n"
        };
        let head = format!(
            "HTTP/1.1 {status}\r\n{kind}content-length: {}\r\n\r\n",
            body.len()
        );
        stream
            .write_all(format!("{head}{body}").as_bytes())
            .await
            .unwrap();
    }
}

/// A message may have as many bytes.
const LIMIT: usize = 16 << 20;
const EVENTS: &str = "200 OK\r\ncontent-type: text/event-stream";

fn respond(head: &str, body: &[u8], mode: &str) -> (&'static str, String) {
    if mode == "moved" {
        return (
            "307 Temporary Redirect\r\nlocation: http://127.0.0.1:9/other",
            String::new(),
        );
    }
    if mode == "unauthorised" {
        return ("403 Forbidden", "no access for token-1234567890".to_owned());
    }
    if mode == "unauthorised at length" {
        let words = format!("{} token-1234567890", "x".repeat(285));
        return ("403 Forbidden", words);
    }
    if !head.starts_with("post") {
        return ("405 Method Not Allowed", String::new());
    }
    let message: Value = serde_json::from_slice(body).unwrap();
    if mode == "expires" && message["method"] == "tools/call" {
        return ("404 Not Found", String::new());
    }
    let is_call = message["method"] == "tools/call";
    if mode == "older" && message["method"] == "server/discover" {
        return (
            "400 Bad Request\r\ncontent-type: text/plain",
            "what is that?".to_owned(),
        );
    }
    let Some(answer) = server::answer(mode, &message) else {
        return ("202 Accepted", String::new());
    };
    match mode {
        "huge" if is_call => ("200 OK", format!("{answer}{}", " ".repeat(LIMIT))),
        "huge refusal" if is_call => ("400 Bad Request", format!("{answer}{}", " ".repeat(LIMIT))),
        "huge page" if is_call => (
            "502 Bad Gateway\r\ncontent-type: text/html",
            "x".repeat(LIMIT),
        ),
        "events" => (EVENTS, format!(": hello\n\ndata: {answer}\n\n")),
        "huge event" if is_call => (EVENTS, format!("data: {answer}{}\n\n", " ".repeat(LIMIT))),
        "half an event" if is_call => (EVENTS, "data: {\"jsonrpc\"".to_owned()),
        _ => ("200 OK", answer.to_string()),
    }
}

/// A variable that every process has; its value is not what matters, unless a test sets it for itself.
const TOKEN: &str = "LLMNODE_MCP_TOKEN";

/// Runs this test again in a process that has the token.
fn with_token(test: &str) -> bool {
    if std::env::var(TOKEN).is_ok() {
        return true;
    }
    let mut again = std::process::Command::new(std::env::current_exe().unwrap());
    let output = again
        .args([test, "--exact"])
        .env(TOKEN, "token-1234567890")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
    false
}

#[tokio::test]
async fn tools_over_http() {
    let http = http("").await;
    let server = Mcp::http(&http.url).name("web").connect().await.unwrap();
    assert_eq!(
        result(&server, "web_add", json!({"a": 2, "b": 40})).await,
        "42"
    );
    assert!(
        result(&server, "web_fail", json!({}))
            .await
            .contains("the disk is full")
    );
    assert_eq!(
        http.heads
            .lock()
            .unwrap()
            .iter()
            .filter(|head| head.contains("authorization"))
            .count(),
        0
    );
}

async fn with_the_token(mode: &'static str) -> McpServer {
    let mcp = Mcp::http(http(mode).await.url).name("web");
    mcp.bearer_env(TOKEN).connect().await.unwrap()
}

#[tokio::test]
async fn a_token_goes_along_and_comes_back_nowhere() {
    if !with_token("http::a_token_goes_along_and_comes_back_nowhere") {
        return;
    }
    let http_ = http("echoes").await;
    let server = Mcp::http(&http_.url)
        .name("web")
        .bearer_env(TOKEN)
        .connect()
        .await
        .unwrap();
    assert_eq!(result(&server, "web_none", json!({})).await, "[redacted]");
    let refused = result(&server, "web_refuse", json!({})).await;
    assert!(refused.contains("no  such thing, [redacted]"), "{refused}");
    let heads = http_.heads.lock().unwrap().clone();
    assert!(
        heads
            .iter()
            .all(|head| head.contains("authorization: bearer token-1234567890")),
        "{heads:?}"
    );
    for mode in ["unauthorised", "unauthorised at length"] {
        let mcp = Mcp::http(http(mode).await.url).bearer_env(TOKEN);
        let fault = mcp.connect().await.unwrap_err();
        let shown = format!("{fault} {fault:?}");
        assert!(!shown.contains("token-12"), "{shown}");
    }
    let server = with_the_token("echoes in base64").await;
    assert_eq!(
        result(&server, "web_none", json!({})).await,
        "Basic dTp[redacted]"
    );
    let server = with_the_token("pages that echo").await;
    let why = &server.left_out()["tools/list"];
    assert!(why.contains("no page for [redacted]"), "{why}");
}

#[tokio::test]
async fn a_key_in_the_url_comes_back_nowhere() {
    for mode in ["unauthorised", "unauthorised at length"] {
        let url = format!("{}?api_key=token-1234567890", http(mode).await.url);
        let fault = Mcp::http(url).connect().await.unwrap_err();
        let shown = format!("{fault} {fault:?}");
        assert!(!shown.contains("token-12"), "{shown}");
    }
    let url = format!("{}?api_key=token-1234567890", http("echoes").await.url);
    let server = Mcp::http(url).name("web").connect().await.unwrap();
    assert_eq!(result(&server, "web_none", json!({})).await, "[redacted]");
    let refused = result(&server, "web_refuse", json!({})).await;
    assert!(refused.contains("no  such thing, [redacted]"), "{refused}");
}

#[tokio::test]
async fn a_token_is_not_sent_in_clear_over_the_network() {
    if !with_token("http::a_token_is_not_sent_in_clear_over_the_network") {
        return;
    }
    let fault = Mcp::http("http://mcp.example/mcp")
        .bearer_env(TOKEN)
        .connect()
        .await
        .unwrap_err();
    assert_eq!(fault.category(), Category::ConfigError);
    assert!(fault.message().contains("by https only"), "{fault}");
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let fault = Mcp::http(http("moved").await.url)
        .connect()
        .await
        .unwrap_err();
    assert_eq!(fault.category(), Category::BadResponse);
    assert!(fault.message().contains("HTTP 307"), "{fault}");
}

#[tokio::test]
async fn a_session_that_ended_does_not_repeat_the_call() {
    let http = http("expires").await;
    let server = Mcp::http(&http.url).name("web").connect().await.unwrap();
    let before = http.heads.lock().unwrap().len();
    let told = result(&server, "web_none", json!({})).await;
    assert!(
        told.contains("refused the request, and it was not executed: HTTP 404"),
        "{told}"
    );
    assert!(http.heads.lock().unwrap().len() <= before + 1);
}

#[tokio::test]
async fn answers_may_be_events_and_servers_older() {
    for mode in ["events", "older"] {
        let server = Mcp::http(http(mode).await.url)
            .name("web")
            .connect()
            .await
            .unwrap();
        assert_eq!(
            result(&server, "web_add", json!({"a": 2, "b": 40})).await,
            "42",
            "{mode}"
        );
    }
}

#[tokio::test]
async fn what_is_too_long_is_not_read_to_its_end() {
    for (mode, why) in [
        (
            "huge",
            "it may have been executed: more than 16777216 bytes",
        ),
        ("huge refusal", "it was not executed: HTTP 400 Bad Request"),
        (
            "huge page",
            "it may have been executed: HTTP 502 Bad Gateway: a web page",
        ),
        ("huge event", "was lost"),
        ("half an event", "was lost"),
    ] {
        let server = Mcp::http(http(mode).await.url)
            .name("web")
            .connect()
            .await
            .unwrap();
        let told = result(&server, "web_none", json!({})).await;
        assert!(
            told.contains(why) && told.len() < 1000,
            "{mode}: {told:.2000}"
        );
    }
}

/// The transport has a task of its own, which must not keep the connection.
#[tokio::test]
async fn a_server_that_never_answers_is_left() {
    for (is_dropped, begins) in [
        (false, ""),
        (true, ""),
        (
            false,
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{",
        ),
        (
            false,
            "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{",
        ),
        (
            false,
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n: hello\n\n",
        ),
        (
            true,
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n",
        ),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Mcp::http(format!("http://{}/mcp", listener.local_addr().unwrap()));
        let open = Arc::new(AtomicUsize::new(0));
        let seen = Arc::new(AtomicUsize::new(0));
        let counts = (Arc::clone(&open), Arc::clone(&seen));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counts.0.fetch_add(1, Ordering::SeqCst);
                counts.1.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(never_ends(stream, begins, Arc::clone(&counts.0)));
            }
        });
        let (limit, enough) = (Duration::from_millis(300), Duration::from_secs(30));
        if is_dropped {
            assert!(tokio::time::timeout(limit, server.connect()).await.is_err());
        } else {
            let fault = server.connect_timeout(limit).connect().await.unwrap_err();
            assert_eq!(fault.category(), Category::Timeout, "{begins}");
        }
        let closed = async {
            while open.load(Ordering::SeqCst) > 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(enough, closed).await.expect("closed");
        assert!(seen.load(Ordering::SeqCst) > 0);
    }
}

/// Begins an answer, and waits until the client goes.
async fn never_ends(mut stream: TcpStream, begins: &str, open: Arc<AtomicUsize>) {
    if stream.read(&mut [0; 1024]).await.is_ok_and(|read| read > 0) {
        let _ = stream.write_all(begins.as_bytes()).await;
    }
    while stream.read(&mut [0; 1024]).await.is_ok_and(|read| read > 0) {}
    open.fetch_sub(1, Ordering::SeqCst);
}

#[tokio::test]
async fn urls_and_variables_that_are_none_are_named() {
    let fault = async |mcp: Mcp| mcp.connect().await.unwrap_err().to_string();
    assert!(
        fault(Mcp::http("mcp.example"))
            .await
            .contains("cannot be read")
    );
    assert!(
        fault(Mcp::http("ftp://mcp.example"))
            .await
            .contains("neither http nor https")
    );
    let said = fault(Mcp::http("https://me:secret-word@mcp.example/")).await;
    assert!(
        said.contains("contains a user or a password") && !said.contains("secret-word"),
        "{said}"
    );
    let said = fault(Mcp::http("http://mcp.example/mcp?api_key=secret-word")).await;
    assert!(
        said.contains("by https only") && !said.contains("secret-word"),
        "{said}"
    );
    let said = fault(Mcp::http("https://mcp.example").bearer_env("LLMNODE_NO_SUCH_TOKEN")).await;
    assert!(said.contains("LLMNODE_NO_SUCH_TOKEN is not set"), "{said}");
    let said = fault(Mcp::http("https://mcp.example").env("A", "b")).await;
    assert!(said.contains("`env` is for a program"), "{said}");
}
