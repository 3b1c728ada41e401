//! Why an answer ended, in one table for all APIs.
//!
//! In comes the word of a server: `finish_reason`, `stop_reason`, `finishReason`,
//! or the status of a response. Words that an API documents come first. Of any
//! other, its single words decide, in the order of [`WORDS`]: a failure before a
//! filter, a filter before a limit, a limit before a good end. A word that says
//! none of it is kept as it is, so that the answer can be flagged: its end is not
//! known to be a good one.

use llmnode_model::ext::is_document;
use llmnode_model::{Category, Completion, FinishReason, Message, ModelError, Retry};
use llmnode_reader::text::one_line;

use crate::http::error_body::words;

/// What the APIs document: with what nearly all answers end, and where the single
/// words would say something else or nothing.
const DOCUMENTED: &[(&str, FinishReason)] = &[
    ("stop", FinishReason::Stop),
    ("end_turn", FinishReason::Stop),
    ("STOP", FinishReason::Stop),
    ("completed", FinishReason::Stop),
    ("tool_calls", FinishReason::Stop),
    ("tool_use", FinishReason::Stop),
    // Anthropic. `compaction`: paused after a summary of the conversation, which goes back as well.
    ("pause_turn", FinishReason::Continue),
    ("compaction", FinishReason::Continue),
    // Responses: a status.
    ("failed", FinishReason::Error),
    ("incomplete", FinishReason::Length),
    // TGI
    ("eos_token", FinishReason::Stop),
    // DeepSeek
    ("insufficient_system_resource", FinishReason::Error),
    // Mistral: the model's own limit.
    ("model_length", FinishReason::Length),
    ("repetition", FinishReason::Length),
    // Gemini, also behind gateways of other APIs.
    ("CONTINUATION", FinishReason::Length),
    ("RECITATION", FinishReason::ContentFilter),
    ("BLOCKLIST", FinishReason::ContentFilter),
    ("PROHIBITED_CONTENT", FinishReason::ContentFilter),
    ("SPII", FinishReason::ContentFilter),
    ("MODEL_ARMOR", FinishReason::ContentFilter),
    ("LANGUAGE", FinishReason::ContentFilter),
    ("ESCALATION", FinishReason::ContentFilter),
    ("PUP_LIMITED_DISABLED", FinishReason::ContentFilter),
    ("OTHER", FinishReason::Error),
    ("MALFORMED_RESPONSE", FinishReason::Error),
];

/// Gemini's word for none, which has `FINISH` in it.
pub(crate) const UNSPECIFIED: &str = "FINISH_REASON_UNSPECIFIED";

/// Words of Gemini that are no good end, though their single words would say so.
const KEPT: [&str; 2] = [UNSPECIFIED, "UNEXPECTED_TOOL_CALL"];

/// For words of servers that nobody has listed.
const WORDS: [(&[&str], FinishReason); 4] = [
    (
        &[
            "error",
            "errors",
            "failed",
            "failure",
            "timeout",
            "overloaded",
            "cancel",
            "cancelled",
            "canceled",
            "abort",
            "aborted",
        ],
        FinishReason::Error,
    ),
    (
        &[
            "sensitive",
            "filter",
            "filtered",
            "guardrail",
            "safety",
            "blocked",
        ],
        FinishReason::ContentFilter,
    ),
    (
        &["length", "context", "max", "token", "tokens"],
        FinishReason::Length,
    ),
    (
        &[
            "stop",
            "end",
            "eos",
            "eot",
            "complete",
            "completed",
            "done",
            "finish",
            "finished",
            "tool",
            "tools",
            "call",
            "calls",
            "function",
        ],
        FinishReason::Stop,
    ),
];

/// `None`: the server said nothing.
pub(crate) fn finish(word: &str) -> Option<FinishReason> {
    if word.is_empty() {
        return None;
    }
    if let Some(finish) = documented(word) {
        return Some(finish.clone());
    }
    if word.starts_with("IMAGE_") {
        return Some(FinishReason::ContentFilter);
    }
    let reason = by_words(word).filter(|_| !KEPT.contains(&word));
    Some(reason.unwrap_or_else(|| FinishReason::Other(word.to_owned())))
}

/// The exact word of an API.
fn documented(word: &str) -> Option<&'static FinishReason> {
    DOCUMENTED
        .iter()
        .find(|(listed, _)| *listed == word)
        .map(|(_, finish)| finish)
}

/// `stop_sequence`, `MaxTokens`, `content-filter`: split into words, whatever
/// separates them.
fn by_words(word: &str) -> Option<FinishReason> {
    let parts = words(word);
    let row = WORDS
        .iter()
        .find(|(list, _)| parts.iter().any(|part| list.contains(&part.as_str())));
    row.map(|(_, finish)| finish.clone())
}

