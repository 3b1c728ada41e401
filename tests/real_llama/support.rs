//! Helpers of these tests.

use llmnode::{Ledger, OpenAi, OpenAiBuilder, Run};
use serde_json::{Map, Value};

use crate::wire::Wire;

pub(crate) fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run scripts/real-components"))
}

pub(crate) fn server_url() -> String {
    variable("LLMNODE_LLAMA_URL")
}

/// The same server with a chat template that knows tools.
pub(crate) fn tools_url() -> String {
    variable("LLMNODE_LLAMA_TOOLS_URL")
}

pub(crate) fn key() -> String {
    variable("LLMNODE_LLAMA_KEY")
}

/// The server's model, by way of a wire.
pub(crate) fn model(wire: &Wire) -> OpenAiBuilder {
    OpenAi::builder()
        .base_url(wire.base_url())
        .api_key(key())
        .model("tiny-random")
}

/// A run on the server, and the wire to it.
pub(crate) async fn run() -> (Run, Wire) {
    let wire = Wire::to(&server_url()).await;
    (Run::new(model(&wire).build().unwrap()), wire)
}

/// A bias that makes these characters all but certain wherever the schema allows them, the later ones more so.
/// In the model's vocabulary the printable characters follow three control tokens and one token for each byte.
pub(crate) fn only(characters: &str) -> Value {
    const FIRST: u32 = 3 + 256;
    let biased = characters.chars().enumerate().map(|(place, character)| {
        let token = FIRST + u32::from(character) - u32::from('!');
        (token.to_string(), Value::from(8.0 + place as f64))
    });
    biased.collect::<Map<_, _>>().into()
}

/// The ledger says what the server said, request by request in sum.
pub(crate) fn assert_books_agree(ledger: &Ledger, wire: &Wire) {
    let (exchanges, total) = (wire.exchanges(), ledger.total());
    assert_eq!(total.requests, exchanges.len() as u64, "requests");
    let sum = |pointer: &str| {
        exchanges
            .iter()
            .filter_map(|one| one.answer.pointer(pointer)?.as_u64())
            .sum()
    };
    let said: [u64; 4] = [
        sum("/usage/prompt_tokens"),
        sum("/usage/completion_tokens"),
        sum("/usage/total_tokens"),
        sum("/usage/prompt_tokens_details/cached_tokens"),
    ];
    assert_eq!(
        [
            total.input.known,
            total.output.known,
            total.total.known,
            total.cached.known
        ],
        said,
        "tokens"
    );
    let silent = exchanges
        .iter()
        .filter(|one| one.answer.get("usage").is_none() && !is_free(&one.answer));
    let silent = silent.count() as u64;
    assert_eq!(
        total.total.unreported_calls, silent,
        "requests without usage"
    );
}

/// A request that was refused for its key, its path or its rate has used nothing, and that is known.
fn is_free(answer: &Value) -> bool {
    let code = answer.pointer("/error/code").and_then(Value::as_u64);
    code.is_some_and(|code| matches!(code, 401 | 403 | 404 | 429))
}
