//! The token of an HTTP server, which is redacted from all texts.

use std::fmt;

#[derive(Clone)]
pub(crate) struct Token(String);

impl Token {
    pub(crate) fn from_env(variable: &str) -> Result<Self, String> {
        match std::env::var(variable) {
            Ok(token) if !token.trim().is_empty() => Ok(Token(token.trim().to_owned())),
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
        &self.0
    }

    pub(crate) fn redact(&self, text: &str) -> String {
        text.replace(&self.0, "[redacted]")
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[redacted]")
    }
}
