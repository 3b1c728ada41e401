//! What a client learns when a request fails.

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use llmnode::Violation;
use llmnode::prelude::*;
use serde_json::json;

/// An error as a response. What the provider wrote goes to the log alone.
pub enum Problem {
    UnknownTenant,
    Call(NodeError),
    /// What was read from the client's text is not valid.
    Text(NodeError),
}

impl Problem {
    /// Of a call that reads a text of the client's.
    pub fn of_text(self) -> Problem {
        match self {
            Problem::Call(error) if violations(&error).is_some() => Problem::Text(error),
            other => other,
        }
    }
}

/// What is wrong with the answer, each with its path. `None`: the call failed by something else.
pub fn violations(error: &NodeError) -> Option<&[Violation]> {
    match error.category() {
        Category::SchemaError | Category::ValidationError => {
            Some(&error.attempts().last()?.violations)
        }
        _ => None,
    }
}

impl From<NodeError> for Problem {
    fn from(error: NodeError) -> Self {
        Problem::Call(error)
    }
}

/// The status for each category, and a sentence for the client.
pub fn status_of(category: Category) -> (StatusCode, &'static str) {
    use Category::*;
    match category {
        RateLimitError | QuotaError | LimitExceeded => (
            StatusCode::SERVICE_UNAVAILABLE,
            "the service is busy; try again later",
        ),
        ServerError | Network => (
            StatusCode::BAD_GATEWAY,
            "the model is not available; try again later",
        ),
        Timeout => (
            StatusCode::GATEWAY_TIMEOUT,
            "the model did not answer in time; try again later",
        ),
        SchemaError | ValidationError | EmptyResponse | TruncatedOutput | BadResponse => {
            (StatusCode::BAD_GATEWAY, "the model gave no usable answer")
        }
        ContextLengthError => (StatusCode::PAYLOAD_TOO_LARGE, "the ticket is too long"),
        ContentFilter | Refusal => (
            StatusCode::UNPROCESSABLE_ENTITY,
            "the model declines to handle this ticket",
        ),
        Conflict => (
            StatusCode::CONFLICT,
            "this chat is being answered, or waits for a decision; try again later",
        ),
        Paused => (StatusCode::ACCEPTED, "this waits for a person's decision"),
        // Ours to mend: the key, the model's name, the request, the program.
        _ => (
            StatusCode::INTERNAL_SERVER_ERROR,
            "the service has a fault; its operators see it in the log",
        ),
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (error, violations) = match self {
            Problem::UnknownTenant => {
                return (
                    StatusCode::NOT_FOUND,
                    Json(json!({"error": "unknown_tenant"})),
                )
                    .into_response();
            }
            Problem::Call(error) => (error, None),
            Problem::Text(error) => {
                let found = violations(&error).map(<[Violation]>::to_vec);
                (error, found)
            }
        };
        let call = error.record().map(|record| record.id.to_string());
        tracing::error!(call, "{error}");
        let (status, message) = match violations {
            Some(_) => (StatusCode::UNPROCESSABLE_ENTITY, "the text is not valid"),
            None => status_of(error.category()),
        };
        let mut body = json!({
            "error": error.category(),
            "message": message,
            "call": call,
            "cost": error.usage().cost,
        });
        if let Some(violations) = violations {
            body["violations"] = json!(violations);
        }
        let mut response = (status, Json(body)).into_response();
        if let Some(wait) = error.retry_after() {
            let seconds = wait.as_secs_f64().ceil() as u64;
            response
                .headers_mut()
                .insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}
