//! How large a model's window is, as the refusal of a prompt that is too long names it.
//!
//! In comes the text of the refusal; out goes a number of tokens, or nothing. No
//! API has a field for it, so it is read from the words that servers use. A number
//! counts only where it follows such words at once: a text has other numbers, too
//! (how long the prompt was, a code, a port).

/// Words that the number of tokens follows.
const BEFORE_A_WINDOW: [&str; 22] = [
    "maximum context length is", // OpenAI, vLLM, SGLang, Mistral, DeepSeek
    "maximum context length of", // Llama on Bedrock
    "context length is only",    // vLLM
    "maximum model length of",   // vLLM
    "maximum model length is",   // vLLM
    "longer than the model's context length", // SGLang, Together
    "exceeds the context length", // Ollama
    "exceeded max context length", // Ollama's cloud
    "greater than the context length", // LM Studio
    "exceeds the available context size", // llama.cpp
    "exceed context window of",  // llama-cpp-python
    "maximum prompt length is",  // xAI
    "exceeds the maximum number of tokens allowed", // Gemini, Vertex
    "exceeded model token limit:", // Moonshot
    "input tokens exceed the configured limit of", // OpenAI
    "tokens in the prompt cannot exceed", // Cohere
    "only supports up to",       // Vertex
    "`inputs` tokens + `max_new_tokens` must be <=", // TGI
    "context window is",         // gateways
    "context window of",         // gateways
    "\"n_ctx\":",                // llama.cpp
    "n_ctx =",                   // llama.cpp
];

/// Words after which the number stands behind a `>`: `prompt is too long: 213462
/// tokens > 200000 maximum`.
const BEFORE_A_COMPARISON: [&str; 2] = ["prompt is too long", "exceed context limit"];

/// How many characters may stand between the words and the number, such as ` (`.
const MOST_BETWEEN: usize = 3;

/// No model in use has a smaller window, and none a larger one.
const SMALLEST: u64 = 256;
const LARGEST: u64 = 1 << 30;

/// Returns the tokens of the window that a refusal names.
pub fn window_in(text: &str) -> Option<u64> {
    let text = text.to_ascii_lowercase();
    let named = BEFORE_A_WINDOW
        .iter()
        .find_map(|words| number_behind(&text, words));
    named
        .or_else(|| compared(&text))
        .filter(|tokens| (SMALLEST..=LARGEST).contains(tokens))
}

fn number_behind(text: &str, words: &str) -> Option<u64> {
    let at = text.find(words)?;
    number(&text[at + words.len()..])
}

fn compared(text: &str) -> Option<u64> {
    let start = BEFORE_A_COMPARISON
        .iter()
        .find_map(|words| text.find(words))?;
    let behind = text[start..].split_once('>')?.1;
    number(behind)
}

/// The number that a text begins with, perhaps with a bracket before it, and with
/// separators of thousands.
fn number(text: &str) -> Option<u64> {
    let from = text.find(|c: char| c.is_ascii_digit())?;
    if from > MOST_BETWEEN {
        return None;
    }
    let mut digits = String::new();
    for c in text[from..].chars() {
        match c {
            '0'..='9' => digits.push(c),
            ',' | '_' => {}
            _ => break,
        }
    }
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_each_server_name_its_window() {
        for (refusal, window) in [
            (
                "This model's maximum context length is 128000 tokens. However, your messages resulted in 130011 tokens.",
                Some(128_000),
            ),
            (
                "the request exceeds the available context size (8192 tokens), try increasing it",
                Some(8_192),
            ),
            (
                "request (11233 tokens) exceeds the available context size (8192 tokens), try increasing it",
                Some(8_192),
            ),
            (
                "prompt is too long: 213462 tokens > 200000 maximum",
                Some(200_000),
            ),
            (
                "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length",
                Some(200_000),
            ),
            (
                "The input token count (1,048,577) exceeds the maximum number of tokens allowed (1,048,576).",
                Some(1_048_576),
            ),
            (
                "Requested tokens (9000) exceed context window of 8192",
                Some(8_192),
            ),
            (
                r#"{"error":{"code":400,"n_prompt_tokens":11233,"n_ctx":8192}}"#,
                Some(8_192),
            ),
            // A code, a prompt's own length, and no number at all.
            ("invalid params, context window exceeds limit (2013)", None),
            (
                "Your input exceeds the context window of this model. Please adjust your input",
                None,
            ),
            (
                "http://127.0.0.1:8192 answered 400: too many tokens: 9000",
                None,
            ),
            ("This model's maximum context length is 7 tokens", None),
            ("", None),
        ] {
            assert_eq!(window_in(refusal), window, "{refusal}");
        }
    }
}
