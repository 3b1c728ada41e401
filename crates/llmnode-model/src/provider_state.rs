//! What a provider put into an answer beside text and calls.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// What a provider put into an answer beside text and calls, in order: thoughts
/// with their signatures, encrypted reasoning, citations, calls of the provider's
/// own tools.
///
/// Providers want it back with the next request of the conversation, as it came. It
/// is opaque, and part of a
/// [`Message`](crate::Message): it goes back to the API and the model that it came from, and to no other. It may hold the
/// model's thoughts: it is stored wherever messages are, and shown in no log and no `Debug` form.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProviderState {
    /// API and model, such as `anthropic/claude-sonnet-5`.
    from: String,
    parts: Vec<CarriedPart>,
}

/// A part of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum CarriedPart {
    /// This many bytes of the message's text, and what came with them.
    Text {
        /// How many.
        bytes: usize,
        /// An object whose members go back with them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        beside: Option<Json>,
    },
    /// A call.
    Call {
        /// Its index among the message's calls.
        at: usize,
        /// An object whose members go back with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        beside: Option<Json>,
    },
    /// A whole part, such as a thought.
    Other(Json),
}

/// JSON as it came. It is stored as a text.
#[derive(Clone)]
pub struct Json(Box<RawValue>);

impl Json {
    /// Keeps the spelling of `raw`.
    pub fn new(raw: &RawValue) -> Self {
        Json(raw.to_owned())
    }

    /// Writes it as compact JSON. `None`: it cannot be written.
    pub fn of(value: &impl Serialize) -> Option<Self> {
        serde_json::value::to_raw_value(value).ok().map(Json)
    }

    /// Returns it, to be written as it is.
    pub fn raw(&self) -> &RawValue {
        &self.0
    }
}

impl ProviderState {
    /// Creates what goes back to a provider with an answer. `api` and `model` are
    /// those that answered: others are not sent it.
    pub fn new(api: &str, model: &str, parts: Vec<CarriedPart>) -> Self {
        ProviderState {
            from: format!("{api}/{model}"),
            parts,
        }
    }

    /// Returns what several turns carry that are one: each with its text. `None`:
    /// nothing, or not all are of one model.
    pub fn joined<'a>(
        turns: impl IntoIterator<Item = (&'a str, Option<&'a ProviderState>)>,
    ) -> Option<ProviderState> {
        let mut from: Option<&str> = None;
        let mut parts = Vec::new();
        for (text, carried) in turns {
            match carried {
                Some(carried) if from.is_some_and(|from| from != carried.from) => return None,
                Some(carried) => {
                    from = Some(&carried.from);
                    parts.extend(carried.parts.iter().cloned());
                }
                None => parts.push(CarriedPart::Text {
                    bytes: text.len(),
                    beside: None,
                }),
            }
        }
        from.map(|from| ProviderState {
            from: from.to_owned(),
            parts,
        })
    }

    /// Returns the parts, unless they came from elsewhere.
    pub fn parts_for(&self, api: &str, model: &str) -> Option<&[CarriedPart]> {
        let is_same = self
            .from
            .split_once('/')
            .is_some_and(|from| from == (api, model));
        is_same.then_some(&*self.parts)
    }

    /// Returns the bytes of JSON in it.
    pub fn bytes(&self) -> usize {
        self.parts
            .iter()
            .map(|part: &CarriedPart| match part {
                CarriedPart::Text { beside, .. } | CarriedPart::Call { beside, .. } => {
                    beside.as_ref().map_or(0, |json| json.0.get().len())
                }
                CarriedPart::Other(json) => json.0.get().len(),
            })
            .sum()
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.0.get() == other.0.get()
    }
}

impl Eq for Json {}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.get().len())
    }
}

impl fmt::Debug for ProviderState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} parts, {} bytes", self.parts.len(), self.bytes())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.0.get())
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        RawValue::from_string(text)
            .map(Json)
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn it_is_stored_with_its_spelling_and_shown_by_its_size() {
        let thought =
            RawValue::from_string(r#"{"thinking" : "secret", "n": 1.0}"#.to_owned()).unwrap();
        let parts = vec![
            CarriedPart::Other(Json::new(&thought)),
            CarriedPart::Text {
                bytes: 3,
                beside: Json::of(&json!({"citations": []})),
            },
            CarriedPart::Call {
                at: 0,
                beside: None,
            },
        ];
        let carried = ProviderState::new("anthropic", "claude/x", parts);
        assert_eq!(format!("{carried:?}"), "3 parts, 49 bytes");
        // From a `Value`, too, as where a file is checked before it is read.
        let stored = serde_json::to_value(&carried).unwrap();
        assert_eq!(stored["from"], "anthropic/claude/x");
        assert_eq!(stored["parts"][0], json!({"other": thought.get()}));
        assert_eq!(
            serde_json::from_value::<ProviderState>(stored).unwrap(),
            carried
        );
        let parts = carried.parts_for("anthropic", "claude/x").unwrap();
        assert!(matches!(&parts[0], CarriedPart::Other(json) if json.raw().get() == thought.get()));
        assert!(
            carried.parts_for("anthropic", "claude").is_none()
                && carried.parts_for("openai", "claude/x").is_none()
        );
        let broken = json!({"from": "a/b", "parts": [{"other": "{"}]});
        assert!(serde_json::from_value::<ProviderState>(broken).is_err());
    }
}
