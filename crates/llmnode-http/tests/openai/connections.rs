//! Connections: kept, closed, and lost in every phase.

use std::time::{Duration, Instant};

use llmnode_http::OpenAi;
use llmnode_runtime::{Category, Run};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use crate::support::{Greet, ask, builder, model, sends};

const ANSWER: &str =
    "HTTP/1.1 200 OK\r\ncontent-length: 46\r\n\r\n{\"choices\":[{\"message\":{\"content\":\"hello\"}}]}\n";
const REFUSAL: &str = "HTTP/1.1 500 Oops\r\ncontent-length: 2\r\n\r\n{}";

#[derive(Debug, PartialEq)]
enum Event {
    Opened,
    Request,
    Closed,
}

/// A server that answers the requests of each connection with these, one after another, and then closes it.
async fn scripted(listener: TcpListener, script: &'static [&'static str]) -> UnboundedReceiver<Event> {
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
    assert_eq!(events(&mut seen, 5).await, [Opened, Request, Request, Request, Request]);
}

/// The server has closed the connection that was kept, so that nothing of the request was sent there.
#[tokio::test]
async fn a_connection_that_the_server_has_closed_costs_nothing() {
    let (model, mut seen) = model_of(&[ANSWER]).await;
    for _ in 0..3 {
        assert_eq!(ask(&model).await.unwrap().text, "hello");
    }
    use Event::{Opened, Request};
    assert_eq!(events(&mut seen, 6).await, [Opened, Request, Opened, Request, Opened, Request]);
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
    let seen =
        [seen.recv().await, seen.recv().await, seen.recv().await, seen.recv().await, seen.recv().await];
    let seen: Vec<_> = seen.into_iter().flatten().filter(|event| *event != Closed).collect();
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
        assert_eq!((error.category, error.reached), (Category::Network, true), "{broken:?}: {error}");
        assert_eq!(events(&mut seen, 3).await, [Event::Opened, Event::Request, Event::Request], "{broken:?}");
    }
}

#[tokio::test]
async fn a_head_of_1_mib_is_refused() {
    let head = format!("HTTP/1.1 200 OK\r\nx-long: {}\r\ncontent-length: 2\r\n\r\n{{}}", "x".repeat(1 << 20));
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
    assert!((Duration::from_secs(80)..Duration::from_secs(200)).contains(&kept), "{kept:?}");
}

#[tokio::test]
async fn ipv6_is_spoken() {
    let Ok(listener) = TcpListener::bind("[::1]:0").await else { return };
    let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
    let mut seen = scripted(listener, &[ANSWER]).await;
    assert_eq!(ask(&model(&base_url)).await.unwrap().text, "hello");
    assert_eq!(events(&mut seen, 2).await, [Event::Opened, Event::Request]);
}

/// The name has two addresses, and the first one answers no connection.
#[tokio::test]
async fn a_dead_address_delays_the_next_one_by_less_than_a_second() {
    let Ok(listener) = TcpListener::bind("[::1]:0").await else { return };
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
        ask(&builder(&format!("http://localhost:{port}/v1")).build().unwrap()).await.unwrap().text,
        "hello"
    );
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    assert_eq!(events(&mut seen, 2).await, [Event::Opened, Event::Request]);
}
