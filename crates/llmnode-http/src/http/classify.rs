//! Assigns an error response to a category.
//!
//! The rules are a table (`rules.rs`), and the first row that holds decides. Rows
//! go by what is surest: exact codes, then words of codes, then the text, at last
//! the status alone. A status that a gateway puts around the provider's is replaced
//! by the inner one.

use llmnode_model::Category;

use super::error_body::ErrorBody;
use super::rules::{BodyPattern, EXCLUDED_WORDS, RULES, Rule, by_class};

/// The text is compared in lower case, with what it quotes of the prompt taken out
/// before.
pub(crate) fn classify(status: u16, body: &ErrorBody) -> Category {
    // A gateway may report an upstream failure as a success, as its own failure, or
    // as a bad request.
    let status = match body.status {
        Some(inner) if status < 300 || (inner < 500 && matches!(status, 400 | 500..)) => inner,
        _ => status,
    };
    let text = body.message.to_lowercase();
    let row = RULES
        .iter()
        .find(|rule| rule_applies(rule, status, body, &text));
    row.map_or_else(|| by_class(status), |rule| rule.category)
}

/// A row without a status holds for all; `5` stands for all of `5xx`.
fn rule_applies(rule: &Rule, status: u16, body: &ErrorBody, text: &str) -> bool {
    let is_listed = rule
        .status
        .iter()
        .any(|listed| *listed == status || *listed == status / 100);
    let has_status = rule.status.is_empty() || is_listed;
    has_status && matches_body(&rule.pattern, body, text)
}

/// What the row asks of the body.
fn matches_body(pattern: &BodyPattern, body: &ErrorBody, text: &str) -> bool {
    match pattern {
        BodyPattern::None => true,
        BodyPattern::Field(words) => words.split(' ').any(|word| has_field(body, word)),
        BodyPattern::Words(lists, part) => {
            let has_code = body.codes.iter().any(|code| is_code_of(code, lists));
            has_code && text.contains(part)
        }
        BodyPattern::Param(param) => body.param.as_deref() == Some(param),
        BodyPattern::Word(words) => words.iter().any(|word| has_word(text, word)),
        BodyPattern::Phrase(phrases) => phrases.iter().any(|phrase| text.contains(phrase)),
    }
}

fn has_field(body: &ErrorBody, word: &str) -> bool {
    body.fields.iter().any(|field| is(field, word))
}

/// Whether a code has a word of each list, and none that would make it another one.
fn is_code_of(code: &[String], lists: &[&str]) -> bool {
    let has_all = lists.iter().all(|words| has_any(code, words));
    has_all && !has_any(code, EXCLUDED_WORDS)
}

/// One of `words`, which spaces separate, is among those of a code.
fn has_any(code: &[String], words: &str) -> bool {
    words
        .split(' ')
        .any(|word| code.iter().any(|part| part == word))
}

/// Chinese has no spaces between words.
fn has_word(text: &str, word: &str) -> bool {
    let is_word = text
        .split(|c: char| !c.is_alphanumeric())
        .any(|part| part == word);
    is_word || (!word.is_ascii() && text.contains(word))
}

/// `*rate*`: a part of the field.
fn is(field: &str, word: &str) -> bool {
    let part = word
        .strip_prefix('*')
        .and_then(|word| word.strip_suffix('*'));
    part.map_or(field == word, |part| field.contains(part))
}

#[cfg(test)]
mod tests {
    use llmnode_model::Category::*;

    use super::*;

    fn of(status: u16, body: &str) -> Category {
        classify(status, &ErrorBody::read(body.as_bytes()))
    }

    /// One `{"error": ..}` body.
    fn error(message: &str, kind: &str, code: &str) -> String {
        serde_json::json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
            .to_string()
    }

