//! A server with one graph, and a client by hand.

use std::path::PathBuf;
use std::time::Duration;

use llmnode_graph::Registry;
use llmnode_runtime::{BoxError, ScriptedModel, Toolset};
use llmnode_serve::{Serve, ServerHandle, serve};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// Only a test that hangs waits so long.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// A folder that goes with the test.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(test: &str) -> Self {
        let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("llmnode-serve-{test}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    pub(crate) fn write(&self, text: &str) -> PathBuf {
        let file = self.0.join("graph.json");
        std::fs::write(&file, text).unwrap();
        file
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// An agent with a tool, then one that waits for a person.
pub(crate) fn graph() -> Value {
    json!({
        "format": "llmnode/graph", "version": 1, "name": "support",
        "inputs": {"question": {"type": "string"}},
        "nodes": [
            {"id": "find", "type": "agent",
                "data": {"label": "Find <b>facts</b>", "prompt": "{{ question }}", "tools": ["pay"], "save_as": "facts"}},
            {"id": "write", "type": "agent",
                "data": {"prompt": "Write: {{ facts }}", "save_as": "answer", "require_approval": true}},
        ],
        "edges": [{"source": "find", "target": "write"}, {"source": "write", "target": "END"}],
    })
}

pub(crate) fn page(folder: &Folder) -> Serve {
    let pay = Toolset::new().function("pay", "Pays.", |amount: u32| async move {
        Ok::<_, BoxError>(format!("{amount} paid"))
    });
    let registry = Registry::new().tools(pay).build().unwrap();
    serve(registry).file(folder.write(&graph().to_string()))
}

pub(crate) async fn served(folder: &Folder, model: ScriptedModel) -> ServerHandle {
    page(folder).model(model).start().await.unwrap()
}

pub(crate) fn key(served: &ServerHandle) -> &str {
    served.url().split("#k=").nth(1).unwrap()
}

/// Status and body of the answer to a raw request.
pub(crate) async fn sent(served: &ServerHandle, request: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(served.address()).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let _ = tokio::time::timeout(LONG, stream.read_to_end(&mut answer))
        .await
        .unwrap();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok())
        .unwrap_or(0);
    (
        status,
        answer
            .split_once("\r\n\r\n")
            .map_or(String::new(), |(_, body)| body.to_owned()),
    )
}

/// `headers`: beside the host, each with its line break.
pub(crate) async fn get(served: &ServerHandle, path: &str, headers: &str) -> (u16, String) {
    let host = served.address();
    sent(
        served,
        &format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{headers}\r\n"),
    )
    .await
}

pub(crate) async fn post(served: &ServerHandle, path: &str, body: &Value) -> (u16, String) {
    let (host, key, body) = (served.address(), key(served), body.to_string());
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\nx-llmnode-key: {key}\r\n"
    );
    let head = format!(
        "{head}content-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    sent(served, &(head + &body)).await
}

/// What an open page is sent.
pub(crate) struct Events {
    stream: BufReader<TcpStream>,
    text: String,
}

impl Events {
    pub(crate) async fn open(served: &ServerHandle) -> Self {
        let mut stream = TcpStream::connect(served.address()).await.unwrap();
        let (host, key) = (served.address(), key(served));
        let request =
            format!("GET /api/events HTTP/1.1\r\nhost: {host}\r\nx-llmnode-key: {key}\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        Events {
            stream: BufReader::new(stream),
            text: String::new(),
        }
    }

    /// The first event from now on that `wanted` takes. Chunks of HTTP are lines of their own, which hold no event.
    pub(crate) async fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        let find = async {
            loop {
                while let Some(end) = self.text.find("\n\n") {
                    let event: String = self.text.drain(..end + 2).collect();
                    let data = event.lines().find_map(|line| line.strip_prefix("data: "));
                    let Some(event) = data.and_then(|data| serde_json::from_str(data).ok()) else {
                        continue;
                    };
                    if wanted(&event) {
                        return event;
                    }
                }
                let mut more = [0; 65_536];
                let read = self.stream.read(&mut more).await.unwrap();
                assert!(read > 0, "the server closed the events");
                self.text.push_str(&String::from_utf8_lossy(&more[..read]));
            }
        };
        tokio::time::timeout(LONG, find).await.unwrap()
    }

    /// Whether the server has closed them.
    pub(crate) async fn closed(&mut self) -> bool {
        let mut rest = Vec::new();
        tokio::time::timeout(LONG, self.stream.read_to_end(&mut rest))
            .await
            .is_ok()
    }

    /// The forms of what waits, if they have this part.
    pub(crate) async fn waiting(&mut self, part: &str) -> String {
        let forms = |event: &Value| {
            let entries = event["waiting"].as_array()?;
            Some(
                entries
                    .iter()
                    .filter_map(|entry| entry["html"].as_str())
                    .collect::<String>(),
            )
        };
        let is_it = |event: &Value| forms(event).is_some_and(|forms| forms.contains(part));
        forms(&self.until(is_it).await).unwrap()
    }

    pub(crate) async fn panel(&mut self, name: &str, part: &str) -> String {
        let is_it = |event: &Value| {
            event["panel"] == name
                && event["html"]
                    .as_str()
                    .is_some_and(|html| html.contains(part))
        };
        self.until(is_it).await["html"].as_str().unwrap().to_owned()
    }
}
