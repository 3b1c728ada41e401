//! What a model at this base URL refuses: learned from the refusal once, and remembered.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::error_body::ErrorBody;

/// More models than this at one base URL are not remembered at once.
const CAPACITY: usize = 256;

/// How to ask a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Habits {
    /// The limit on tokens goes by the name that newer models of OpenAI want. The older name comes first: those
    /// models refuse it loudly, while older servers ignore the newer one in silence.
    pub(super) max_completion_tokens: bool,
    /// The temperature is left out.
    pub(super) no_temperature: bool,
    /// How the schema is sent.
    pub(super) format: Format,
}

/// How a schema is sent, from the most to the least binding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Format {
    /// In the strict dialect where the type allows it.
    #[default]
    Strict,
    /// As plain JSON Schema that does not bind the model.
    Plain,
    /// In the prompt, with JSON required.
    JsonObject,
    /// In the prompt only.
    Prompted,
}

/// The part of a request that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    MaxTokens,
    Temperature,
    /// Any response format.
    Format,
    /// The response format `json_schema`.
    JsonSchema,
    /// What is said about the response format names `json_object`, as the one that is offered or the one refused.
    JsonObject,
    /// The schema within the response format.
    Schema,
}

/// Remembers the habits of models, by the model's id.
#[derive(Debug, Default)]
pub(super) struct Learned(Mutex<HashMap<String, Habits>>);

impl Learned {
    /// How to ask this model.
    pub(super) fn of(&self, model: &str) -> Habits {
        self.lock().get(model).copied().unwrap_or_default()
    }

