//! The server of the benchmarks: over loopback, it answers every request at once, or after a delay, with an answer
//! that was made before. The path chooses which: `/good`, `/bad-then-good` or `/long-bad`.
//!
//! It looks into nothing but the head of a request, so that it never is what holds a client up; and it lets ten
//! thousand connections wait, which llmnode's `StubServer` need not. `GET` tells the bytes received so far.
//!
//! Usage: `server DELAY_MS`; it prints its address.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use llmnode_benches::task::{BAD, GOOD, long_bad};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

static RECEIVED: AtomicU64 = AtomicU64::new(0);

struct Answers {
    good: String,
    bad: String,
    long_bad: String,
    delay: Duration,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let delay = std::env::args()
        .nth(1)
        .and_then(|delay| delay.parse().ok())
        .unwrap_or(0);
    let answers = Answers {
        good: chat(GOOD),
        bad: chat(BAD),
        long_bad: chat(&long_bad()),
        delay: Duration::from_millis(delay),
    };
    let answers: &'static Answers = Box::leak(Box::new(answers));
    let socket = TcpSocket::new_v4()?;
    socket.bind(([127, 0, 0, 1], 0).into())?;
    let listener = socket.listen(16_384)?;
    println!("{}", listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        // A client that goes away ends its connection, and nothing else.
        tokio::spawn(async move { serve(stream, answers).await.ok() });
    }
}

async fn serve(mut stream: TcpStream, answers: &Answers) -> std::io::Result<()> {
    let mut buffer = Vec::with_capacity(8192);
    loop {
        let head = loop {
            if let Some(end) = buffer.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                break end + 4;
            }
            if stream.read_buf(&mut buffer).await? == 0 {
                return Ok(());
            }
        };
        let request = head + content_length(&buffer[..head]);
        while buffer.len() < request {
            if stream.read_buf(&mut buffer).await? == 0 {
                return Ok(());
            }
        }
        if buffer.starts_with(b"GET ") {
            let received = RECEIVED.load(Ordering::Relaxed);
            stream
                .write_all(response(&received.to_string()).as_bytes())
                .await?;
        } else {
            RECEIVED.fetch_add(request as u64, Ordering::Relaxed);
            if answers.delay > Duration::ZERO {
                tokio::time::sleep(answers.delay).await;
            }
            stream
                .write_all(answers.to(&buffer[..request]).as_bytes())
                .await?;
        }
        buffer.drain(..request);
    }
}

fn content_length(head: &[u8]) -> usize {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    head.lines()
        .find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok())
        .unwrap_or(0)
}

impl Answers {
    fn to(&self, request: &[u8]) -> &str {
        if request.starts_with(b"POST /long-bad/") {
            &self.long_bad
        } else if request.starts_with(b"POST /bad-then-good/")
            && !contains(request, br#""role":"assistant""#)
        {
            &self.bad
        } else {
            &self.good
        }
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|bytes| bytes == part)
}

/// A completion as OpenAI sends it.
fn chat(answer: &str) -> String {
    let none = serde_json::Value::Null;
    let body = serde_json::json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1_700_000_000,
        "model": "gpt-5.6-luna-2026-07-18", "service_tier": "default", "system_fingerprint": "fp_1",
        "choices": [{
            "index": 0, "logprobs": none, "finish_reason": "stop",
            "message": {"role": "assistant", "content": answer, "refusal": none, "annotations": []},
        }],
        "usage": {
            "prompt_tokens": 120, "completion_tokens": 25, "total_tokens": 145,
            "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0,
                "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0},
        },
    });
    response(&body.to_string())
}

fn response(body: &str) -> String {
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nx-request-id: req_0123456789abcdef";
    format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}