/// Whether the word alone says that the answer is whole, though the connection may
/// have broken behind it.
pub(crate) fn is_known(word: &str) -> bool {
    !matches!(finish(word), None | Some(FinishReason::Other(_)))
}

/// The server could not read the call that the model wrote, such as Gemini's
/// `MALFORMED_FUNCTION_CALL` behind a gateway of another API: the model can mend
/// it.
pub(crate) fn is_malformed_call(word: &str) -> bool {
    if documented(word).is_some() {
        return false;
    }
    let parts = words(word);
    let is_malformed = parts.iter().any(|part| part == "malformed");
    let is_of_call = parts
        .iter()
        .any(|part| matches!(part.as_str(), "call" | "tool" | "function"));
    is_malformed && is_of_call
}

/// As OpenAI's `tool_calls`.
pub(crate) fn is_of_calls(word: &str) -> bool {
    words(word).iter().any(|part| {
        matches!(
            part.as_str(),
            "tool" | "tools" | "call" | "calls" | "function"
        )
    })
}

/// The model is told what it wrote and asked again.
pub(crate) fn malformed_call(word: &str, wrote: String) -> ModelError {
    let message = format!("the call of a tool failed ({})", one_line(word, 100));
    let mut failure = ModelError::new(Category::SchemaError, message).retry(Retry::Feedback);
    failure.answer = Some(Box::new(Message::assistant(wrote)));
    failure
}

/// Why the calls of an answer with an unknown end must not run: the message has to
/// be whole (`has_ended`, as its API ends one), and so have all arguments.
pub(crate) fn doubt(completion: &Completion, has_ended: bool) -> Option<ModelError> {
    let Some(FinishReason::Other(word)) = &completion.finish else {
        return None;
    };
    let calls = &completion.calls;
    let are_whole = calls
        .iter()
        .all(|call| call.arguments.trim().is_empty() || is_document(&call.arguments));
    if calls.is_empty() || (has_ended && are_whole) {
        return None;
    }
    let message = format!(
        "the answer ended with {:?}, which nobody knows, in the middle of a call: no call was run",
        one_line(word, 100)
    );
    Some(ModelError::new(Category::ServerError, message).retry(Retry::Transport))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_decide() {
        for (word, expected) in [
            ("network_error", FinishReason::Error),
            ("engine-overloaded", FinishReason::Error),
            ("RequestTimeout", FinishReason::Error),
            ("LLMError", FinishReason::Error),
            ("user_cancelled", FinishReason::Error),
            ("Aborted", FinishReason::Error),
            ("content_filter_error", FinishReason::Error),
            ("sensitive", FinishReason::ContentFilter),
            ("guardrail_intervened", FinishReason::ContentFilter),
            ("contentFiltered", FinishReason::ContentFilter),
            ("SAFETY", FinishReason::ContentFilter),
            ("IMAGE_RECITATION", FinishReason::ContentFilter),
            ("model_context_window_exceeded", FinishReason::Length),
            ("MaxTokens", FinishReason::Length),
            ("token-limit", FinishReason::Length),
            ("stop", FinishReason::Stop),
            ("eos_token", FinishReason::Stop),
            ("eos", FinishReason::Stop),
            ("<|eot|>", FinishReason::Stop),
            ("COMPLETE", FinishReason::Stop),
            ("tool_use", FinishReason::Stop),
            ("functionCall", FinishReason::Stop),
            ("end_turn", FinishReason::Stop),
            ("pause_turn", FinishReason::Continue),
        ] {
            assert_eq!(finish(word), Some(expected), "{word}");
        }
        // Parts of words say nothing.
        for word in [
            "stopped",
            "unfinished",
            "terrors",
            "backend",
            "recall",
            "lengthy",
            "weird",
            UNSPECIFIED,
            "UNEXPECTED_TOOL_CALL",
        ] {
            assert_eq!(
                finish(word),
                Some(FinishReason::Other(word.to_owned())),
                "{word}"
            );
        }
        assert_eq!(finish(""), None);
    }

    #[test]
    fn the_order_of_the_words_is_that_of_the_table() {
        let rows: Vec<&str> = WORDS.iter().map(|(list, _)| list[0]).collect();
        for (at, first) in rows.iter().enumerate() {
            for later in &rows[at..] {
                assert_eq!(
                    finish(&format!("{later}_{first}")),
                    Some(WORDS[at].1.clone()),
                    "{later} {first}"
                );
            }
        }
    }
}