    #[test]
    fn the_status_alone() {
        for (status, category) in [
            (400, BadRequest),
            (401, ApiKeyError),
            (402, QuotaError),
            (403, ApiKeyError),
            (404, NotFound),
            (405, NotFound),
            (407, ConfigError),
            (408, Timeout),
            (409, ServerError),
            (413, ContextLengthError),
            (415, BadRequest),
            (422, BadRequest),
            (425, BadRequest),
            (429, RateLimitError),
            (451, BadRequest),
            (500, ServerError),
            (501, BadRequest),
            (502, ServerError),
            (503, ServerError),
            (504, ServerError),
            (520, ServerError),
            (524, Timeout),
            (529, ServerError),
            (304, BadResponse),
            (999, ServerError),
        ] {
            assert_eq!(of(status, ""), category, "{status}");
            assert_eq!(
                of(status, "<html><h1>sorry</h1></html>"),
                category,
                "{status} with a page"
            );
        }
    }

    #[test]
    fn marks_beat_the_status() {
        for (status, body, category) in [
            (
                429,
                error(
                    "You exceeded your plan",
                    "insufficient_quota",
                    "insufficient_quota",
                ),
                QuotaError,
            ),
            (
                429,
                error("slow down", "requests", "rate_limit_exceeded"),
                RateLimitError,
            ),
            (
                429,
                error(
                    "Extra usage is required for long context requests.",
                    "rate_limit_error",
                    "",
                ),
                ContextLengthError,
            ),
            (
                400,
                error(
                    "too long",
                    "invalid_request_error",
                    "context_length_exceeded",
                ),
                ContextLengthError,
            ),
            (
                400,
                error("no", "invalid_request_error", "content_policy_violation"),
                ContentFilter,
            ),
            (
                400,
                error("tool failed", "invalid_request_error", "tool_use_failed"),
                SchemaError,
            ),
            (
                403,
                error(
                    "no access to model x",
                    "invalid_request_error",
                    "model_not_found",
                ),
                NotFound,
            ),
            (
                500,
                error("too big", "exceed_context_size_error", "500"),
                ContextLengthError,
            ),
            (
                503,
                error("loading", "unavailable_error", "503"),
                ServerError,
            ),
            (
                413,
                error("too large, please reduce", "tokens", "rate_limit_exceeded"),
                ContextLengthError,
            ),
        ] {
            assert_eq!(of(status, &body), category, "{status} {body}");
        }
    }

