//! The token of an HTTP server, which is redacted from all texts.

use llmnode_model::ext::{Secret, redact_secrets};

#[derive(Clone, Debug)]
pub(crate) struct Token(Secret);

impl Token {
    pub(crate) fn from_env(variable: &str) -> Result<Self, String> {
        match std::env::var(variable) {
            Ok(token) if !token.trim().is_empty() => Ok(Token(Secret::new(token.trim()))),
            Ok(_) => Err(format!("the environment variable {variable} is empty")),
            Err(std::env::VarError::NotPresent) => {
                Err(format!("the environment variable {variable} is not set"))
            }
            Err(std::env::VarError::NotUnicode(_)) => Err(format!(
                "the environment variable {variable} is not valid Unicode"
            )),
        }
    }

    pub(crate) fn reveal(&self) -> &str {
        self.0.reveal()
    }

    /// Servers repeat it as it is, in JSON, in URLs and in base64.
    pub(crate) fn redact(&self, text: &str) -> String {
        redact_secrets(text.to_owned(), std::slice::from_ref(&self.0))
    }
}
