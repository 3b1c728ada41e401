//! What servers of embeddings refuse.
//!
//! A refusal comes in, with what was sent; a lesson goes out, if the refusal has
//! one: a key of the request that the server does not know, or how many texts it
//! takes at once. A key is left out from then on. The number of texts is for
//! whoever cuts the texts into requests. A request that is too long as a whole
//! teaches nothing for others.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::http::error_body::ErrorBody;

/// What a request had.
#[derive(Clone, Copy)]
pub(crate) struct Sent {
    pub(crate) texts: usize,
    pub(crate) format: bool,
    pub(crate) dimensions: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lesson {
    /// The next request goes without a key.
    Key,
    /// The next request has so many texts at most.
    FewerTexts(usize),
    /// These texts are too long together.
    ShorterRequest,
}

/// Atomics, since it is read for each request and hardly ever written.
#[derive(Debug, Default)]
pub(crate) struct Learned {
    no_format: AtomicBool,
    no_dimensions: AtomicBool,
    /// 0: not known.
    most_texts: AtomicUsize,
}

/// As servers speak of the number of texts: LiteLLM's, TEI's, DashScope's, vLLM's,
/// pydantic's and OpenAI's own words.
const OF_TEXTS: [&str; 18] = [
    "array of at most",
    "array too long",
    "array with maximum length",
    "batch",
    "inputs at most",
    "inputs per request",
    "list should have at most",
    "number of documents",
    "number of inputs",
    "number of items",
    "number of strings",
    "number of texts",
    "texts at most",
    "texts per request",
    "too many documents",
    "too many inputs",
    "too many items",
    "too many texts",
];

/// As they speak of a key that they do not know.
const UNKNOWN: [&str; 8] = [
    "does not support",
    "extra",
    "not permitted",
    "not support",
    "unexpected",
    "unknown",
    "unrecognized",
    "unsupported",
];

impl Learned {
    pub(crate) fn takes_format(&self) -> bool {
        !self.no_format.load(Ordering::Relaxed)
    }

    pub(crate) fn takes_dimensions(&self) -> bool {
        !self.no_dimensions.load(Ordering::Relaxed)
    }

    pub(crate) fn most_texts(&self) -> Option<usize> {
        Some(self.most_texts.load(Ordering::Relaxed)).filter(|most| *most > 0)
    }

    /// The keys that a request would have, but for what was learned.
    pub(crate) fn left_out(&self, has_dimensions: bool) -> impl Iterator<Item = &'static str> {
        let format = (!self.takes_format()).then_some("encoding_format");
        let dimensions = (has_dimensions && !self.takes_dimensions()).then_some("dimensions");
        format.into_iter().chain(dimensions)
    }

    /// `None`: the refusal teaches nothing, or nothing new.
    pub(crate) fn learn(&self, says: &ErrorBody, sent: Sent) -> Option<Lesson> {
        let text = says.message.to_lowercase();
        let names_format = names(says, &text, "encoding_format");
        let names_dimensions = names(says, &text, "dimensions");
        let is_unknown = UNKNOWN.iter().any(|word| text.contains(word));
        // Nothing but `float` was sent, so that any refusal of it is one of the key.
        if sent.format && names_format {
            return (!self.no_format.swap(true, Ordering::Relaxed)).then_some(Lesson::Key);
        }
        if sent.dimensions && names_dimensions && is_unknown {
            return (!self.no_dimensions.swap(true, Ordering::Relaxed)).then_some(Lesson::Key);
        }
        if sent.texts < 2 {
            return None;
        }
        if OF_TEXTS.iter().any(|words| text.contains(words)) {
            let most = largest_below(&text, sent.texts).unwrap_or(sent.texts / 2);
            let most_texts = self
                .most_texts()
                .map_or(most, |most_texts| most_texts.min(most));
            self.most_texts.store(most_texts, Ordering::Relaxed);
            return Some(Lesson::FewerTexts(most_texts));
        }
        is_length(&text).then_some(Lesson::ShorterRequest)
    }
}

/// The limit, in a text that may also have the number that was sent and a status.
fn largest_below(text: &str, sent: usize) -> Option<usize> {
    let numbers = text
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|number| number.parse().ok());
    numbers.filter(|number| (1..sent).contains(number)).max()
}

/// Whether it is about the length of the texts, in the words of any server.
fn is_length(text: &str) -> bool {
    [
        "too long",
        "too large",
        "tokens",
        "context length",
        "maximum length",
    ]
    .iter()
    .any(|words| text.contains(words))
}

/// By the error's own field, or in its text.
fn names(error: &ErrorBody, text: &str, key: &str) -> bool {
    error.param.as_deref() == Some(key) || text.contains(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENT: Sent = Sent {
        texts: 64,
        format: true,
        dimensions: true,
    };

    fn lesson(message: &str, sent: Sent) -> Option<Lesson> {
        let body = serde_json::json!({"error": {"message": message}}).to_string();
        Learned::default().learn(&ErrorBody::read(body.as_bytes()), sent)
    }

    #[test]
    fn servers_say_how_many_texts_they_take() {
        for (message, most) in [
            (
                "batch size is invalid, it should not be larger than 10.: input.contents",
                10,
            ),
            ("input batch size 64 > maximum allowed batch size 32", 32),
            (
                "Invalid 'input': array too long. Expected an array with maximum length 16, but \
                 got one with length 64",
                16,
            ),
            ("Too many inputs (64); the limit is 25", 25),
            (
                "List should have at most 8 items after validation, not 64",
                8,
            ),
            ("The number of texts is over the limit", 32),
        ] {
            assert_eq!(
                lesson(message, SENT),
                Some(Lesson::FewerTexts(most)),
                "{message}"
            );
            assert_eq!(
                lesson(message, Sent { texts: 1, ..SENT }),
                None,
                "{message}"
            );
        }
        let learned = Learned::default();
        let says = |message: &str| {
            let body = serde_json::json!({"error": {"message": message}}).to_string();
            ErrorBody::read(body.as_bytes())
        };
        learned.learn(&says("batch size must be at most 10"), SENT);
        learned.learn(&says("batch size must be at most 20"), SENT);
        assert_eq!(learned.most_texts(), Some(10));
    }

    #[test]
    fn a_key_that_is_refused_is_left_out_once() {
        let learned = Learned::default();
        let body =
            br#"{"error": {"message": "Unknown parameter: 'encoding_format'.", "param": "encoding_format"}}"#;
        assert_eq!(
            learned.learn(&ErrorBody::read(body), SENT),
            Some(Lesson::Key)
        );
        assert_eq!(
            learned.left_out(true).collect::<Vec<_>>(),
            ["encoding_format"]
        );
        assert_eq!(
            learned.learn(
                &ErrorBody::read(body),
                Sent {
                    format: false,
                    ..SENT
                }
            ),
            None
        );
        assert_eq!(
            lesson("Unrecognized request argument supplied: dimensions", SENT),
            Some(Lesson::Key)
        );
        assert_eq!(lesson("dimensions must be between 1 and 1024", SENT), None);
        assert_eq!(
            lesson("too many tokens in one request", SENT),
            Some(Lesson::ShorterRequest)
        );
        assert_eq!(lesson("no", SENT), None);
    }
}
