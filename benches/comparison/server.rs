//! What the servers of all tasks have in common: what an answer bills, and in which form a library asks for it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use llmnode::stub_server::{LoggedRequest, StubReply};
use serde_json::Value;

use crate::library::Library;

/// What each answer bills, in tokens.
pub const INPUT: u64 = 100;
pub const OUTPUT: u64 = 20;
pub const TOKENS: u64 = INPUT + OUTPUT;
/// What each answer bills, in dollars: 0.75 a million tokens of input, 4.50 of output, as all catalogs say of gpt-5.4-mini.
pub const DOLLARS: f64 = (INPUT as f64 * 0.75 + OUTPUT as f64 * 4.5) / 1e6;

/// An answer: as a call, if the library gave a tool that takes answers, else as JSON in the text.
pub fn answer(request: &LoggedRequest, value: Value) -> StubReply {
    let tool = request
        .json()
        .and_then(|body| body["tools"][0]["function"]["name"].as_str());
    let reply = match tool {
        Some(name) => StubReply::call(name, value),
        None => StubReply::json(value),
    };
    reply.usage(INPUT, OUTPUT)
}

pub fn text(text: &str) -> StubReply {
    StubReply::text(text).usage(INPUT, OUTPUT)
}

/// A 429, with how long to wait.
pub fn busy(seconds: u64) -> StubReply {
    StubReply::error(
        429,
        "requests",
        "rate_limit_exceeded",
        "Rate limit reached.",
    )
    .retry_after(seconds)
}

/// How many of these requests were answered, and so are billed.
pub fn billed(requests: &[LoggedRequest]) -> u64 {
    let answered = requests
        .iter()
        .filter(|request| request.status() == Some(200));
    u64::try_from(answered.count()).unwrap()
}

/// Tokens and dollars that a program knows, of those that were billed.
pub fn known(said: &Value, billed: u64) -> String {
    let money = match said["money"].as_f64() {
        Some(money) => format!("{:.0}", money * 1e6),
        None => "none".to_owned(),
    };
    let dollars = DOLLARS * 1e6 * billed as f64;
    format!(
        "{} of {}; {money} of {dollars:.0}",
        said["tokens"].as_u64().unwrap_or(0),
        TOKENS * billed
    )
}

/// With `SHOW` in the environment: what a program said, and what it sent.
pub fn show(library: &Library, said: &Value, requests: &[LoggedRequest]) {
    if std::env::var_os("SHOW").is_none() {
        return;
    }
    eprintln!("{}: {said}", library.name);
    for request in requests {
        let refused = request.refused_by().unwrap_or("-");
        eprintln!(
            "{:?} {refused} {} {}",
            request.status(),
            request.path(),
            request.body()
        );
    }
}

/// How a program ended badly, in a few letters.
pub fn error(said: &Value) -> Option<String> {
    let error = said["error"].as_str().or(said["died"].as_str())?;
    Some(format!("`{error:.40}`"))
}

/// A new folder for the files of one program.
pub fn folder() -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("llmnode-comparison-{}-{number}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
