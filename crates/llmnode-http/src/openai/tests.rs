//! Whatever a server sends, nothing panics and no secret is shown.

use std::time::{Duration, SystemTime};

use http::header::{HeaderMap, HeaderValue};
use llmnode_model::Reasoning;
use llmnode_model::ext::{Secret, redact};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::answer;
use crate::api::expected_calls::ExpectedCalls;
use crate::http::error_body::ErrorBody;
use crate::http::{classify, retry_after, wait_hint};
use crate::refusal::efforts::{Effort, Thinking};
use crate::refusal::message::{decoded, without_prompt};
use crate::refusal::reading::{self, Refusal, Sent};

/// The calls that a request may ask for.
const WANTED: [ExpectedCalls<'_>; 3] = [
    ExpectedCalls {
        function: None,
        tools: false,
        limit: None,
    },
    ExpectedCalls {
        function: Some("Choice"),
        tools: false,
        limit: None,
    },
    ExpectedCalls {
        function: Some("Choice"),
        tools: true,
        limit: None,
    },
];

/// Bytes that come close to what servers send: real members with values of any kind, cut anywhere.
fn bodies() -> impl Strategy<Value = Vec<u8>> {
    let member = prop::sample::select(vec![
        "error",
        "message",
        "code",
        "type",
        "details",
        "choices",
        "content",
        "usage",
        "prompt_tokens",
        "param",
        "finish_reason",
        "id",
        "detail",
        "loc",
        "msg",
        "violations",
        "retryDelay",
        "metadata",
        "raw",
        "text",
    ]);
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<f64>().prop_map(|number| format!("{number:e}")),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<String>().prop_map(|text| serde_json::Value::from(text).to_string()),
    ];
    let value = leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            vec((member.clone(), inner), 0..5).prop_map(|members| {
                let members = members
                    .iter()
                    .map(|(name, value)| format!("{name:?}:{value}"));
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            }),
        ]
    });
    let cut = (value, any::<prop::sample::Index>(), any::<bool>()).prop_map(|(json, at, whole)| {
        let end = if whole {
            json.len()
        } else {
            at.index(json.len() + 1)
        };
        json.into_bytes()[..end].to_vec()
    });
    prop_oneof![cut, vec(any::<u8>(), 0..300)]
}

const HEADERS: &[&str] = &[
    "retry-after",
    "retry-after-ms",
    "x-should-retry",
    "llm_provider-retry-after",
    "llm_provider-x-should-retry",
];

/// Bytes, numbers of any size, and what looks like a date.
fn header_values() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        vec(any::<u8>(), 0..40),
        any::<f64>().prop_map(|number| format!("{number:e}").into_bytes()),
        "-?[0-9]{1,40}(\\.[0-9]{1,40})?".prop_map(String::into_bytes),
        "[A-Z][a-z]{2,8},? [0-9]{1,20}[ -](Jan|Feb|Dec)[ -][0-9]{1,20} [0-9]{1,3}:[0-9]{2}:[0-9]{2}( GMT)?"
            .prop_map(String::into_bytes),
    ]
}

/// Every member of a usual answer that is not the answer itself.
const OTHER_MEMBERS: &[&str] = &[
    "/id",
    "/object",
    "/created",
    "/model",
    "/service_tier",
    "/system_fingerprint",
    "/usage",
    "/usage/prompt_tokens",
    "/usage/completion_tokens",
    "/usage/total_tokens",
    "/usage/prompt_tokens_details",
    "/usage/prompt_tokens_details/cached_tokens",
    "/usage/completion_tokens_details",
    "/choices/0/index",
    "/choices/0/logprobs",
    "/choices/0/finish_reason",
    "/choices/0/message/role",
    "/choices/0/message/tool_calls",
    "/choices/0/message/annotations",
    "/error",
];

