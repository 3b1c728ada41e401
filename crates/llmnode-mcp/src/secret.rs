//! What no text of a server may show: the token, keys in its URL, and keys in the
//! environment of its program.
//!
//! A server repeats them in errors, in results and in its log. Other values of the
//! environment, such as a folder, stand in honest results, too: only the log is
//! without them.

use llmnode_http::ext::PlainClient;
use llmnode_model::ext::{Secret, is_credential, is_credential_value, redact_secrets};

use crate::connection::Transport;
use crate::process::Program;

pub(crate) struct Secrets(Vec<Secret>);

impl Secrets {
    pub(crate) fn of(transport: &Transport) -> Secrets {
        match transport {
            Transport::Stdio(program) => Secrets(of_program(program)),
            Transport::Http { url, token } => {
                let mut secrets = PlainClient::credentials(url);
                let token = token.as_ref().map(|variable| token_from_env(variable));
                secrets.extend(token.and_then(Result::ok));
                Secrets(secrets)
            }
        }
    }

    /// The text without them, however they are written in it.
    pub(crate) fn redact(&self, text: &str) -> String {
        redact_secrets(text.to_owned(), &self.0)
    }
}

/// By the variable's name, or by what its value looks like.
fn of_program(program: &Program) -> Vec<Secret> {
    let mut secrets = Vec::new();
    for (name, value) in &program.environment {
        let Some(value) = value.to_str() else {
            continue;
        };
        if is_credential(&name.to_string_lossy()) || is_credential_value(value) {
            secrets.push(Secret::new(value));
        }
    }
    secrets
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
