//! The server, whose model's name says which fault it has.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use llmnode::StubServer;
use llmnode::stub_server::StubReply;
use serde_json::{Value, json};

/// A response bills so many tokens.
const BILLED: u64 = 100;

pub const FAULTS: [&str; 12] = [
    "a tool that does not exist",
    "arguments that are no JSON",
    "arguments of wrong types",
    "a tool that fails",
    "a tool that panics",
    "a tool that hangs",
    "two calls with one id",
    "the length limit within a call",
    "40 calls in one response",
    "text beside a call",
    "an endpoint that refuses tools",
    "a 429 in the third turn",
];

pub struct Server {
    pub url: String,
    /// The number of requests and of tokens that were billed, by model.
    seen: Arc<Mutex<HashMap<String, (u64, u64)>>>,
    _server: StubServer,
}

impl Server {
    pub fn seen(&self, model: &str) -> (u64, u64) {
        self.seen
            .lock()
            .unwrap()
            .get(model)
            .copied()
            .unwrap_or_default()
    }
}

pub async fn serve() -> Server {
    let seen: Arc<Mutex<HashMap<String, (u64, u64)>>> = Arc::default();
    let noted = Arc::clone(&seen);
    let reply = StubReply::for_request(move |request| {
        let body = request.json().cloned().unwrap_or_default();
        let model = body["model"].as_str().unwrap_or_default().to_owned();
        let fault = model
            .rsplit('-')
            .next()
            .and_then(|at| at.parse().ok())
            .unwrap_or(0);
        let mut seen = noted.lock().unwrap();
        let (requests, billed) = seen.entry(model).or_default();
        let (status, body) = response(fault, *requests, &body);
        *requests += 1;
        *billed += if status == 200 { BILLED } else { 0 };
        StubReply::raw(status, body.to_string())
    });
    let server = StubServer::builder()
        .default_reply(reply)
        .start()
        .await
        .unwrap();
    Server {
        url: server.base_url(),
        seen,
        _server: server,
    }
}

fn call(id: &str, name: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
}

fn completion(message: Value, finish: &str) -> (u16, Value) {
    let usage =
        json!({"prompt_tokens": BILLED - 20, "completion_tokens": 20, "total_tokens": BILLED});
    let choice = json!({"index": 0, "message": message, "logprobs": null, "finish_reason": finish});
    let id = "chatcmpl-1";
    let body = json!({"id": id, "object": "chat.completion", "created": 1_735_689_600, "model": "m", "choices": [choice], "usage": usage});
    (200, body)
}

fn calls(calls: Value, text: Option<&str>, finish: &str) -> (u16, Value) {
    completion(
        json!({"role": "assistant", "content": text, "refusal": null, "tool_calls": calls}),
        finish,
    )
}

fn text(text: &str) -> (u16, Value) {
    completion(
        json!({"role": "assistant", "content": text, "refusal": null}),
        "stop",
    )
}

fn refusal(status: u16, kind: &str, message: &str) -> (u16, Value) {
    (
        status,
        json!({"error": {"message": message, "type": kind, "param": null, "code": null}}),
    )
}

/// The response to the request with this number. What was wrong is right in the next one.
fn response(fault: usize, request: u64, body: &Value) -> (u16, Value) {
    const RIGHT: &str = r#"{"a": 1, "b": 2}"#;
    let one = |name: &str, arguments: &str| {
        calls(json!([call("call_1", name, arguments)]), None, "tool_calls")
    };
    match (fault, request) {
        (0, 0) => one("calculate", RIGHT),
        (1, 0) => one("add", r#"{"a": 1, "b":"#),
        (2, 0) => one("add", r#"{"a": "one", "b": 2}"#),
        (3, 0) => one("fail", "{}"),
        (4, 0) => one("crash", "{}"),
        (5, 0) => one("hang", "{}"),
        (6, 0) => {
            let twins = json!([
                call("call_1", "add", RIGHT),
                call("call_1", "add", r#"{"a": 3, "b": 4}"#)
            ]);
            calls(twins, None, "tool_calls")
        }
        (7, 0) => calls(
            json!([call("call_1", "add", r#"{"a": 1, "b":"#)]),
            None,
            "length",
        ),
        (8, 0) => {
            let many = (0..40)
                .map(|at| call(&format!("call_{at}"), "add", RIGHT))
                .collect();
            calls(many, None, "tool_calls")
        }
        (9, 0) => calls(
            json!([call("call_1", "add", RIGHT)]),
            Some("I add them."),
            "tool_calls",
        ),
        (10, _) if body.get("tools").is_some() => refusal(
            400,
            "invalid_request_error",
            "this model does not support tools",
        ),
        (11, 0 | 1) => calls(
            json!([call(&format!("call_{request}"), "add", RIGHT)]),
            None,
            "tool_calls",
        ),
        (11, 2) => refusal(429, "rate_limit_error", "too many requests"),
        _ => text("It is 3."),
    }
}
