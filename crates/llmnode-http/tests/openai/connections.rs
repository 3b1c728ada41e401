//! Connections: kept, closed, and lost in every phase.

use std::sync::Arc;
use std::time::{Duration, Instant};

use llmnode_http::OpenAi;
use llmnode_runtime::{Category, ChatModel, Message, Request, Run, Sink, TokenUsage};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::support::{Greet, ask, builder, model, sends};

const ANSWER: &str = "HTTP/1.1 200 OK\r\ncontent-length: 46\r\n\r\n{\"choices\":[{\"message\":{\"content\":\"hello\"}}]}\n";
const REFUSAL: &str = "HTTP/1.1 500 Oops\r\ncontent-length: 2\r\n\r\n{}";

#[derive(Debug, PartialEq)]
enum Event {
    Opened,
    Request,
    Closed,
}

/// A server that answers the requests of each connection with these, one after another, and then closes it.
async fn scripted(
    listener: TcpListener,
    script: &'static [&'static str],
) -> UnboundedReceiver<Event> {
    let (tell, events) = unbounded_channel();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = tell.send(Event::Opened);
            let tell = tell.clone();
            tokio::spawn(async move {
                serve(stream, script, |event| drop(tell.send(event))).await;
            });
        }
    });
    events
}

async fn serve(mut stream: TcpStream, script: &[&str], tell: impl Fn(Event)) {
    let mut request = [0; 64 * 1024];
    for answer in script {
        if !matches!(stream.read(&mut request).await, Ok(1..)) {
            return tell(Event::Closed);
        }
        tell(Event::Request);
        stream.write_all(answer.as_bytes()).await.unwrap();
    }
}

async fn model_of(script: &'static [&'static str]) -> (OpenAi, UnboundedReceiver<Event>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    (model(&base_url), scripted(listener, script).await)
}

/// After this many, no event may come.
async fn events(from: &mut UnboundedReceiver<Event>, count: usize) -> Vec<Event> {
    let mut events = Vec::new();
    for _ in 0..count {
        events.push(from.recv().await.unwrap());
    }
    assert!(from.try_recv().is_err());
    events
}

#[tokio::test]
async fn a_connection_is_used_again_after_answers_and_refusals() {
    let (model, mut seen) = model_of(&[ANSWER, REFUSAL, ANSWER, REFUSAL, ANSWER]).await;
    for succeeds in [true, false, true, false] {
        assert_eq!(ask(&model).await.is_ok(), succeeds);
    }
    use Event::{Opened, Request};
    assert_eq!(
        events(&mut seen, 5).await,
        [Opened, Request, Request, Request, Request]
    );
}

/// The server has closed the connection that was kept, so that nothing of the request was sent there.
#[tokio::test]
async fn a_connection_that_the_server_has_closed_costs_nothing() {
    let (model, mut seen) = model_of(&[ANSWER]).await;
    for _ in 0..3 {
        assert_eq!(ask(&model).await.unwrap().text, "hello");
    }
    use Event::{Opened, Request};
    assert_eq!(
        events(&mut seen, 6).await,
        [Opened, Request, Opened, Request, Opened, Request]
    );
}

/// llama.cpp closes it behind each stream, though it promises to keep it.
#[tokio::test]
async fn a_connection_of_llama_cpp_is_not_used_again_after_a_stream() {
    const STREAM: &str = "HTTP/1.1 200 OK\r\nserver: llama.cpp\r\ncontent-type: text/event-stream\r\n\
        keep-alive: timeout=5, max=100\r\ncontent-length: 102\r\n\r\n\
        data: {\"choices\":[{\"delta\":{\"content\":\"hello\"},\"finish_reason\":\"stop\"}],\"usage\":null}\n\ndata: [DONE]\n\n\n";
    const LOST: &str = "";
    let (model, mut seen) = model_of(&[STREAM, LOST]).await;
    let run = Run::new(model);
    for _ in 0..2 {
        assert_eq!(run.call(&Greet).stream().finish().await.unwrap(), "hello");
    }
    use Event::{Closed, Opened, Request};
    let seen = [
        seen.recv().await,
        seen.recv().await,
        seen.recv().await,
        seen.recv().await,
        seen.recv().await,
    ];
    let seen: Vec<_> = seen
        .into_iter()
        .flatten()
        .filter(|event| *event != Closed)
        .collect();
    assert_eq!(seen[..4], [Opened, Request, Opened, Request]);
    assert_eq!(run.ledger().total().requests, 2);
}

/// Each of these comes after the request, so that it may have been processed: it is sent once.
#[tokio::test]
async fn what_was_sent_is_not_sent_again() {
    for broken in [
        "",
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 200 O",
        "HTTP/1.1 200 OK\r\ncontent-le",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n6\r\n{\"id",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    ] {
        let script: &'static [&'static str] = vec![ANSWER, broken].leak();
        let (model, mut seen) = model_of(script).await;
        assert_eq!(ask(&model).await.unwrap().text, "hello");
        let error = ask(&model).await.unwrap_err();
        assert_eq!(
            (error.category, error.reached),
            (Category::Network, true),
            "{broken:?}: {error}"
        );
        assert_eq!(
            events(&mut seen, 3).await,
            [Event::Opened, Event::Request, Event::Request],
            "{broken:?}"
        );
    }
}

#[tokio::test]
async fn a_head_of_1_mib_is_refused() {
    let head = format!(
        "HTTP/1.1 200 OK\r\nx-long: {}\r\ncontent-length: 2\r\n\r\n{{}}",
        "x".repeat(1 << 20)
    );
    let error = ask(&model(&sends(head).await)).await.unwrap_err();
    assert_eq!(error.category, Category::Network, "{error}");
}

