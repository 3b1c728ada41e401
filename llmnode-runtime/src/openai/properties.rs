//! Whatever a server sends, nothing panics and no secret is shown.

use std::time::SystemTime;

use proptest::collection::vec;
use proptest::prelude::*;
use reqwest::header::{HeaderMap, HeaderValue};

use super::error_body::ErrorBody;
use super::secret::{Secret, redact};
use super::{answer, classify, learned, retry_after};

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
                let members = members.iter().map(|(name, value)| format!("{name:?}:{value}"));
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            }),
        ]
    });
    let cut = (value, any::<prop::sample::Index>(), any::<bool>()).prop_map(|(json, at, whole)| {
        let end = if whole { json.len() } else { at.index(json.len() + 1) };
        json.into_bytes()[..end].to_vec()
    });
    prop_oneof![cut, vec(any::<u8>(), 0..300)]
}

proptest! {
    #[test]
    fn any_body_is_read(body in bodies(), status in 100u16..1000) {
        let _ = answer::read(&body);
        let error = ErrorBody::read(&body);
        let _ = (classify::classify(status, &error), learned::refused(status, &error));
    }

    #[test]
    fn any_header_is_read(value in vec(any::<u8>(), 0..40), name in prop::sample::select(vec!["retry-after", "retry-after-ms"])) {
        if let Ok(value) = HeaderValue::from_bytes(&value) {
            let headers = HeaderMap::from_iter([(name.parse().unwrap(), value)]);
            let _ = (retry_after::retry_after(&headers, SystemTime::now()), retry_after::should_retry(&headers));
        }
    }

    #[test]
    fn no_secret_survives(before in any::<String>(), secret in "[!-~]{8,40}", after in any::<String>()) {
        let shown = redact(&format!("{before}{secret}{after}"), &[Secret::new(secret.clone())]);
        // Only a secret that is a part of the mark itself can be found again.
        prop_assert!(!shown.contains(&secret) || "[redacted]".contains(&secret));
    }
}
