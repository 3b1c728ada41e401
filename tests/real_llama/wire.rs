//! A relay on loopback that records what passes, so that the server's own bytes can be compared with ours.

use std::sync::{Arc, Mutex};

use llmnode::stub_server::refusal;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The bytes of one connection, each way.
#[derive(Clone, Default)]
struct Connection {
    asked: Arc<Mutex<Vec<u8>>>,
    answered: Arc<Mutex<Vec<u8>>>,
}

/// A relay to a server.
pub(crate) struct Wire {
    base_url: String,
    connections: Arc<Mutex<Vec<Connection>>>,
}

/// A request and the response to it; bodies that are no JSON are `null`.
pub(crate) struct Exchange {
    pub(crate) status: u16,
    pub(crate) question: Value,
    pub(crate) answer: Value,
}

impl Exchange {
    /// What the model wrote.
    pub(crate) fn text(&self) -> &str {
        self.answer["choices"][0]["message"]["content"]
            .as_str()
            .unwrap_or_default()
    }

    /// What the model wrote, or called a function with.
    pub(crate) fn said(&self) -> String {
        let called = self
            .answer
            .pointer("/choices/0/message/tool_calls/0/function/arguments");
        called
            .and_then(Value::as_str)
            .unwrap_or(self.text())
            .to_owned()
    }

    pub(crate) fn messages(&self) -> &[Value] {
        self.question["messages"].as_array().unwrap()
    }
}

impl Wire {
    /// A relay to the server of a base URL such as `http://127.0.0.1:8080/v1`.
    pub(crate) async fn to(url: &str) -> Wire {
        let (server, path) = url
            .strip_prefix("http://")
            .unwrap()
            .split_once('/')
            .unwrap();
        let (server, listener) = (
            server.to_owned(),
            TcpListener::bind("127.0.0.1:0").await.unwrap(),
        );
        let base_url = format!("http://{}/{path}", listener.local_addr().unwrap());
        let connections: Arc<Mutex<Vec<Connection>>> = Arc::default();
        let written = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let connection = Connection::default();
                written.lock().unwrap().push(connection.clone());
                let server = TcpStream::connect(&server).await.unwrap();
                tokio::spawn(relay(client, server, connection));
            }
        });
        Wire {
            base_url,
            connections,
        }
    }

    pub(crate) fn base_url(&self) -> &str {
        &self.base_url
    }

    /// All requests that were answered, in the order of their connections.
    pub(crate) fn exchanges(&self) -> Vec<Exchange> {
        let connections = self.connections.lock().unwrap();
        connections.iter().flat_map(Connection::exchanges).collect()
    }
}

impl Connection {
    fn exchanges(&self) -> Vec<Exchange> {
        let (asked, answered) = (self.asked.lock().unwrap(), self.answered.lock().unwrap());
        let pairs = bodies(&asked).into_iter().zip(bodies(&answered));
        pairs
            .map(|((request_line, question), (status_line, answer))| {
                let path = request_line.split(' ').nth(1).unwrap();
                // This server takes more than providers do.
                assert_eq!(refusal(None, path, &question), None, "{question}");
                let status = status_line.split(' ').nth(1).unwrap().parse().unwrap();
                Exchange {
                    status,
                    question,
                    answer,
                }
            })
            .collect()
    }
}

/// The complete messages of a stream of HTTP/1.1: first line and body.
fn bodies(mut stream: &[u8]) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    while let Some(end) = stream.windows(4).position(|four| four == b"\r\n\r\n") {
        let head = String::from_utf8(stream[..end].to_vec()).unwrap();
        let lines = || head.lines().filter_map(|line| line.split_once(": "));
        let length = lines().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        let length: usize = length
            .unwrap_or_else(|| panic!("no length: {head}"))
            .1
            .parse()
            .unwrap();
        let Some(body) = stream[end + 4..].get(..length) else {
            break;
        };
        let first = head.lines().next().unwrap().to_owned();
        found.push((first, serde_json::from_slice(body).unwrap_or_default()));
        stream = &stream[end + 4 + length..];
    }
    found
}

async fn relay(client: TcpStream, server: TcpStream, connection: Connection) {
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    tokio::join!(
        pass(from_client, to_server, &connection.asked),
        pass(from_server, to_client, &connection.answered),
    );
}

/// Passes bytes on until either side closes, after writing them down.
async fn pass(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    book: &Mutex<Vec<u8>>,
) {
    let mut buffer = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = from.read(&mut buffer).await {
        book.lock().unwrap().extend_from_slice(&buffer[..length]);
        if to.write_all(&buffer[..length]).await.is_err() {
            break;
        }
    }
    let _ = to.shutdown().await;
}
