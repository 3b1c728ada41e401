//! Embeddings that need no model: words are hashed, so texts with words in common are near to each other.

use serde_json::{Value, json};

use super::counts::TokenCounts;
use super::log::LoggedRequest;
use super::reply::{Content, bad_request};

const DIMENSIONS: usize = 64;
const MAX_DIMENSIONS: u64 = 4096;

pub(super) fn content(request: &LoggedRequest) -> Content {
    match body(request) {
        Ok((body, usage)) => Content::Bytes {
            status: 200,
            content_type: "application/json",
            body: body.to_string().into_bytes().into(),
            usage: Some(usage),
        },
        Err(message) => bad_request(400, &message).content,
    }
}

fn body(request: &LoggedRequest) -> Result<(Value, TokenCounts), String> {
    let request_body = request.json().and_then(Value::as_object);
    let request_body = request_body
        .ok_or("We could not parse the JSON body of your request: it is not a JSON object.")?;
    let model = request_body
        .get("model")
        .and_then(Value::as_str)
        .ok_or("you must provide a model parameter")?;
    let dimensions = match request_body.get("dimensions") {
        None | Some(Value::Null) => DIMENSIONS,
        Some(number) => match number.as_u64() {
            Some(number @ 1..=MAX_DIMENSIONS) => number as usize,
            _ => {
                return Err(format!(
                    "Invalid 'dimensions': expected a number from 1 to {MAX_DIMENSIONS}."
                ));
            }
        },
    };
    let texts: Vec<&str> = match request_body.get("input") {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(texts)) if !texts.is_empty() => texts
            .iter()
            .map(Value::as_str)
            .collect::<Option<_>>()
            .ok_or("Invalid 'input': expected texts.")?,
        _ => return Err("Invalid 'input': expected a text or a list of texts.".to_owned()),
    };
    if texts.iter().any(|text| text.is_empty()) {
        return Err("Invalid 'input': a text is empty.".to_owned());
    }
    let tokens = texts
        .iter()
        .map(|text| text.chars().count().div_ceil(4) as u64)
        .sum();
    let counts = TokenCounts::new(tokens, 0);
    let data = texts.iter().enumerate().map(
        |(index, text)| json!({"object": "embedding", "index": index, "embedding": vector(text, dimensions)}),
    );
    let data: Vec<Value> = data.collect();
    let usage = json!({"prompt_tokens": tokens, "total_tokens": tokens});
    Ok((
        json!({"object": "list", "data": data, "model": model, "usage": usage}),
        counts,
    ))
}

/// Hashes each word (FNV-1a) to a position and a sign; normalised.
fn vector(text: &str, dimensions: usize) -> Vec<f32> {
    let mut vector = vec![0.0_f32; dimensions];
    // No vector may be zero.
    vector[0] = 0.1;
    for word in text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
    {
        let hash = word
            .to_lowercase()
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
        let sign = if hash >> 63 == 0 { 1.0 } else { -1.0 };
        vector[(hash % dimensions as u64) as usize] += sign;
    }
    let length = vector.iter().map(|one| one * one).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|one| *one /= length);
    }
    vector
}
