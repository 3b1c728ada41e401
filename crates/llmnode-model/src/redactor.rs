//! Redaction of texts before they are written or compared.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::credential::{Secret, is_credential, is_credential_value, redact};

/// Shorter values are hardly keys.
const MIN_SECRET_LEN: usize = 8;

type Redact = dyn Fn(&str) -> String + Send + Sync;

/// Removes credentials, and what else the program wants removed.
#[derive(Clone, Default)]
pub struct Redactor {
    secrets: Vec<Secret>,
    custom: Option<Arc<Redact>>,
}

impl Redactor {
    /// Finds credentials among the environment's variables: by the variable's name,
    /// or by what its value looks like.
    pub fn from_env() -> Self {
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        Redactor::from_variables(variables)
    }

    fn from_variables(variables: impl Iterator<Item = (String, String)>) -> Self {
        let mut secrets = Vec::new();
        for (name, value) in variables {
            let is_secret = is_credential(&name) || is_credential_value(&value);
            if value.len() >= MIN_SECRET_LEN && is_secret {
                secrets.push(Secret::new(value));
            }
        }
        Redactor {
            secrets,
            custom: None,
        }
    }

    /// Sets a function that every text goes through as well.
    pub fn redact(&mut self, redact: impl Fn(&str) -> String + Send + Sync + 'static) {
        self.custom = Some(Arc::new(redact));
    }

    /// A text is redacted as a whole: half a key would not be recognized.
    pub fn text(&self, text: &str) -> String {
        let clean = redact(text, &self.secrets);
        match &self.custom {
            Some(custom) => custom(&clean),
            None => clean,
        }
    }

    /// The same, if there is a text.
    pub fn option(&self, text: Option<&String>) -> Option<String> {
        text.map(|text| self.text(text))
    }

    /// Includes the names of members.
    pub fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(members) => {
                let cleaned = std::mem::take(members)
                    .into_iter()
                    .map(|(name, mut member)| {
                        self.value(&mut member);
                        (self.text(&name), member)
                    });
                *members = cleaned.collect();
            }
            _ => {}
        }
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    const PEM: &str = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj+/Ab\n-----END PRIVATE KEY-----\n";

    fn of(name: &str, value: &str) -> Redactor {
        Redactor::from_variables(std::iter::once((name.to_owned(), value.to_owned())))
    }

    /// As text in JSON, as texts that hold JSON texts do.
    fn escaped(text: &str, times: usize) -> String {
        (0..times).fold(text.to_owned(), |text, _| Value::String(text).to_string())
    }

    #[test]
    fn a_secret_is_found_in_every_form_that_a_text_may_have() {
        for (name, value) in [
            ("APP_SIGNING_KEY", PEM),
            ("APP_PASSWORD", "pa\"ss\\wo rd/ü"),
            ("TLS", PEM),
            ("APP_TOKEN", "plain-value-1"),
        ] {
            let redactor = of(name, value);
            for times in 0..3 {
                let clean = redactor.text(&format!("before {} behind", escaped(value, times)));
                assert!(
                    clean.starts_with("before ") && clean.ends_with(" behind"),
                    "{clean}"
                );
                assert!(
                    clean.contains("[redacted]"),
                    "{name}, escaped {times} times: {clean}"
                );
                assert!(
                    !clean.contains("MIIEvQ") && !clean.contains("ss\\"),
                    "{clean}"
                );
            }
            assert_eq!(redactor.text(&STANDARD.encode(value)), "[redacted]");
        }
        let password = of("APP_PASSWORD", "pa\"ss wo/rd");
        assert_eq!(password.text("x?p=pa%22ss%20wo%2Frd&y"), "x?p=[redacted]&y");
        assert_eq!(password.text("x?p=pa%22ss+wo%2frd&y"), "x?p=[redacted]&y");
    }

    #[test]
    fn a_secret_is_found_within_base64_and_as_other_languages_write_json() {
        let value = "pa/ss<wörd>&1\"x";
        let redactor = of("APP_PASSWORD", value);
        for user in ["a", "ab", "abc", "user"] {
            for behind in ["", "\n", "}}"] {
                let whole = STANDARD.encode(format!("{user}:{value}{behind}"));
                let clean = redactor.text(&format!("Basic {whole}"));
                assert!(clean.contains("[redacted]") && clean.len() < 32, "{clean}");
            }
        }
        for written in [
            r#"pa/ss<w\u00f6rd>&1\"x"#,
            r#"pa/ss\u003cwörd\u003e\u00261\"x"#,
            r#"pa\/ss<w\u00f6rd>&1\"x"#,
            r#"pa/ss<w\\u00f6rd>&1\\\"x"#,
        ] {
            assert_eq!(redactor.text(written), "[redacted]", "{written}");
        }
    }

    #[test]
    fn a_line_of_a_key_is_found_alone() {
        let clean = of("TLS", PEM).text("> MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj+/Ab\r\n");
        assert_eq!(clean, "> [redacted]\r\n");
    }

    #[test]
    fn a_value_that_looks_like_a_key_is_secret_whatever_its_name() {
        for (value, text, clean) in [
            (
                "postgres://app:s3cret-word@db/x",
                "postgres://app:s3cret-word@db/x",
                "[redacted]",
            ),
            (
                "postgres://app:s3cret-word@db/x",
                "password s3cret-word.",
                "password [redacted].",
            ),
            (
                "postgres://app:s3cret%2Dword@db/x",
                "password s3cret-word.",
                "password [redacted].",
            ),
            (
                "https://example.org/a@b:c",
                "see https://example.org/a@b:c",
                "see https://example.org/a@b:c",
            ),
            ("ghp_0123456789", "ghp_0123456789", "[redacted]"),
            ("xoxb-1-2-3-abc", "xoxb-1-2-3-abc", "[redacted]"),
            ("/usr/local/bin", "/usr/local/bin", "/usr/local/bin"),
        ] {
            assert_eq!(of("X", value).text(text), clean, "{value}");
        }
    }

    #[test]
    fn members_of_json_are_redacted_by_name_and_value() {
        let mut value = serde_json::json!({"plain-value-1": [PEM, {"a": "plain-value-1"}]});
        of("TLS", PEM).value(&mut value);
        of("K_KEY", "plain-value-1").value(&mut value);
        assert_eq!(
            value,
            serde_json::json!({"[redacted]": ["[redacted]", {"a": "[redacted]"}]})
        );
    }
}