    /// Remembers that this part was refused when asked by these habits. Whether there is another way to ask.
    pub(super) fn learn(&self, model: &str, asked: Habits, refused: Refused) -> bool {
        let Some(next) = asked.without(refused) else { return false };
        let mut known = self.lock();
        let now = known.get(model).copied().unwrap_or_default();
        // A refusal of what is no longer asked that way teaches nothing new.
        if now.part(refused) == asked.part(refused) {
            if known.len() >= CAPACITY && !known.contains_key(model) {
                known.clear();
            }
            known.insert(model.to_owned(), now.with_part_of(next, refused));
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Habits>> {
        // Nothing panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Habits {
    /// The next way to ask after this part was refused, if there is one.
    fn without(self, refused: Refused) -> Option<Habits> {
        let format = |format| Some(Habits { format, ..self });
        match (refused, self.format) {
            (Refused::MaxTokens, _) => {
                (!self.max_completion_tokens).then_some(Habits { max_completion_tokens: true, ..self })
            }
            (Refused::Temperature, _) => {
                (!self.no_temperature).then_some(Habits { no_temperature: true, ..self })
            }
            (Refused::Schema, Format::Strict) => format(Format::Plain),
            (Refused::Schema, Format::Plain)
            | (Refused::JsonSchema | Refused::JsonObject, Format::Strict | Format::Plain) => {
                format(Format::JsonObject)
            }
            (Refused::JsonObject, Format::JsonObject)
            | (Refused::Format, Format::Strict | Format::Plain | Format::JsonObject) => {
                format(Format::Prompted)
            }
            // A refusal of what was not asked teaches nothing.
            (Refused::JsonSchema | Refused::Schema, Format::JsonObject) | (_, Format::Prompted) => None,
        }
    }

    fn with_part_of(self, other: Habits, refused: Refused) -> Habits {
        match refused {
            Refused::MaxTokens => Habits { max_completion_tokens: other.max_completion_tokens, ..self },
            Refused::Temperature => Habits { no_temperature: other.no_temperature, ..self },
            Refused::Format | Refused::JsonSchema | Refused::JsonObject | Refused::Schema => {
                Habits { format: other.format, ..self }
            }
        }
    }

    /// Only what a refusal of this part is about.
    fn part(self, refused: Refused) -> Habits {
        Habits::default().with_part_of(self, refused)
    }
}

/// Codes that say that a field or its value is not supported.
const MARKS: [&str; 4] =
    ["unsupported_parameter", "unsupported_value", "unknown_parameter", "unrecognized_request_argument"];

/// The same in words, for servers that send no code.
const PHRASES: [&str; 10] = [
    "not supported",
    "unsupported",
    "does not support",
    "doesn't support",
    "unavailable",
    "unknown parameter",
    "unknown field",
    "unrecognized",
    "not permitted",
    "must be 'text' or 'json_object'",
];

/// The fields that can be asked for in another way.
const FIELDS: [(&str, Refused); 6] = [
    ("max_tokens", Refused::MaxTokens),
    ("max_completion_tokens", Refused::MaxTokens),
    ("temperature", Refused::Temperature),
    ("response_format", Refused::Format),
    ("response format", Refused::Format),
    ("json_schema", Refused::JsonSchema),
];

/// The part of our request that this error refuses as such. A value that is merely out of range is no reason to
/// leave the part out.
pub(super) fn refused(status: u16, error: &ErrorBody) -> Option<Refused> {
    if !matches!(status, 400 | 422) {
        return None;
    }
    let text = error.message.to_lowercase();
    if text.contains("invalid schema for response_format") {
        return Some(Refused::Schema);
    }
    let refuses =
        MARKS.iter().any(|mark| error.is_marked(mark)) || PHRASES.iter().any(|part| text.contains(part));
    if !refuses {
        return None;
    }
    let by_param = FIELDS.iter().find(|(field, _)| error.param.as_deref() == Some(field));
    // The first field that the text names is the one at fault; a remedy follows it.
    let by_text = || {
        let found = FIELDS.iter().filter_map(|field| Some((text.find(field.0)?, field)));
        found.min_by_key(|(at, _)| *at).map(|(_, field)| field)
    };
    match by_param.or_else(by_text)?.1 {
        Refused::Format if text.contains("json_schema") => Some(Refused::JsonSchema),
        Refused::Format if text.contains("json_object") => Some(Refused::JsonObject),
        part => Some(part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(status: u16, message: &str, param: Option<&str>, code: Option<&str>) -> Option<Refused> {
        let body = serde_json::json!({"error": {"message": message, "param": param, "code": code}});
        refused(status, &ErrorBody::read(body.to_string().as_bytes()))
    }

    #[test]
    fn what_is_refused() {
        for (message, param, code, expected) in [
            (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
                Some("max_tokens"),
                Some("unsupported_parameter"),
                Some(Refused::MaxTokens),
            ),
            (
                "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
                None,
                None,
                Some(Refused::MaxTokens),
            ),
            (
                "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
                Some("temperature"),
                Some("unsupported_value"),
                Some(Refused::Temperature),
            ),
            (
                "response_format.type `json_schema` is unavailable now",
                None,
                Some("invalid_request_error"),
                Some(Refused::JsonSchema),
            ),
            (
                "This model does not support response format `json_schema`.",
                None,
                None,
                Some(Refused::JsonSchema),
            ),
            ("'response_format.type' must be 'text' or 'json_object'", None, None, Some(Refused::JsonObject)),
            ("Unknown parameter: 'response_format'", Some("response_format"), None, Some(Refused::Format)),
            (
                "Invalid schema for response_format 'Choice': $ref cannot have keywords",
                Some("response_format"),
                None,
                Some(Refused::Schema),
            ),
            (
                "Invalid 'temperature': decimal below minimum value",
                Some("temperature"),
                Some("decimal_below_min_value"),
                None,
            ),
            (
                "max_tokens is too large: 100000. This model supports at most 4096",
                Some("max_tokens"),
                None,
                None,
            ),
            ("Unsupported parameter: 'seed'", Some("seed"), Some("unsupported_parameter"), None),
            ("no", None, None, None),
        ] {
            assert_eq!(of(400, message, param, code), expected, "{message}");
        }
        assert_eq!(of(500, "temperature is not supported", Some("temperature"), None), None);
    }

    #[test]
    fn each_refusal_leads_on_and_the_last_one_ends_it() {
        let learned = Learned::default();
        for (refused, format) in [
            (Refused::Schema, Format::Plain),
            (Refused::Schema, Format::JsonObject),
            (Refused::JsonObject, Format::Prompted),
        ] {
            assert!(learned.learn("m", learned.of("m"), refused));
            assert_eq!(learned.of("m").format, format);
        }
        assert!(!learned.learn("m", learned.of("m"), Refused::Format));
        assert!(learned.learn("m", learned.of("m"), Refused::MaxTokens));
        assert!(!learned.learn("m", learned.of("m"), Refused::MaxTokens));
        assert_eq!(learned.of("other"), Habits::default());
    }

    #[test]
    fn what_was_not_asked_cannot_be_refused() {
        let json_object = Habits { format: Format::JsonObject, ..Habits::default() };
        assert_eq!(json_object.without(Refused::JsonSchema), None);
        assert_eq!(json_object.without(Refused::Schema), None);
        let prompted = Some(Habits { format: Format::Prompted, ..Habits::default() });
        assert_eq!(json_object.without(Refused::Format), prompted);
        assert_eq!(Habits::default().without(Refused::Format), prompted);
    }

    #[test]
    fn requests_in_flight_together_learn_one_step() {
        let learned = Learned::default();
        for _ in 0..64 {
            assert!(learned.learn("m", Habits::default(), Refused::JsonSchema));
        }
        assert_eq!(learned.of("m").format, Format::JsonObject);
    }

    #[test]
    fn a_late_refusal_leads_no_model_back() {
        let learned = Learned::default();
        let asked = Habits::default();
        assert!(learned.learn("m", asked, Refused::Format));
        assert!(learned.learn("m", asked, Refused::Schema), "another way to ask is known");
        assert_eq!(learned.of("m").format, Format::Prompted);
    }

    #[test]
    fn what_is_learned_of_one_part_leaves_the_others_and_other_models() {
        let learned = Learned::default();
        assert!(learned.learn("m", Habits::default(), Refused::Schema));
        assert!(learned.learn("m", learned.of("m"), Refused::Temperature));
        assert!(!learned.learn("m", learned.of("m"), Refused::Temperature));
        learned.learn("n", Habits::default(), Refused::MaxTokens);
        let (m, n) = (learned.of("m"), learned.of("n"));
        assert_eq!((m.format, m.no_temperature, m.max_completion_tokens), (Format::Plain, true, false));
        assert_eq!((n.format, n.no_temperature, n.max_completion_tokens), (Format::Strict, false, true));
    }

    #[test]
    fn the_memory_is_bounded() {
        let learned = Learned::default();
        for model in 0..10 * CAPACITY {
            learned.learn(&model.to_string(), Habits::default(), Refused::Temperature);
        }
        assert!(learned.lock().len() <= CAPACITY);
    }
}
