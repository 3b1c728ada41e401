//! What failed between this program and a server, as opposed to what a server answers.
//!
//! A transport knows why a request failed: the status, what the server wrote,
//! whether the request can have arrived. rmcp would hand that on within errors of
//! its own, by the names of its types. So a failure travels as the answer to its
//! request: an error of JSON-RPC under a mark of ours, which no server can send
//! since [`message`](crate::message) removes what errors carry. Where the request
//! was made, [`Failure::of`] takes it out again.

use std::error::Error;

use llmnode_runtime::Category;
use rmcp::model::{ErrorCode, ErrorData, ProtocolVersion};
use rmcp::service::{ClientInitializeError, ServiceError};
use serde_json::{Value, json};

const MARK: &str = "llmnode";

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failure {
    pub(crate) category: Category,
    /// What the server did, to follow "the server": `refused the request`.
    pub(crate) what: String,
    pub(crate) why: String,
    /// Whether the server may have acted on the request.
    pub(crate) may_have_run: bool,
    /// Whether the next request needs a new connection.
    pub(crate) is_lost: bool,
}

impl Failure {
    /// The connection broke off, so that nobody knows what became of the request.
    pub(crate) fn lost(why: impl Into<String>) -> Failure {
        Failure {
            category: Category::Network,
            what: "was lost".to_owned(),
            why: why.into(),
            may_have_run: true,
            is_lost: true,
        }
    }

    /// The server answered, and nobody can read it.
    pub(crate) fn unreadable(what: &str, why: impl Into<String>) -> Failure {
        Failure {
            category: Category::BadResponse,
            what: what.to_owned(),
            why: why.into(),
            may_have_run: true,
            is_lost: false,
        }
    }

    pub(crate) fn unsent(self) -> Failure {
        Failure {
            may_have_run: false,
            ..self
        }
    }

    /// `server/discover` that fails so is not followed by the older handshake,
    /// which would fail in the same way.
    fn is_final(&self) -> bool {
        use Category::{ApiKeyError, Network, QuotaError, RateLimitError};
        matches!(
            self.category,
            ApiKeyError | Network | QuotaError | RateLimitError
        )
    }

    pub(crate) fn into_error(self) -> ErrorData {
        // rmcp takes the first for one that a server of the new protocol refused,
        // the second for one of an older server.
        let code = if self.is_final() {
            ErrorCode::HEADER_MISMATCH
        } else {
            ErrorCode::INTERNAL_ERROR
        };
        let marked = json!({
            "category": self.category.as_str(),
            "why": self.why,
            "may_have_run": self.may_have_run,
            "is_lost": self.is_lost,
        });
        ErrorData::new(code, self.what, Some(json!({ MARK: marked })))
    }

    pub(crate) fn of(error: &ErrorData) -> Option<Failure> {
        let marked = error.data.as_ref()?.get(MARK)?;
        let category = marked["category"].as_str()?;
        Some(Failure {
            category: *Category::ALL.iter().find(|one| one.as_str() == category)?,
            what: error.message.to_string(),
            why: marked["why"].as_str()?.to_owned(),
            may_have_run: marked["may_have_run"] == Value::Bool(true),
            is_lost: marked["is_lost"] == Value::Bool(true),
        })
    }

    /// For the model whose call it was.
    pub(crate) fn of_a_call(&self) -> String {
        let ran = if self.may_have_run {
            "it may have been executed"
        } else {
            "it was not executed"
        };
        format!(
            "the server of this tool {}, and {ran}{}",
            self.what,
            self.because()
        )
    }

    /// For the program that connects.
    pub(crate) fn of_a_connection(&self) -> String {
        format!("it {}{}", self.what, self.because())
    }

    fn because(&self) -> String {
        if self.why.is_empty() {
            String::new()
        } else {
            format!(": {}", self.why)
        }
    }
}

/// Why a handshake failed.
pub(crate) fn of_handshake(error: &ClientInitializeError) -> Failure {
    match error {
        ClientInitializeError::JsonRpcError(error) => of_answer(error),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => of_handshake(fallback),
        ClientInitializeError::ConnectionClosed(_) => Failure {
            what: "closed the connection".to_owned(),
            ..Failure::lost("")
        },
        ClientInitializeError::TransportError { error, .. } => {
            Failure::lost(innermost(&*error.error))
        }
        ClientInitializeError::NoCompatibleProtocolVersion {
            server_supported, ..
        } => Failure {
            category: Category::BadRequest,
            what: "speaks other versions of the protocol".to_owned(),
            ..Failure::lost(list_of(server_supported))
        },
        _ => Failure::unreadable("does not answer as a server of MCP does", ""),
    }
}

fn list_of(versions: &[ProtocolVersion]) -> String {
    let versions: Vec<&str> = versions.iter().map(ProtocolVersion::as_str).collect();
    if versions.is_empty() {
        "it names none".to_owned()
    } else {
        versions.join(", ")
    }
}

/// Whether a server may have failed because it was asked for what only newer ones know.
pub(crate) fn may_be_older(error: &ClientInitializeError) -> bool {
    use ClientInitializeError as E;
    !matches!(
        error,
        E::JsonRpcError(_) | E::LegacyFallbackFailed { .. } | E::Cancelled
    )
}

/// Why a request of a connection failed.
pub(crate) fn of_service(error: &ServiceError) -> Failure {
    match error {
        ServiceError::McpError(error) => of_answer(error),
        ServiceError::TransportSend(error) => Failure::lost(innermost(&*error.error)),
        ServiceError::UnexpectedResponse => Failure::unreadable(
            "answered with something that is no answer to this request",
            "",
        ),
        _ => Failure::lost("its connection was closed"),
    }
}

fn of_answer(error: &ErrorData) -> Failure {
    Failure::of(error).unwrap_or_else(|| Failure {
        category: Category::BadRequest,
        what: "refused the request".to_owned(),
        is_lost: false,
        ..Failure::lost(error.message.to_string()).unsent()
    })
}

/// The outer ones name types of a library.
fn innermost(error: &(dyn Error + Send + Sync + 'static)) -> String {
    let mut error: &(dyn Error + 'static) = error;
    while let Some(cause) = error.source() {
        error = cause;
    }
    error.to_string()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_failure_comes_back_out_of_the_error_that_carries_it() {
        for failure in [
            Failure::lost("reset"),
            Failure::unreadable("answered with a web page", "").unsent(),
        ] {
            assert_eq!(Failure::of(&failure.clone().into_error()).unwrap(), failure);
        }
        assert_eq!(Failure::of(&ErrorData::internal_error("no", None)), None);
    }
}
