//! Bodies of errors in every shape.

use super::*;

#[test]
fn every_shape_gives_its_message() {
    for (body, message) in [
        (
            r#"{"error":{"message":"no","type":"t","param":null,"code":null}}"#,
            "no",
        ),
        (r#"{"error":"model 'q' not found"}"#, "model 'q' not found"),
        (
            r#"{"object":"error","message":"too long","type":"BadRequestError","code":400}"#,
            "too long",
        ),
        (
            r#"[{"error":{"code":400,"message":"API key not valid"}}]"#,
            "API key not valid",
        ),
        (r#"{"detail":"Not Found"}"#, "Not Found"),
        (
            r#"{"detail":[{"loc":["body","n",0],"msg":"required"},{"msg":"b"}]}"#,
            "body.n.0: required; b",
        ),
        (
            r#"{"object":"error","message":{"detail":[{"loc":["body"],"msg":"bad"}]}}"#,
            "body: bad",
        ),
        (r#"{"error":{"message":null}}"#, ""),
        (r#"{"error":{"message":["a","b"]}}"#, "a; b"),
        (
            r#"{"error":{"message":"upstream","metadata":{"raw":"slow"}}}"#,
            "upstream: slow",
        ),
        (
            "<html><head><title>502 Bad Gateway</title></head><hr>nginx</html>",
            "502 Bad Gateway nginx",
        ),
        (" overloaded \n", "overloaded"),
        ("\"just a string\"", "just a string"),
        ("", ""),
        ("[]", ""),
        ("null", ""),
    ] {
        assert_eq!(ErrorBody::read(body.as_bytes()).message, message, "{body}");
    }
}

#[test]
fn numbers_are_states_and_words_are_marks() {
    let read = |body: &str| ErrorBody::read(body.as_bytes());
    let error =
        read(r#"{"error":{"message":"Invalid API Key","type":"authentication_error","code":401}}"#);
    assert_eq!(
        (error.status, error.has("authentication_error")),
        (Some(401), true)
    );
    assert_eq!(read(r#"{"error":{"code":"429"}}"#).status, Some(429));
    assert_eq!(read(r#"{"error":{"code":1301}}"#).status, None);
    assert_eq!(read(r#"{"error":{"code":-1e300}}"#).status, None);
    let azure =
        read(r#"{"error":{"code":null,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}"#);
    assert!(azure.has("responsibleaipolicyviolation"));
}

#[test]
fn fields_are_found_wherever_they_stand() {
    for body in [
        r#"{"error":{"code":"rate_limit_exceeded"}}"#,
        r#"{"code":"RateLimitExceeded","message":"no"}"#,
        r#"{"error":"no","error_code":"RATE_LIMIT_EXCEEDED"}"#,
        r#"{"errorType":"RateLimitExceededException"}"#,
        r#"{"__type":"com.amazon.coral#RateLimitExceeded"}"#,
        r#"{"error":{"details":[{"reason":"rateLimitExceeded"}]}}"#,
        r#"{"error":{"metadata":{"error_type":"rate_limit_exceeded"}}}"#,
        r#"{"error":{"message":"no","status":"rate-limit-exceeded"},"request_id":"1"}"#,
        r#"{"error":"Rate limit exceeded"}"#,
    ] {
        assert!(
            ErrorBody::read(body.as_bytes()).has("rate_limit_exceeded"),
            "{body}"
        );
    }
    for (body, status) in [
        (r#"{"error":{"code":"429"}}"#, 429),
        (r#"{"status":429}"#, 429),
        (r#"{"statusCode":"Too Many Requests"}"#, 429),
        (r#"{"error":"Unauthorized"}"#, 401),
        (r#"{"error":{"type":"NotFoundError"}}"#, 404),
        (r#"{"error":{"type":"NotFoundError","code":401}}"#, 401),
    ] {
        assert_eq!(
            ErrorBody::read(body.as_bytes()).status,
            Some(status),
            "{body}"
        );
    }
    // What the request held, and a server quotes, is no field.
    let quoted =
        r#"{"detail":[{"loc":["body"],"msg":"bad","input":{"code":"insufficient_quota"}}]}"#;
    assert!(!ErrorBody::read(quoted.as_bytes()).has("insufficient_quota"));
}

#[test]
fn usage_in_an_error_is_read() {
    let usage = |body: &str| ErrorBody::read(body.as_bytes()).usage;
    let (known, impossible) =
        usage(r#"{"error":{"message":"no"},"usage":{"prompt_tokens":10,"completion_tokens":-1}}"#);
    assert_eq!(
        (known.unwrap().input, known.unwrap().output, impossible),
        (Some(10), None, true)
    );
    assert_eq!(
        usage(r#"{"error":{"usage":{"total_tokens":7}}}"#)
            .0
            .unwrap()
            .total,
        Some(7)
    );
    assert_eq!(usage(r#"{"error":{"message":"no"}}"#), (None, false));
}

#[test]
fn google_details() {
    let error = ErrorBody::read(
        br#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"violations":[{"quotaId":"RequestsPerDay"}]},{"retryDelay":"14s"}]}}"#,
    );
    assert!(error.has("RESOURCE_EXHAUSTED") && error.has("RequestsPerDay"));
    assert_eq!(error.retry_after, Some(Duration::from_secs(14)));
}

#[test]
fn waits_in_fields() {
    let seconds = |seconds| Some(Duration::from_secs(seconds));
    for (body, wait) in [
        (
            r#"{"status":429,"title":"Rate limited","detail":"slow","retry_after":30}"#,
            seconds(30),
        ),
        (
            r#"{"error":"Model m is currently loading","estimated_time":20.0}"#,
            seconds(20),
        ),
        (
            r#"{"error":{"message":"slow down","retry_after":"7"}}"#,
            seconds(7),
        ),
        (
            r#"{"error":{"message":"slow down"},"retry_after":8}"#,
            seconds(8),
        ),
        (
            r#"{"error":{"details":[{"retryDelay":"14s"}],"retry_after":1}}"#,
            seconds(14),
        ),
        (r#"{"retry_after":null,"estimated_time":5}"#, seconds(5)),
        (r#"{"retry_after":1e300}"#, Some(Duration::MAX)),
        (r#"{"retry_after":-1}"#, None),
        (r#"{"retry_after":[5]}"#, None),
        (r#"{"limit":5}"#, None),
    ] {
        assert_eq!(ErrorBody::read(body.as_bytes()).retry_after, wait, "{body}");
    }
}

#[test]
fn hostile_bodies_are_cut() {
    let mut body = "é".repeat(TEXT_CAP).into_bytes();
    assert!(ErrorBody::read(&body).message.len() <= 2 * TEXT_CAP);
    body = format!(r#"{{"error":"{}"}}"#, "é".repeat(TEXT_CAP)).into_bytes();
    assert!(ErrorBody::read(&body).message.len() <= TEXT_CAP);
    assert_eq!(ErrorBody::read("[".repeat(100_000).as_bytes()).status, None);
    assert_eq!(ErrorBody::read(&[0xFF, 0xFE, b'<']).status, None);
}

#[test]
fn lists_of_errors_and_details_are_opened() {
    let error =
        ErrorBody::read(br#"{"errors":[{"message":"slow down","code":"throttling_error"}]}"#);
    assert_eq!(
        (error.message.as_str(), error.has("throttling_error")),
        ("slow down", true)
    );
    let error = ErrorBody::read(br#"{"detail":{"msg":"slow down","code":"throttling_error"}}"#);
    assert_eq!(
        (error.message.as_str(), error.has("throttling_error")),
        ("slow down", true)
    );
}

/// An error within so many envelopes.
fn enveloped(times: usize) -> String {
    (0..times).fold(r#"{"message":"slow"}"#.to_owned(), |inner, _| {
        format!(r#"{{"error":{inner}}}"#)
    })
}

/// An error within so many envelopes, each a text within the next.
fn quoted(times: usize) -> String {
    (0..times).fold(r#"{"message":"slow"}"#.to_owned(), |inner, _| {
        format!(r#"{{"message":{}}}"#, Value::from(inner))
    })
}

#[test]
fn envelopes_are_opened_four_times() {
    let message = |body: &str| ErrorBody::read(body.as_bytes()).message;
    assert_eq!(message(&enveloped(4)), "slow");
    assert_eq!(message(&enveloped(5)), "");
    assert_eq!(message(&quoted(4)), "slow");
    assert_eq!(message(&quoted(5)), r#"{"message":"slow"}"#);
}

#[test]
fn sixteen_kilobytes_of_a_text_are_kept() {
    let read = |length: usize| ErrorBody::read("x".repeat(length).as_bytes()).message.len();
    assert_eq!((read(16_384), read(16_385)), (16_384, 16_384));
}

#[test]
fn what_tells_of_an_error_in_a_success() {
    for body in [
        r#"{"error":{}}"#,
        r#"{"error":"busy"}"#,
        r#"{"object":"error"}"#,
        r#"{"type":"error"}"#,
        r#"{"base_resp":{"status_code":1004}}"#,
        r#"{"errors":["busy"]}"#,
        r#"{"detail":"busy"}"#,
        r#"{"message":"busy","code":1}"#,
        r#"{"message":"busy","error_code":1}"#,
    ] {
        assert!(is_error(body.as_bytes()), "{body}");
    }
    for body in [
        "{}",
        "[]",
        r#"{"error":null}"#,
        r#"{"error":false}"#,
        r#"{"object":"chat.completion","type":"message"}"#,
        r#"{"base_resp":{"status_code":0}}"#,
        r#"{"errors":[]}"#,
        r#"{"detail":null}"#,
        r#"{"message":"hello"}"#,
        r#"{"message":{"content":"hello"},"code":1}"#,
        r#"{"code":1}"#,
    ] {
        assert!(!is_error(body.as_bytes()), "{body}");
    }
}
