//! A server that gives recorded answers, in order, and keeps what it was asked. A request that every server of its API would
//! refuse, and this one answers, fails the test with the name of the rule.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Status, content type and body.
pub(crate) type Answer = (u16, &'static str, String);

pub(crate) fn json(body: impl ToString) -> Answer {
    (200, "application/json", body.to_string())
}

pub(crate) fn events(body: impl ToString) -> Answer {
    (200, "text/event-stream", body.to_string())
}

pub(crate) fn refusal(status: u16, kind: &str, message: &str) -> Answer {
    let error = serde_json::json!({"type": "error", "error": {"type": kind, "message": message}});
    (status, "application/json", error.to_string())
}

/// A request: its head, and its body as JSON.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) head: String,
    pub(crate) body: serde_json::Value,
}

impl Asked {
    /// Why a server of the API would refuse it, if one would.
    fn refusal(&self) -> Option<String> {
        let path = self.head.split(' ').nth(1).unwrap_or_default();
        llmnode::stub_server::refusal(None, path, &self.body).map(|refusal| refusal.to_string())
    }
}

pub(crate) struct Recorded {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    /// What was answered although every server of the API would refuse it.
    refused: Arc<Mutex<Vec<String>>>,
}

impl Drop for Recorded {
    fn drop(&mut self) {
        let refused = self.refused.lock().unwrap();
        assert!(
            refused.is_empty() || std::thread::panicking(),
            "{}",
            refused.join("\n")
        );
    }
}

impl Recorded {
    pub(crate) async fn start(answers: impl IntoIterator<Item = Answer>) -> Recorded {
        let mut answers = answers.into_iter().collect::<Vec<_>>().into_iter();
        Recorded::answering(move |_| {
            answers
                .next()
                .unwrap_or((500, "text/plain", "no answer left".into()))
        })
        .await
    }

    /// A server whose answer depends on the request.
    pub(crate) async fn answering(
        mut answer: impl FnMut(&Asked) -> Answer + Send + 'static,
    ) -> Recorded {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&asked);
        let refused = Arc::new(Mutex::new(Vec::new()));
        let wrong = Arc::clone(&refused);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut read = Vec::new();
                let request = loop {
                    let mut piece = [0; 4096];
                    let count = stream.read(&mut piece).await.unwrap_or(0);
                    read.extend_from_slice(&piece[..count]);
                    let text = String::from_utf8_lossy(&read).into_owned();
                    let Some((head, body)) = text.split_once("\r\n\r\n") else {
                        assert!(count > 0, "no request: {text}");
                        continue;
                    };
                    if let Ok(body) = serde_json::from_str(body) {
                        break Asked {
                            head: head.to_owned(),
                            body,
                        };
                    }
                    assert!(count > 0, "not JSON: {body}");
                };
                let (status, kind, body) = answer(&request);
                wrong
                    .lock()
                    .unwrap()
                    .extend(request.refusal().filter(|_| status < 300));
                kept.lock().unwrap().push(request);
                let head = format!(
                    "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                    body.len()
                );
                let _ = stream.write_all((head + &body).as_bytes()).await;
            }
        });
        Recorded {
            url,
            asked,
            refused,
        }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    pub(crate) fn bodies(&self) -> Vec<serde_json::Value> {
        self.asked().into_iter().map(|asked| asked.body).collect()
    }
}