/// Values of every type, among them those that real servers send in place of others.
fn odd_values() -> impl Strategy<Value = Value> {
    let known = vec![
        json!(null),
        json!(-1),
        json!(1.5),
        json!(10.0),
        json!(1e300),
        json!(u64::MAX),
        json!("eos"),
        json!("STOP"),
        json!(""),
        json!("on_demand"),
        json!([]),
        json!([1, null]),
        json!({}),
        json!({"a": {"b": [true]}}),
        json!(false),
    ];
    prop_oneof![
        prop::sample::select(known),
        any::<f64>().prop_map(|n| json!(n)),
        any::<String>().prop_map(Value::from)
    ]
}

/// The text `paid for` in each form that servers give it.
fn contents() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        json!("paid for"),
        json!(["paid", " for"]),
        json!([{"type": "text", "text": "paid for"}]),
        json!([{"type": "text", "text": "paid"}, {"type": "odd", "thing": [1]}, {"text": " for", "index": 1}, null]),
    ])
}

proptest! {
    /// Whatever else the response has, an answer that was paid for is returned.
    #[test]
    fn a_paid_answer_is_never_lost(
        content in contents(),
        odd in vec((prop::sample::select(OTHER_MEMBERS), odd_values()), 0..6),
        gone in vec(prop::sample::select(OTHER_MEMBERS), 0..6),
        more in any::<String>(),
    ) {
        let mut body = json!({
            "id": "r", "object": "chat.completion", "created": 1, "model": "m", "service_tier": "default",
            "system_fingerprint": "f", "error": null,
            "choices": [{"index": 0, "logprobs": null, "finish_reason": "stop",
                "message": {"role": "assistant", "content": content, "tool_calls": [], "annotations": []}}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15,
                "prompt_tokens_details": {"cached_tokens": 1}, "completion_tokens_details": {}},
        });
        for (at, value) in odd {
            if let Some(member) = body.pointer_mut(at) {
                *member = value;
            }
        }
        for at in gone {
            let (parent, name) = at.rsplit_once('/').unwrap();
            if let Some(Value::Object(parent)) = body.pointer_mut(parent) {
                parent.remove(name);
            }
        }
        // A member that nobody knows yet.
        body[format!("x-{more}")] = json!({"deep": [[more]]});
        let bytes = serde_json::to_vec(&body).unwrap();
        match answer::read(&bytes, ExpectedCalls::default()) {
            Ok(read) => prop_assert_eq!(read.completion.text, "paid for"),
            Err(_) => prop_assert!(false, "{}", body),
        }
    }

    #[test]
    fn any_body_is_read(body in bodies(), status in 100u16..1000) {
        let _ = WANTED.map(|wanted| answer::read(&body, wanted));
        let error = ErrorBody::read(&body);
        let sent = Sent { effort: Some((Reasoning::Max, Thinking::Effort(Effort::High))), ..Sent::default() };
        let text = without_prompt(&error.message, &json!({"messages": [{"content": error.message}]}), "m");
        let refusal = Refusal { status, error: &error, text: &text, quoting: &decoded(&error.message) };
        let _ = (classify::classify(status, &error), reading::read(&refusal, &sent));
    }

    #[test]
    fn any_header_is_read(value in header_values(), name in prop::sample::select(HEADERS)) {
        if let Ok(value) = HeaderValue::from_bytes(&value) {
            let headers = HeaderMap::from_iter([(name.parse().unwrap(), value)]);
            let wait = retry_after::retry_after(&headers, SystemTime::now());
            prop_assert!(wait != Some(Duration::ZERO));
            let _ = retry_after::should_retry(&headers);
        }
    }

    #[test]
    fn any_text_is_searched_for_a_wait(before in any::<String>(), number in "[0-9.]{0,400}", unit in "[a-zµ ]{0,8}", after in any::<String>()) {
        let wait = wait_hint::wait_hint(&format!("{before} try again in {number}{unit}{after}"));
        prop_assert!(wait != Some(Duration::ZERO));
    }

    #[test]
    fn no_secret_survives(before in any::<String>(), secret in "[!-~]{8,40}", after in any::<String>()) {
        let shown = redact(&format!("{before}{secret}{after}"), &[Secret::new(secret.clone())]);
        // Only a secret that is a part of the mark itself can be found again.
        prop_assert!(!shown.contains(&secret) || "[redacted]".contains(&secret));
    }
}
