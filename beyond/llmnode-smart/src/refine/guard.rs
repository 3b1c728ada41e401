//! Rules for the text of an output.

use std::fmt;

use llmnode_reader::text::bounded_regex;
use regex_lite::{Regex, RegexBuilder};
use serde_json::{Map, Value};

use crate::signature::{REASONING, Signature};

/// A rule for the text of one output field, by default the first one.
#[derive(Clone)]
pub struct Guard {
    rule: Rule,
    field: Option<String>,
}

#[derive(Clone)]
enum Rule {
    Json,
    /// With the longest text that it may search, in bytes.
    Regex(Regex, usize),
    MaxChars(usize),
}

impl Guard {
    /// Requires JSON, with or without a code fence.
    pub fn json() -> Guard {
        Guard {
            rule: Rule::Json,
            field: None,
        }
    }

    /// Requires a part of the text to match. `^` and `$` match its beginning and its end. A text that is too long for the pattern to
    /// be searched in breaks the rule: 64 KiB for one of 20 letters, less for longer ones.
    ///
    /// # Errors
    /// The pattern is invalid. The text says why.
    pub fn regex(pattern: &str) -> Result<Guard, String> {
        bounded_regex(|size| RegexBuilder::new(pattern).size_limit(size).build())
            .map(|(regex, most)| Guard {
                rule: Rule::Regex(regex, most),
                field: None,
            })
            .map_err(|error| format!("the pattern {pattern:?} is no regex: {error}"))
    }

    /// Requires at most this many characters.
    pub fn max_chars(most: usize) -> Guard {
        Guard {
            rule: Rule::MaxChars(most),
            field: None,
        }
    }

    /// Sets the output field whose text is checked. If the field is not a text, its JSON is checked.
    #[must_use]
    pub fn of(self, field: impl Into<String>) -> Guard {
        Guard {
            field: Some(field.into()),
            ..self
        }
    }

    pub(crate) fn misplaced(&self, signature: &Signature) -> Option<String> {
        let field = self
            .field
            .as_ref()
            .filter(|field| signature.output(field).is_none())?;
        Some(format!(
            "a guard is of the output `{field}`, and the node has no such output"
        ))
    }

    pub(crate) fn complaint(&self, outputs: &Map<String, Value>) -> Option<String> {
        let name = self.field.as_deref().or_else(|| {
            outputs
                .keys()
                .find(|name| *name != REASONING)
                .map(String::as_str)
        })?;
        let value = outputs.get(name)?;
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        match &self.rule {
            Rule::Json => {
                let error = serde_json::from_str::<serde::de::IgnoredAny>(unfenced(&text)).err()?;
                Some(format!("`{name}` has to be JSON, and is not: {error}"))
            }
            Rule::Regex(_, most) if text.len() > *most => Some(format!(
                "`{name}` has {} bytes, and its pattern is searched in {most} at most: write less",
                text.len()
            )),
            Rule::Regex(regex, _) if regex.is_match(&text) => None,
            Rule::Regex(regex, _) => Some(format!(
                "`{name}` has to match the pattern {:?}",
                regex.as_str()
            )),
            Rule::MaxChars(most) => {
                let count = text.chars().count();
                (count > *most)
                    .then(|| format!("`{name}` has {count} characters, and {most} are the most"))
            }
        }
    }
}

fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let inside = text
        .strip_prefix("```")
        .and_then(|rest| rest.strip_suffix("```"));
    inside
        .and_then(|inside| inside.split_once('\n'))
        .map_or(text, |(_, inside)| inside)
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = match &self.rule {
            Rule::Json => "json".to_owned(),
            Rule::Regex(regex, _) => format!("regex {:?}", regex.as_str()),
            Rule::MaxChars(most) => format!("max_chars {most}"),
        };
        f.debug_struct("Guard")
            .field("rule", &rule)
            .field("field", &self.field)
            .finish()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use serde_json::json;

    use super::Guard;

    fn complaint(guard: Guard, outputs: serde_json::Value) -> Option<String> {
        guard.complaint(outputs.as_object().unwrap())
    }

    #[test]
    fn rules_hold_or_say_why_not() {
        for good in ["{\"a\": 1}", "```json\n[1]\n```", " 3 "] {
            assert_eq!(
                complaint(Guard::json(), json!({"text": good})),
                None,
                "{good}"
            );
        }
        let said = complaint(Guard::json(), json!({"text": "{a"})).unwrap();
        assert!(
            said.starts_with("`text` has to be JSON, and is not: "),
            "{said}"
        );
        assert_eq!(
            complaint(
                Guard::max_chars(2),
                json!({"reasoning": "long", "text": "äö"})
            ),
            None
        );
        assert_eq!(
            complaint(Guard::max_chars(2), json!({"text": "abc"})).unwrap(),
            "`text` has 3 characters, and 2 are the most"
        );
        let regex = Guard::regex("^[A-Z]").unwrap();
        assert_eq!(complaint(regex.clone(), json!({"text": "A"})), None);
        assert_eq!(
            complaint(regex.clone().of("b"), json!({"a": "A", "b": ["x"]})).unwrap(),
            "`b` has to match the pattern \"^[A-Z]\""
        );
        assert!(Guard::regex("(").unwrap_err().contains("is no regex"));
    }

    #[test]
    fn a_text_too_long_for_its_pattern_does_not_pass() {
        let words = Guard::regex("fine").unwrap();
        let text = |bytes: usize| json!({"text": format!("fine{}", "x".repeat(bytes - 4))});
        assert_eq!(complaint(words.clone(), text(64 * 1024)), None);
        let said = complaint(words, text(1024 * 1024)).unwrap();
        assert!(
            said.contains("has 1048576 bytes, and its pattern is searched in 204800 at most"),
            "{said}"
        );
        let costly = Guard::regex("(?:.*a){60}|fine").unwrap();
        assert_eq!(complaint(costly.clone(), text(4096)), None);
        assert!(
            complaint(costly, text(64 * 1024))
                .unwrap()
                .contains("write less")
        );
        assert!(
            Guard::regex("(?:.*a){300}")
                .unwrap_err()
                .contains("size limit")
        );
    }
}