#[tokio::test]
async fn a_connection_that_nobody_uses_is_closed() {
    let (model, mut seen) = model_of(&[ANSWER, ANSWER]).await;
    assert_eq!(ask(&model).await.unwrap().text, "hello");
    assert_eq!(events(&mut seen, 2).await, [Event::Opened, Event::Request]);
    tokio::time::pause();
    let start = tokio::time::Instant::now();
    assert_eq!(seen.recv().await.unwrap(), Event::Closed);
    let kept = start.elapsed();
    assert!(
        (Duration::from_secs(80)..Duration::from_secs(200)).contains(&kept),
        "{kept:?}"
    );
}

#[tokio::test]
async fn ipv6_is_spoken() {
    let Ok(listener) = TcpListener::bind("[::1]:0").await else {
        return;
    };
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    let mut seen = scripted(listener, &[ANSWER]).await;
    assert_eq!(ask(&model(&base_url)).await.unwrap().text, "hello");
    assert_eq!(events(&mut seen, 2).await, [Event::Opened, Event::Request]);
}

/// The name has two addresses, and the first one answers no connection.
#[tokio::test]
async fn a_dead_address_delays_the_next_one_by_less_than_a_second() {
    let Ok(listener) = TcpListener::bind("[::1]:0").await else {
        return;
    };
    let port = listener.local_addr().unwrap().port();
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    if socket.bind(([127, 0, 0, 1], port).into()).is_err() {
        return;
    }
    let dead = socket.local_addr().unwrap();
    let _dead = socket.listen(1).unwrap();
    // So many that nobody accepts that the system answers no more.
    let mut crowd = Vec::new();
    while let Ok(stream) = std::net::TcpStream::connect_timeout(&dead, Duration::from_millis(100)) {
        crowd.push(stream);
    }
    let mut seen = scripted(listener, &[ANSWER]).await;
    let start = Instant::now();
    assert_eq!(
        ask(&builder(&format!("http://localhost:{port}/v1"))
            .build()
            .unwrap())
        .await
        .unwrap()
        .text,
        "hello"
    );
    assert!(
        start.elapsed() < Duration::from_secs(1),
        "{:?}",
        start.elapsed()
    );
    assert_eq!(events(&mut seen, 2).await, [Event::Opened, Event::Request]);
}

/// Whether it listens to a stream.
struct Streaming(bool);

impl Sink for Streaming {
    fn listens(&self) -> bool {
        self.0
    }

    fn request_id(&mut self, _: &str) {}

    fn usage(&mut self, _: TokenUsage) {}
}

/// The number that the request asks for.
fn number_in(request: &[u8]) -> usize {
    let text = String::from_utf8_lossy(request);
    let (_, behind) = text.rsplit_once("number ").unwrap();
    behind.split_once('.').unwrap().0.parse().unwrap()
}

/// An answer of this length or more, whole, in chunks, or as a stream.
fn answering(number: impl std::fmt::Display, way: usize, length: usize) -> String {
    let padding = " ".repeat(length);
    let whole = format!("{{\"choices\":[{{\"message\":{{\"content\":\"{number}\"}}}}]{padding}}}");
    let event =
        format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{number}\"}}}}]{padding}}}\n\n");
    let events = format!("{event}data: [DONE]\n\n");
    match way {
        0 => format!(
            "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{whole}",
            whole.len()
        ),
        1 => format!(
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{whole}\r\n0\r\n\r\n",
            whole.len()
        ),
        _ => format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n{:x}\r\n{events}\r\n0\r\n\r\n",
            events.len()
        ),
    }
}

/// A server that writes one answer too many behind each, in one write.
async fn generous(listener: TcpListener, way: usize, length: usize) {
    while let Ok((mut stream, _)) = listener.accept().await {
        tokio::spawn(async move {
            let mut read = Vec::new();
            let mut piece = [0; 4096];
            while let Ok(count @ 1..) = stream.read(&mut piece).await {
                read.extend_from_slice(&piece[..count]);
                if !read.ends_with(b"}") {
                    continue;
                }
                let number = number_in(&std::mem::take(&mut read));
                let both = answering(number, way, length) + &answering("of another call", way, 0);
                if stream.write_all(both.as_bytes()).await.is_err() {
                    return;
                }
            }
        });
    }
}

/// How many answers were another call's.
async fn wrong_answers(way: usize, length: usize, calls: usize) -> usize {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(generous(listener, way, length));
    let model = Arc::new(model(&base_url));
    let mut callers = tokio::task::JoinSet::new();
    for caller in 0..4 {
        let model = Arc::clone(&model);
        callers.spawn(async move {
            let mut wrong = 0;
            for at in 0..calls / 4 {
                let number = caller * calls + at;
                let request = Request::new(vec![Message::user(format!("number {number}."))]);
                let answer = model.complete(&request, &mut Streaming(way == 2)).await;
                // A connection that was found to be out of step may fail, but answers nobody.
                wrong += usize::from(answer.is_ok_and(|answer| answer.text != number.to_string()));
            }
            wrong
        });
    }
    let mut wrong = 0;
    while let Some(of_caller) = callers.join_next().await {
        wrong += of_caller.unwrap();
    }
    wrong
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_too_many_in_the_same_write_is_never_the_next_calls() {
    let calls = std::env::var("SURPLUS_ANSWERS")
        .ok()
        .and_then(|number| number.parse().ok())
        .unwrap_or(200);
    for way in 0..3 {
        for length in [0, 8 << 10, 100 << 10] {
            assert_eq!(wrong_answers(way, length, calls).await, 0, "{way} {length}");
        }
    }
}
