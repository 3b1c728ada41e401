//! What an answer says, before it has the form of an API; and what a request asks for, after its form is read.

use serde_json::Value;

use super::counts::TokenCounts;

/// 2025-01-01T00:00:00Z; fixed, so that equal requests get equal bytes.
pub(super) const CREATED: u64 = 1_735_689_600;

/// Characters of a streamed piece: one token.
const PIECE: usize = 4;

#[derive(Clone, Debug, Default)]
pub(super) struct ModelAnswer {
    pub(super) reasoning: Option<String>,
    pub(super) content: Option<String>,
    pub(super) refusal: Option<String>,
    pub(super) calls: Vec<Call>,
    /// In OpenAI's words: `stop`, `length`, `tool_calls`, `content_filter`. Other words are sent as they are.
    pub(super) finish: String,
}

#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    /// JSON, or what is sent in its place.
    pub(super) arguments: String,
}

impl Call {
    /// For the APIs whose calls have a JSON object.
    pub(super) fn object(&self) -> Value {
        serde_json::from_str(&self.arguments).unwrap_or_else(|_| Value::from(&*self.arguments))
    }
}

/// What stands around an answer.
#[derive(Clone, Debug)]
pub(super) struct Envelope<'a> {
    pub(super) id: &'a str,
    pub(super) model: &'a str,
    pub(super) usage: Usage,
    /// Binds thoughts to what stood before them.
    pub(super) signature: String,
}

#[derive(Clone, Debug)]
pub(super) enum Usage {
    Counted(TokenCounts),
    Given(Value),
    None,
}

impl Usage {
    /// `write`: an API's form of a report.
    pub(super) fn json(&self, write: fn(TokenCounts) -> Value) -> Option<Value> {
        match self {
            Self::Counted(counts) => Some(write(*counts)),
            Self::Given(value) => Some(value.clone()),
            Self::None => None,
        }
    }

    pub(super) fn counts(&self) -> Option<TokenCounts> {
        match self {
            Self::Counted(counts) => Some(*counts),
            Self::Given(value) => TokenCounts::from_json(value),
            Self::None => None,
        }
    }
}

/// How an answer is wanted.
#[derive(Debug, Default)]
pub(super) struct AnswerShape<'a> {
    pub(super) schema: Option<&'a Value>,
    pub(super) is_json: bool,
    /// The only one that may be called, and its parameters.
    pub(super) function: Option<(&'a str, Option<&'a Value>)>,
    /// In tokens.
    pub(super) limit: Option<u64>,
}

/// A text as it is streamed.
pub(super) fn pieces(text: &str) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters
        .chunks(PIECE)
        .map(|piece| piece.iter().collect())
        .collect()
}

/// The texts of a message: a string, or parts joined by line ends. A part without text is shown by its type.
pub(super) fn text_of(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().filter_map(|part| {
                if let Some(Value::String(text)) = part.get("text") {
                    return Some(text.clone());
                }
                let kind = part.get("type")?.as_str()?;
                Some(format!("[{kind}]"))
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub(super) fn word<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}
