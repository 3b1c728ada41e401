//! The category of an error response.

use llmnode_runtime::Category;
use llmnode_runtime::internal::floor_char_boundary;

use super::error_body::ErrorBody;
use super::rules::{RULES, Rule, Sign, by_class};

/// The most bytes that a star in a phrase stands for.
const GAP: usize = 80;

/// The category of a response with this status, whose body says this.
pub(super) fn classify(status: u16, body: &ErrorBody) -> Category {
    // A gateway may wrap what happened behind it into a success or a failure of its own.
    let status = match body.status {
        Some(inner) if !(400..500).contains(&status) => inner,
        _ => status,
    };
    let text = body.message.to_lowercase();
    let row = RULES.iter().find(|rule| holds(rule, status, body, &text));
    row.map_or_else(|| by_class(status), |rule| rule.category)
}

fn holds(rule: &Rule, status: u16, body: &ErrorBody, text: &str) -> bool {
    let named = |own: &u16| *own == status || *own == status / 100;
    (rule.status.is_empty() || rule.status.iter().any(named))
        && match &rule.sign {
            Sign::None => true,
            Sign::Mark(words) => words.split(' ').any(|word| body.marks.iter().any(|mark| is(mark, word))),
            Sign::Param(param) => body.param.as_deref() == Some(param),
            Sign::Phrase(phrases) => phrases.split('|').any(|phrase| says(text, phrase.trim())),
        }
}

/// Whether a mark is this word, of which a star may stand for the begin and the end.
fn is(mark: &str, word: &str) -> bool {
    match (word.strip_prefix('*'), word.strip_suffix('*')) {
        (None, None) => mark == word,
        (Some(end), None) => mark.ends_with(end),
        (None, Some(begin)) => mark.starts_with(begin),
        (Some(_), Some(_)) => mark.contains(word.trim_matches('*')),
    }
}

/// Whether a text contains a phrase, of which a star stands for a few words of one sentence.
fn says(text: &str, phrase: &str) -> bool {
    let Some((begin, rest)) = phrase.split_once('*') else { return text.contains(phrase) };
    text.match_indices(begin).any(|(at, _)| {
        let after = &text[at + begin.len()..];
        let near = &after[..floor_char_boundary(after, GAP + rest.len())];
        let sentence = near.split(['\n', '\r']).next().unwrap_or_default();
        sentence.split(". ").next().unwrap_or_default().contains(rest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use llmnode_runtime::Category::*;

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
            (501, ServerError),
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
            assert_eq!(of(status, "<html><h1>sorry</h1></html>"), category, "{status} with a page");
        }
    }

    #[test]
    fn marks_beat_the_status() {
        for (status, body, category) in [
            (429, error("You exceeded your plan", "insufficient_quota", "insufficient_quota"), QuotaError),
            (429, error("slow down", "requests", "rate_limit_exceeded"), RateLimitError),
            (400, error("too long", "invalid_request_error", "context_length_exceeded"), ContextLengthError),
            (400, error("no", "invalid_request_error", "content_policy_violation"), ContentFilter),
            (400, error("tool failed", "invalid_request_error", "tool_use_failed"), SchemaError),
            (403, error("no access to model x", "invalid_request_error", "model_not_found"), NotFound),
            (500, error("too big", "exceed_context_size_error", "500"), ContextLengthError),
            (503, error("loading", "unavailable_error", "503"), ServerError),
            (413, error("too large, please reduce", "tokens", "rate_limit_exceeded"), ContextLengthError),
        ] {
            assert_eq!(of(status, &body), category, "{status} {body}");
        }
    }

    #[test]
    fn a_status_within_the_body_counts_under_a_gateways_own() {
        let wrapped =
            r#"{"error":{"code":429,"message":"quota metric exhausted","status":"RESOURCE_EXHAUSTED"}}"#;
        assert_eq!(of(503, wrapped), RateLimitError);
        assert_eq!(of(200, r#"{"error":{"message":"upstream","code":429}}"#), RateLimitError);
        assert_eq!(of(200, r#"{"error":{"message":"upstream"}}"#), ServerError);
        // ... but not against a refusal's own status.
        assert_eq!(of(401, r#"{"error":{"message":"Invalid API Key","type":"t","code":500}}"#), ApiKeyError);
    }

    /// A gateway that replaces codes and types leaves the class of the error only in its text.
    #[test]
    fn phrases_for_gateways_that_erase_marks() {
        for (status, kind, message, category) in [
            (401, "authentication_error", "gateway.AuthenticationError: no", ApiKeyError),
            (429, "throttling_error", "gateway.RateLimitError: slow down", RateLimitError),
            (429, "throttling_error", "gateway: You exceeded your current quota, please check", QuotaError),
            (400, "invalid_request_error", "gateway.ContextWindowExceededError: x", ContextLengthError),
            (400, "invalid_request_error", "gateway.ContentPolicyViolationError: x", ContentFilter),
            (400, "invalid_request_error", "Invalid model name passed in model=nope", NotFound),
            (400, "no_db_connection", "No connected db.", ApiKeyError),
            (500, "internal_server_error", "gateway.InternalServerError", ServerError),
        ] {
            assert_eq!(of(status, &error(message, kind, &status.to_string())), category, "{message}");
        }
    }

    /// What providers, servers and gateways are known to send, one row each.
    #[test]
    fn the_errors_of_many_servers() {
        for line in include_str!("errors.jsonl").lines() {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            let body = row["body"].as_str().map_or_else(|| row["body"].to_string(), str::to_owned);
            let status = row["status"].as_u64().unwrap() as u16;
            assert_eq!(of(status, &body).as_str(), row["category"], "{line}");
            // An error object is told from an answer also where the status is a success.
            assert!(status != 200 || crate::openai::error_body::is_error(body.as_bytes()), "{line}");
        }
    }

    #[test]
    fn a_star_is_a_few_words_of_one_sentence() {
        assert!(says("the model `a.b-1` does not exist", "model*does not exist"));
        assert!(says("model; no. the model x does not exist", "model*does not exist"));
        assert!(!says("this model is old. the field x does not exist", "model*does not exist"));
        let within = |bytes| says(&format!("model{}not found", "x".repeat(bytes)), "model*not found");
        assert!(within(80) && !within(81));
        let far = format!("model {} not found", "ü".repeat(GAP));
        assert!(!says(&far, "model*not found"));
    }

    #[test]
    fn a_number_in_a_text_says_nothing() {
        assert_eq!(of(400, &error("unknown word '429' in prompt, limit 401", "x", "y")), BadRequest);
        let long_user = error("string too long: maximum length 64, got 80", "z", "string_above_max_length");
        assert_eq!(of(400, &long_user), BadRequest);
    }

    #[test]
    fn google() {
        let quota = |id: &str| {
            format!(
                r#"{{"error":{{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{{"violations":[{{"quotaId":"{id}"}}]}}]}}}}"#
            )
        };
        assert_eq!(of(429, &quota("GenerateRequestsPerDayPerProject")), QuotaError);
        assert_eq!(of(429, &quota("GenerateRequestsPerMinutePerProject")), RateLimitError);
        let key = r#"[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]"#;
        assert_eq!(of(400, key), ApiKeyError);
    }
}
