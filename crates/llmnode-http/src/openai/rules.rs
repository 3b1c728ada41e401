//! Which category an error of a provider belongs to, as data: one row per way to say it, the first match wins.
//!
//! The order is the point. A mark in the body is more precise than a status, except where gateways are known to
//! put the wrong mark on a telling status; a phrase counts only under the states it is known from, and never is a
//! bare number. A new provider is new words in these rows, and rows of the test's table.

use llmnode_runtime::Category::{
    self, ApiKeyError, BadRequest, BadResponse, ContentFilter, ContextLengthError, NotFound, QuotaError,
    RateLimitError, SchemaError, ServerError, Timeout,
};

/// One row: all that it names must hold.
pub(super) struct Rule {
    /// The status is one of these; a single digit stands for its class; empty: any.
    pub(super) status: &'static [u16],
    pub(super) sign: Sign,
    pub(super) category: Category,
}

/// What a row looks for in the body, in lower case.
pub(super) enum Sign {
    /// Nothing: the status says it.
    None,
    /// A code, type, state or reason that is one of these words; with a star at an end, one that begins or ends so.
    Mark(&'static str),
    /// The request's field that is at fault.
    Param(&'static str),
    /// A text that contains one of these, `|` between them. A star stands for a few words of one sentence.
    Phrase(&'static str),
}

const fn rule(status: &'static [u16], sign: Sign, category: Category) -> Rule {
    Rule { status, sign, category }
}

/// States under which a prompt that is too long has been seen, 200 with an error object included.
const TOO_LONG: &[u16] = &[2, 400, 413, 422, 429, 500, 503];
const UNPAID: &[u16] = &[2, 400, 401, 402, 403, 412, 429];
const REFUSED: &[u16] = &[2, 400, 403, 422, 451];
/// States that a server's own failure comes with: a refusal's own status says more than a mark such as `internal`.
const FAILED: &[u16] = &[2, 408, 409, 424, 429, 498, 5];

pub(super) const RULES: &[Rule] = &[
    // Marks and states that look like something else.
    rule(&[], Sign::Mark("string_above_max_length"), BadRequest),
    rule(&[413], Sign::None, ContextLengthError),
    rule(&[407], Sign::None, Category::ConfigError),
    // Marks that say it.
    rule(
        &[],
        Sign::Mark(
            "context_length_exceeded context_window_exceeded contextwindowexceedederror exceed_context_size_error \
             input_too_long model_context_window_exceeded model_max_prompt_tokens_exceeded prompt_too_long \
             request_too_large token_limit_exceeded tokens_limit_reached",
        ),
        ContextLengthError,
    ),
    rule(TOO_LONG, Sign::Param("input_tokens"), ContextLengthError),
    rule(
        &[],
        Sign::Mark(
            "accountoverdueerror allocationquota.freetieronly arrearage billing_error billing_hard_limit_reached \
             billing_not_active blocked_api_access budget_exceeded credit_balance_exhausted credit_limit \
             exceeded_current_quota_error insufficient_balance insufficient_credits insufficient_funds \
             insufficient_quota operationdenied.serviceoverdue organization_spend_limit_exceeded \
             organization_usage_limit_exceeded payment_required project_spend_limit_exceeded quotaexceeded \
             servicequotaexceededexception",
        ),
        QuotaError,
    ),
    // Google's id of the quota tells how long it lasts; the message is the same.
    rule(&[429], Sign::Mark("*perday*"), QuotaError),
    rule(&[429], Sign::Mark("*perminute* *persecond*"), RateLimitError),
    rule(
        &[],
        Sign::Mark(
            "content_filter content_moderation_failed content_policy_violation contentfilter \
             contentpolicyviolationerror data_inspection_failed datainspectionfailed flagged_input \
             image_content_policy_violation invalid_prompt moderation_blocked responsibleaipolicyviolation \
             *sensitivecontentdetected*",
        ),
        ContentFilter,
    ),
    // The provider checked the model's own answer and rejects it.
    rule(&[], Sign::Mark("json_validate_failed output_parse_failed tool_use_failed"), SchemaError),
    rule(
        &[],
        Sign::Mark(
            "deploymentnotfound invalid_model invalid_model_error invalidendpointormodel.* model_decommissioned \
             model_not_active model_not_available model_not_found model_not_supported modelnotfound unknown_model",
        ),
        NotFound,
    ),
    // Phrases, for the servers and gateways that leave no mark.
    rule(
        TOO_LONG,
        Sign::Phrase(
            "maximum context length | context length is only | context length exceeded | context length of only \
             | contextwindowexceeded | context window*exceed | exceed*context window | exceed*context length \
             | exceed*context size | exceeds the context | exceed the context | exceed context limit \
             | available context size | greater than the context length | longer than*context length \
             | longer than the maximum model length | maximum prompt length | maximum number of tokens allowed \
             | exceed*maximum input length | prompt is too long | prompt length*exceed | prompt exceeds max length \
             | prompt contains*too large for model | prompt token count*exceed | input is too long \
             | input token length too long | input tokens exceed | input token count*exceed \
             | input is too large to process | range of input length should be | `inputs` tokens + `max_new_tokens` \
             | `inputs` must have less than | exceeded model token limit | requested token count exceeds \
             | request too large for | total message size*exceeds limit | size limit exceeded by \
             | must be reduced in order to run | please reduce your message size | reduce the length of the messages \
             | reduce the length of the prompt | reduce the length of the input | max_tokens must be at least 1, got -",
        ),
        ContextLengthError,
    ),
    // A gateway that hands Google's error on leaves the id in the text.
    rule(&[429], Sign::Phrase("perdayper"), QuotaError),
    rule(&[429], Sign::Phrase("perminuteper"), RateLimitError),
    rule(
        UNPAID,
        Sign::Phrase(
            "exceeded your current quota | exceeded your monthly included credits | free allocated quota exceeded \
             | free tier of the model has been exhausted | credit balance is too low | insufficient balance \
             | insufficient credits | insufficient funds | balance is insufficient | overdue balance \
             | balance is overdue | in arrears | please recharge | out of credits | requires more credits \
             | used all available credits | doesn't have any credits | does not have any credits | credits expired \
             | billing hard limit | monthly spending limit | monthly usage limit | reached your usage limit \
             | reached your*usage limit | budget has been exceeded | key limit exceeded | limited to*calls / month \
             | free-models-per-day",
        ),
        QuotaError,
    ),
    rule(
        REFUSED,
        Sign::Phrase(
            "content management policy | content filtering policy | contentpolicyviolation | content_filter_policy \
             | content exists risk | flagged as potentially violating | input was flagged | considered high risk \
             | may contain inappropriate content | may contain sensitive information | unsafe or sensitive content \
             | violates usage guidelines | rejected as a result of our safety system",
        ),
        ContentFilter,
    ),
    rule(
        &[2, 400],
        Sign::Phrase(
            "api key not valid | api key not found | api key expired | api key*is invalid | incorrect api key \
             | invalid api key | invalid x-api-key | no api key | organization has been disabled",
        ),
        ApiKeyError,
    ),
    rule(
        &[2, 400, 422],
        Sign::Phrase(
            "invalid model name | no such model | unknown model | model*not found | model*does not exist | model not exist \
             | is not a valid model id | has been decommissioned | unexpected endpoint",
        ),
        NotFound,
    ),
    // A model without eyes or ears. The state says that the server failed, or that there is no such model.
    rule(
        &[2, 404, 5],
        Sign::Phrase(
            "image input is not supported | audio input is not supported | endpoints found that support image input \
             | endpoints found that support input audio",
        ),
        BadRequest,
    ),
    // Marks that other errors share.
    rule(
        &[],
        Sign::Mark(
            "accessdeniedexception account_deactivated api_key_invalid auth_error authentication_error \
             authenticationerror expired_api_key incorrect_api_key_error invalid_api_key invalid_authentication \
             invalid_authentication_error invalid_token invalidapikey no_access no_db_connection \
             organization_restricted permission_denied permission_denied_error permission_error token_not_found_in_db \
             unauthenticated unauthorized unrecognizedclientexception wrong_api_key",
        ),
        ApiKeyError,
    ),
    rule(&[], Sign::Mark("not_found not_found_error notfounderror resource_not_found_error"), NotFound),
    rule(
        &[],
        Sign::Mark(
            "limit_requests limit_burst_rate model_rate_limit rate_limit rate_limit_error rate_limit_exceeded \
             rate_limit_reached_error ratelimitexceeded.* ratelimitreached request_limit_exceeded resource_exhausted \
             throttling throttling.* throttling_error throttlingexception token_quota_exceeded too_many_requests \
             too_many_requests_error too_many_tokens_error toomanyrequests",
        ),
        RateLimitError,
    ),
    rule(
        FAILED,
        Sign::Mark(
            "engine_overloaded_error internal internal_error internal_server_error internalservererror \
             modelnotreadyexception overloaded overloaded_error server_error serviceunavailable service_unavailable \
             serviceunavailableexception unavailable unavailable_error",
        ),
        ServerError,
    ),
    rule(
        FAILED,
        Sign::Mark("deadline_exceeded modeltimeoutexception request_timeout timeout timeout_error"),
        Timeout,
    ),
    // The status. 424 is a failure of what stands behind, 498 Groq's word for no capacity.
    rule(&[401, 403], Sign::None, ApiKeyError),
    rule(&[402], Sign::None, QuotaError),
    rule(&[404, 405, 410], Sign::None, NotFound),
    rule(&[408, 524], Sign::None, Timeout),
    rule(&[409, 424, 498], Sign::None, ServerError),
    rule(&[429], Sign::None, RateLimitError),
    // An error in the guise of a success has nothing but words.
    rule(&[2], Sign::Phrase("rate limit | rate-limit | too many requests"), RateLimitError),
    rule(
        &[2],
        Sign::Phrase("not authorized | unauthorized | authentication fail | invalid token"),
        ApiKeyError,
    ),
    rule(&[2], Sign::Phrase("timed out | timeout"), Timeout),
    rule(&[2], Sign::Phrase("invalid param | invalid request | bad request"), BadRequest),
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