    #[test]
    fn a_status_within_the_body_counts_under_a_gateways_own() {
        let wrapped = r#"{"error":{"code":429,"message":"quota metric exhausted","status":"RESOURCE_EXHAUSTED"}}"#;
        assert_eq!(of(503, wrapped), RateLimitError);
        assert_eq!(
            of(200, r#"{"error":{"message":"upstream","code":429}}"#),
            RateLimitError
        );
        assert_eq!(of(200, r#"{"error":{"message":"upstream"}}"#), ServerError);
        // ... but not against a refusal's own status.
        assert_eq!(
            of(
                401,
                r#"{"error":{"message":"Invalid API Key","type":"t","code":500}}"#
            ),
            ApiKeyError
        );
    }

    /// LiteLLM replaces codes and types, and leaves the class of the error in its text.
    #[test]
    fn litellm() {
        for (status, kind, message, category) in [
            (
                401,
                "authentication_error",
                "litellm.AuthenticationError: no",
                ApiKeyError,
            ),
            (
                429,
                "throttling_error",
                "litellm.RateLimitError: slow down",
                RateLimitError,
            ),
            (
                429,
                "throttling_error",
                "litellm.RateLimitError: You exceeded your current quota, please check",
                QuotaError,
            ),
            (
                400,
                "invalid_request_error",
                "litellm.ContextWindowExceededError: x",
                ContextLengthError,
            ),
            (
                400,
                "invalid_request_error",
                "litellm.ContentPolicyViolationError: x",
                ContentFilter,
            ),
            (
                400,
                "invalid_request_error",
                "Invalid model name passed in model=nope",
                NotFound,
            ),
            (400, "no_db_connection", "No connected db.", ApiKeyError),
            (
                500,
                "internal_server_error",
                "litellm.InternalServerError",
                ServerError,
            ),
        ] {
            assert_eq!(
                of(status, &error(message, kind, &status.to_string())),
                category,
                "{message}"
            );
        }
    }

    #[test]
    fn the_words_of_a_code_say_what_is_spent() {
        for code in [
            "INSUFFICIENT_MODEL_CREDITS_ERROR",
            "insufficient_funds",
            "insufficient-user-quota",
            "Account.InsufficientBalance",
            "NOT_ENOUGH_BALANCE",
            "CreditsError",
            "MonthlySpendLimitExceeded",
        ] {
            for status in [400, 401, 403, 429, 500, 503] {
                assert_eq!(
                    of(status, &error("no", "x", code)),
                    QuotaError,
                    "{status} {code}"
                );
                assert_eq!(
                    of(status, &error("no", code, "x")),
                    QuotaError,
                    "{status} {code}"
                );
                let reason =
                    serde_json::json!({"error": {"message": "no", "reason": code}}).to_string();
                assert_eq!(of(status, &reason), QuotaError, "{status} {code}");
                assert_eq!(
                    of(status, &serde_json::json!({"error": code}).to_string()),
                    QuotaError,
                    "{code}"
                );
            }
        }
        let paused = "the limit that you set is reached, and the model has been paused";
        assert_eq!(
            of(429, &error(paused, "TooManyRequests", "SetLimitExceeded")),
            QuotaError
        );
        assert_eq!(
            of(
                429,
                &error("slow down", "TooManyRequests", "SetLimitExceeded")
            ),
            RateLimitError
        );
        assert_eq!(
            of(
                429,
                &error(paused, "TooManyRequests", "RpmRateLimitExceeded")
            ),
            RateLimitError
        );
    }

    #[test]
    fn the_words_of_a_code_say_what_is_filtered() {
        for code in [
            "CONTENT_MODERATION_BLOCKED",
            "output_content_filtered",
            "ContentSafetyPolicyViolation",
            "moderation_blocked",
            "PROHIBITED_CONTENT",
        ] {
            for status in [200, 400, 403, 500, 503] {
                assert_eq!(
                    of(status, &error("no", "x", code)),
                    ContentFilter,
                    "{status} {code}"
                );
            }
        }
    }

    #[test]
    fn other_codes_with_these_words_are_what_they_were() {
        for (status, code, category) in [
            (403, "insufficient_permissions", ApiKeyError),
            (503, "insufficient_system_resource", ServerError),
            (503, "load_balancer_error", ServerError),
            (429, "token_quota_exceeded", RateLimitError),
            (429, "spend_rate_limit_exceeded", RateLimitError),
            (400, "thinking_budget_exceeded", BadRequest),
            (400, "invalid_content_type", BadRequest),
            (400, "content_length_required", BadRequest),
            (503, "moderation_unavailable", ServerError),
            (503, "content_filter_timeout", ServerError),
        ] {
            assert_eq!(
                of(status, &error("no", "x", code)),
                category,
                "{status} {code}"
            );
        }
        // A text in place of a code may quote the prompt.
        let quoted = serde_json::json!({"error": "unknown word: insufficient_credits"}).to_string();
        assert_eq!(of(400, &quoted), BadRequest);
    }

    /// What providers, servers and gateways are known to send, one row each (W12).
    #[test]
    fn the_errors_of_many_servers() {
        for line in include_str!("errors.jsonl").lines() {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            let body = row["body"]
                .as_str()
                .map_or_else(|| row["body"].to_string(), str::to_owned);
            let status = row["status"].as_u64().unwrap() as u16;
            assert_eq!(of(status, &body).as_str(), row["category"], "{line}");
            let is_of_somebody = !matches!(row["who"].as_str(), Some("plain text" | "empty"));
            assert_eq!(row["source"].is_string(), is_of_somebody, "{line}");
            // An error object is recognised even with a status of success.
            assert!(
                status != 200 || crate::http::error_body::is_error(body.as_bytes()),
                "{line}"
            );
        }
    }

    /// The codes of a response that failed, which comes as a success:
    /// openai-python's response_error.py.
    #[test]
    fn a_response_that_failed() {
        for (code, category) in [
            ("server_error", ServerError),
            ("vector_store_timeout", ServerError),
            ("rate_limit_exceeded", RateLimitError),
            ("invalid_prompt", ContentFilter),
            ("bio_policy", ContentFilter),
            ("misalignment_policy_violation", ContentFilter),
            ("image_content_policy_violation", ContentFilter),
            ("invalid_image_url", BadRequest),
            ("image_parse_error", BadRequest),
            ("failed_to_download_image", BadRequest),
            ("data_residency_mismatch", BadRequest),
        ] {
            let body = serde_json::json!({
                "status": "failed", "error": {"code": code, "message": "no"}, "output": [],
                "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15},
            });
            assert_eq!(of(200, &body.to_string()), category, "{code}");
            let (usage, _) = ErrorBody::read(body.to_string().as_bytes()).usage;
            assert_eq!(
                usage.map(|usage| (usage.input, usage.output)),
                Some((Some(10), Some(5)))
            );
        }
    }

    #[test]
    fn fields_come_before_phrases() {
        for (status, kind, message, category) in [
            (
                429,
                "rate_limit_exceeded",
                "the maximum context length of your tier is 5 a minute",
                RateLimitError,
            ),
            (
                401,
                "invalid_request_error",
                "input is too long",
                ApiKeyError,
            ),
            (
                403,
                "permission_error",
                "Your credit balance is too low",
                QuotaError,
            ),
            (
                403,
                "permission_error",
                "The load balancer denied it",
                ApiKeyError,
            ),
            (498, "flex", "Flex tier capacity exceeded", ServerError),
            (498, "498", "Invalid token.", ApiKeyError),
            (404, "invalid_request_error", "prompt is too long", NotFound),
            (
                400,
                "authentication_error",
                "prompt is too long",
                ApiKeyError,
            ),
            (
                400,
                "invalid_request_error",
                "prompt is too long",
                ContextLengthError,
            ),
            (
                500,
                "server_error",
                "prompt is too long",
                ContextLengthError,
            ),
        ] {
            assert_eq!(
                of(status, &error(message, kind, kind)),
                category,
                "{status} {kind} {message}"
            );
        }
        // Of a server's own failure, what it wraps says more; of a refusal, its own status does.
        assert_eq!(of(524, r#"{"error":"Internal Server Error"}"#), Timeout);
        assert_eq!(
            of(200, r#"{"status":"Too Many Requests","message":"no"}"#),
            RateLimitError
        );
        assert_eq!(of(500, r#"{"reason":"insufficientQuota"}"#), QuotaError);
        assert_eq!(
            of(400, r#"{"error":{"type":"BadRequestError","code":"404"}}"#),
            NotFound
        );
        assert_eq!(of(400, r#"{"error":{"code":500}}"#), BadRequest);
    }

    #[test]
    fn a_number_in_a_text_says_nothing() {
        assert_eq!(
            of(
                400,
                &error("unknown word '429' in prompt, limit 401", "x", "y")
            ),
            BadRequest
        );
        let long_user = error(
            "string too long: maximum length 64, got 80",
            "z",
            "string_above_max_length",
        );
        assert_eq!(of(400, &long_user), BadRequest);
    }

    #[test]
    fn google() {
        let quota = |id: &str| {
            format!(
                r#"{{"error":{{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{{"violations":[{{"quotaId":"{id}"}}]}}]}}}}"#
            )
        };
        assert_eq!(
            of(429, &quota("GenerateRequestsPerDayPerProject")),
            QuotaError
        );
        assert_eq!(
            of(429, &quota("GenerateRequestsPerMinutePerProject")),
            RateLimitError
        );
        let key = r#"[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]"#;
        assert_eq!(of(400, key), ApiKeyError);
    }
}
