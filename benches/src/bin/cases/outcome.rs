//! The categories that a program can tell from what async-openai gives it: a fair reading, by code, type and status.

use async_openai::error::{ApiErrorResponse, OpenAIError};
use async_openai::types::chat::{CreateChatCompletionResponse, FinishReason};

/// What an answer is; the typed one is `{"a": integer}`.
pub(crate) fn judge(answer: &CreateChatCompletionResponse, is_text: bool) -> &'static str {
    let Some(choice) = answer.choices.first() else {
        return "empty_response";
    };
    if choice
        .message
        .refusal
        .as_ref()
        .is_some_and(|refusal| !refusal.is_empty())
    {
        return "refusal";
    }
    let text = choice.message.content.as_deref().unwrap_or_default();
    let is_read = is_text
        || serde_json::from_str::<serde_json::Value>(text)
            .is_ok_and(|value| value["a"].as_i64().is_some());
    match choice.finish_reason {
        Some(FinishReason::ContentFilter) => "content_filter",
        Some(FinishReason::Length) if text.trim().is_empty() || !is_read => "truncated_output",
        _ if text.trim().is_empty() => "empty_response",
        _ if is_read => "ok",
        _ => "schema_error",
    }
}

/// What an error is.
pub(crate) fn category(error: &OpenAIError) -> &'static str {
    match error {
        OpenAIError::ApiError(error) => by_error(error),
        OpenAIError::Reqwest(error) if error.is_timeout() => "timeout",
        OpenAIError::Reqwest(error) if error.is_builder() => "api_key_error",
        OpenAIError::Reqwest(error) => error
            .status()
            .map_or("network", |status| by_status(status.as_u16())),
        OpenAIError::InvalidArgument(_) => "config_error",
        _ => "bad_response",
    }
}

fn by_error(error: &ApiErrorResponse) -> &'static str {
    let marks = [&error.api_error.code, &error.api_error.r#type];
    let is = |word: &str| marks.iter().any(|mark| mark.as_deref() == Some(word));
    let words = [
        ("insufficient_quota", "quota_error"),
        ("context_length_exceeded", "context_length_error"),
        ("content_filter", "content_filter"),
        ("content_policy_violation", "content_filter"),
        ("invalid_prompt", "content_filter"),
        ("invalid_api_key", "api_key_error"),
        ("authentication_error", "api_key_error"),
        ("model_not_found", "not_found"),
    ];
    let known = words
        .iter()
        .find(|(word, _)| is(word))
        .map(|(_, category)| *category);
    known.unwrap_or_else(|| by_status(error.status_code.as_u16()))
}

fn by_status(status: u16) -> &'static str {
    match status {
        401 | 403 => "api_key_error",
        402 => "quota_error",
        404 => "not_found",
        408 => "timeout",
        413 => "context_length_error",
        429 => "rate_limit_error",
        500.. => "server_error",
        400..=499 => "bad_request",
        _ => "bad_response",
    }
}
