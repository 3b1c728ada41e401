//! Which category an error of a provider belongs to, as data: one row per way to say it, the first match wins.
//!
//! The order is the point. A mark in the body is more precise than a status, except where gateways are known to
//! put the wrong mark on a telling status; a phrase counts only under the states it is known from, and never is a bare number.

use crate::category::Category::{
    self, ApiKeyError, BadRequest, BadResponse, ContentFilter, ContextLengthError, NotFound, QuotaError,
    RateLimitError, SchemaError, ServerError, Timeout,
};

/// One row: all that it names must hold.
pub(super) struct Rule {
    /// The status is one of these; empty: any.
    pub(super) status: &'static [u16],
    pub(super) sign: Sign,
    pub(super) category: Category,
}

/// What a row looks for in the body, in lower case.
pub(super) enum Sign {
    /// Nothing: the status says it.
    None,
    /// A code, type, state or reason that is one of these words.
    Mark(&'static [&'static str]),
    /// A code, type, state or reason that contains this.
    MarkPart(&'static str),
    /// The request's field that is at fault.
    Param(&'static str),
    /// A text that contains one of these.
    Phrase(&'static [&'static str]),
}

const fn rule(status: &'static [u16], sign: Sign, category: Category) -> Rule {
    Rule { status, sign, category }
}

/// States under which a prompt that is too long has been seen, 200 with an error object included.
const TOO_LONG: &[u16] = &[200, 400, 413, 422, 429, 500, 503];
const REFUSED: &[u16] = &[200, 400, 403, 422];

pub(super) const RULES: &[Rule] = &[
    // Marks and states that look like something else.
    rule(&[], Sign::Mark(&["string_above_max_length"]), BadRequest),
    rule(&[413], Sign::None, ContextLengthError),
    rule(&[407], Sign::None, BadResponse),
    // Marks that say it.
    rule(
        &[],
        Sign::Mark(&[
            "context_length_exceeded",
            "exceed_context_size_error",
            "context_window_exceeded",
            "model_max_prompt_tokens_exceeded",
            "request_too_large",
            "token_limit_exceeded",
        ]),
        ContextLengthError,
    ),
    rule(TOO_LONG, Sign::Param("input_tokens"), ContextLengthError),
    rule(
        &[],
        Sign::Mark(&[
            "insufficient_quota",
            "billing_hard_limit_reached",
            "billing_not_active",
            "credit_balance_exhausted",
            "exceeded_current_quota_error",
            "insufficient_balance",
            "insufficient_credits",
            "organization_spend_limit_exceeded",
            "organization_usage_limit_exceeded",
            "project_spend_limit_exceeded",
        ]),
        QuotaError,
    ),
    rule(&[429], Sign::MarkPart("perday"), QuotaError),
    rule(
        &[],
        Sign::Mark(&[
            "content_filter",
            "content_policy_violation",
            "contentfilter",
            "data_inspection_failed",
            "invalid_prompt",
            "moderation_blocked",
            "responsibleaipolicyviolation",
        ]),
        ContentFilter,
    ),
    // The provider checked the model's own answer and rejects it.
    rule(&[], Sign::Mark(&["tool_use_failed", "json_validate_failed"]), SchemaError),
    rule(&[], Sign::Mark(&["model_not_found", "deploymentnotfound", "unknown_model"]), NotFound),
    // Phrases, for the servers and gateways that leave no mark.
    rule(
        TOO_LONG,
        Sign::Phrase(&[
            "maximum context length",
            "context length is only",
            "maximum prompt length",
            "maximum number of tokens allowed",
            "prompt is too long",
            "input is too long",
            "request too large for",
            "contextwindowexceeded",
            "available context size",
            "exceeds the context",
            "exceed the context",
            "reduce the length of the messages",
            "reduce the length of the prompt",
            "reduce the length of the input",
            "input tokens exceed",
            "`inputs` tokens + `max_new_tokens`",
        ]),
        ContextLengthError,
    ),
    rule(
        &[200, 400, 402, 403, 429],
        Sign::Phrase(&[
            "exceeded your current quota",
            "credit balance is too low",
            "insufficient balance",
            "insufficient credits",
            "requires more credits",
            "billing hard limit",
        ]),
        QuotaError,
    ),
    rule(
        REFUSED,
        Sign::Phrase(&[
            "content management policy",
            "contentpolicyviolation",
            "flagged as potentially violating",
            "data may contain inappropriate content",
            "rejected as a result of our safety system",
        ]),
        ContentFilter,
    ),
    rule(
        &[200, 400],
        Sign::Phrase(&["api key not valid", "incorrect api key", "invalid api key", "api key expired"]),
        ApiKeyError,
    ),
    rule(
        &[400],
        Sign::Phrase(&["invalid model name", "model not found", "is not a valid model id"]),
        NotFound,
    ),
    // Marks that other errors share.
    rule(
        &[],
        Sign::Mark(&[
            "account_deactivated",
            "api_key_invalid",
            "authentication_error",
            "expired_api_key",
            "invalid_api_key",
            "invalid_authentication",
            "no_db_connection",
            "permission_denied",
            "permission_error",
            "unauthenticated",
        ]),
        ApiKeyError,
    ),
    rule(&[], Sign::Mark(&["not_found_error", "not_found"]), NotFound),
    rule(
        &[],
        Sign::Mark(&[
            "model_rate_limit",
            "rate_limit_error",
            "rate_limit_exceeded",
            "resource_exhausted",
            "throttling_error",
            "token_quota_exceeded",
            "too_many_requests",
            "too_many_tokens_error",
        ]),
        RateLimitError,
    ),
    rule(
        &[],
        Sign::Mark(&[
            "engine_overloaded_error",
            "internal",
            "internal_error",
            "internal_server_error",
            "overloaded_error",
            "server_error",
            "service_unavailable",
            "unavailable",
            "unavailable_error",
        ]),
        ServerError,
    ),
    rule(&[], Sign::Mark(&["timeout", "timeout_error", "deadline_exceeded"]), Timeout),
    // The status.
    rule(&[401, 403], Sign::None, ApiKeyError),
    rule(&[402], Sign::None, QuotaError),
    rule(&[404, 405, 410], Sign::None, NotFound),
    rule(&[408, 524], Sign::None, Timeout),
    rule(&[409], Sign::None, ServerError),
    rule(&[429], Sign::None, RateLimitError),
];

/// The category of a status that no row names.
pub(super) fn by_class(status: u16) -> Category {
    match status {
        // An error object that came with a success, or a server's own failure.
        200..=299 | 500.. => ServerError,
        400..=499 => BadRequest,
        _ => BadResponse,
    }
}
