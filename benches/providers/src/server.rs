//! A server that gives answers in order, and keeps what it was asked.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

pub type Answer = (u16, Value);

pub struct Server {
    pub url: String,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Server {
    pub async fn start(answers: Vec<Answer>) -> Server {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked: Arc<Mutex<Vec<Value>>> = Arc::default();
        let kept = Arc::clone(&asked);
        let mut answers = answers.into_iter();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (mut read, mut piece) = (Vec::new(), [0; 4096]);
                let body = loop {
                    let count = stream.read(&mut piece).await.unwrap_or(0);
                    read.extend_from_slice(&piece[..count]);
                    let text = String::from_utf8_lossy(&read);
                    let body = text
                        .split_once("\r\n\r\n")
                        .and_then(|(_, body)| serde_json::from_str(body).ok());
                    if count == 0 || body.is_some() {
                        break body;
                    }
                };
                let Some(body) = body else { continue };
                kept.lock().unwrap().push(body);
                let (status, answer) = answers.next().unwrap_or((500, Value::Null));
                let answer = answer.to_string();
                let head = format!(
                    "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                    answer.len()
                );
                let _ = stream.write_all((head + &answer).as_bytes()).await;
            }
        });
        Server { url, asked }
    }

    pub fn asked(&self) -> Vec<Value> {
        self.asked.lock().unwrap().clone()
    }
}
