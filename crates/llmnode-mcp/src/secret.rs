//! What no text of a server may show: the token, keys in its URL, and keys in the
//! environment of its program.
//!
//! A server repeats them in errors, in results and in its log. Other values of the
//! environment, such as a folder, stand in honest results, too: only the log is
//! without them.

use std::ffi::OsString;
use std::path::Path;

use llmnode_http::ext::PlainClient;
use llmnode_model::ext::{Secret, is_credential, is_credential_value, redact_secrets};

/// Shorter values are hardly keys.
const SHORTEST_KEY: usize = 8;

pub(crate) struct Secrets(Vec<Secret>);

impl Secrets {
    /// The keys in a URL, and the token in this variable of our own environment.
    pub(crate) fn of_url(url: &str, token: Option<&str>) -> Secrets {
        let mut secrets = PlainClient::credentials(url);
        secrets.extend(token.map(token_from_env).and_then(Result::ok));
        Secrets(secrets)
    }

    /// By the variable's name, or by what its value looks like.
    pub(crate) fn of_environment(variables: &[(OsString, OsString)]) -> Secrets {
        let mut secrets = Vec::new();
        for (name, value) in variables {
            let Some(value) = value.to_str() else {
                continue;
            };
            let is_key = is_credential(&name.to_string_lossy()) && !is_setting(value);
            if is_key || is_credential_value(value) {
                secrets.push(Secret::new(value));
            }
        }
        Secrets(secrets)
    }

    /// The text without them, however they are written in it.
    pub(crate) fn redact(&self, text: &str) -> String {
        redact_secrets(text.to_owned(), &self.0)
    }
}

/// A switch, a number or a file beside a name such as `AUTH_ENABLED` or `KEY_FILE`. A
/// key may begin with a slash, too, so the file has to be there.
fn is_setting(value: &str) -> bool {
    let path = Path::new(value);
    value.len() < SHORTEST_KEY || (path.is_absolute() && path.exists())
}

pub(crate) fn token_from_env(variable: &str) -> Result<Secret, String> {
    match std::env::var(variable) {
        Ok(token) if !token.trim().is_empty() => Ok(Secret::new(token.trim())),
        Ok(_) => Err(format!("the environment variable {variable} is empty")),
        Err(std::env::VarError::NotPresent) => {
            Err(format!("the environment variable {variable} is not set"))
        }
        Err(std::env::VarError::NotUnicode(_)) => Err(format!(
            "the environment variable {variable} is not valid Unicode"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_beside_names_of_keys_stay() {
        let folder = std::env::temp_dir().to_string_lossy().into_owned();
        let variables = [
            ("AUTH_ENABLED", "true"),
            ("TOKEN_LIMIT", "4096"),
            ("PWD", &*folder),
            ("API_KEY", "/k+0123456789"),
            ("HOST", "ghp_0123456789abcdefghij"),
        ];
        let variables = variables.map(|(name, value)| (name.into(), value.into()));
        let secrets = Secrets::of_environment(&variables);
        let told = format!("true 4096 {folder} /k+0123456789 ghp_0123456789abcdefghij");
        let shown = format!("true 4096 {folder} [redacted] [redacted]");
        assert_eq!(secrets.redact(&told), shown);
    }
}
