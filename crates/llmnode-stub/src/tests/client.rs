//! A client that knows no more of HTTP than the tests need, so that it hides nothing the server does.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A response as read off the wire.
#[derive(Debug)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

impl Response {
    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(super) fn content(&self) -> String {
        self.json()["choices"][0]["message"]["content"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (n, value) = line.split_once(": ")?;
            n.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

pub(super) struct Client(pub(super) TcpStream);

impl Client {
    pub(super) async fn connect(address: SocketAddr) -> Self {
        Self(TcpStream::connect(address).await.unwrap())
    }

    pub(super) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.write_all(bytes.as_ref()).await.unwrap();
    }

    /// The next response with its body by content-length; `None` if the connection ends before.
    pub(super) async fn response(&mut self) -> Option<Response> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(self.0.read_u8().await.ok()?);
        }
        let head = String::from_utf8(head).unwrap();
        let status = head.strip_prefix("HTTP/1.1 ").unwrap()[..3]
            .parse()
            .unwrap();
        let mut response = Response {
            status,
            head,
            body: Vec::new(),
        };
        let length = response
            .header("content-length")
            .map_or(0, |n| n.parse().unwrap());
        response.body = vec![0; length];
        self.0.read_exact(&mut response.body).await.ok()?;
        Some(response)
    }

    /// Everything up to the end of the connection, and whether that was a proper end.
    pub(super) async fn rest(&mut self) -> (Vec<u8>, bool) {
        let mut rest = Vec::new();
        let ended = self.0.read_to_end(&mut rest).await.is_ok();
        (rest, ended)
    }
}

/// The bytes of a POST of `body` to the chat completions.
pub(super) fn post(body: &Value) -> String {
    let body = body.to_string();
    let head =
        "POST /v1/chat/completions HTTP/1.1\r\nHost: stub\r\nAuthorization: Bearer sk-secret\r\n";
    format!("{head}Content-Length: {}\r\n\r\n{body}", body.len())
}

/// A request of one message.
pub(super) fn chat(text: &str) -> Value {
    json!({"model": "m", "messages": [{"role": "user", "content": text}]})
}

/// One request on a connection of its own.
pub(super) async fn ask(address: SocketAddr, body: &Value) -> Option<Response> {
    let mut client = Client::connect(address).await;
    client.send(post(body)).await;
    client.response().await
}
