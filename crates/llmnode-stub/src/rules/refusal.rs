//! Whether a request is refused, and in which words.

use std::fmt;

use serde_json::{Value, json};

use super::condition::{Found, SentRequest, all_hold};
use super::data::{rules, thinking};
use super::kept::keep;
use super::provider::Provider;
use crate::api::{Api, Route, model_of, route};
use crate::headers::LoggedHeaders;
use crate::model_answer::{list, word};

/// What a provider answers to a request that it refuses.
///
/// `Display` says which rule refused it and what that rule refuses, for the message of a test.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Refusal {
    /// The name of the rule, such as `all.tool-object-without-properties`.
    pub rule: &'static str,
    /// What the rule refuses, in words.
    pub refuses: &'static str,
    /// The status of the answer.
    pub status: u16,
    /// The body of the answer, in the provider's words.
    pub body: Value,
    /// Where the rule is from: a public thread, the types of a package, or a document of the provider.
    pub source: &'static str,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            rule,
            refuses,
            status,
            body,
            ..
        } = self;
        write!(f, "{rule} refuses {refuses}: {status} {body}")
    }
}

/// Returns why a provider would refuse this body of a POST to `path`, if it would. Without a provider, the rules that hold for
/// every server of the API apply. For servers of one's own in tests; a [`StubServer`](crate::StubServer) asks it by itself.
///
/// A path that is none of the four APIs' is not refused.
///
/// ```
/// # mod llmnode { pub use llmnode_stub as stub_server; }
/// use llmnode::stub_server::{Provider, refusal};
/// use serde_json::json;
///
/// let function = json!({"name": "now", "parameters": {"type": "object"}});
/// let mut body = json!({
///     "model": "gpt-5.4",
///     "messages": [{"role": "user", "content": "What time is it?"}],
///     "tools": [{"type": "function", "function": function}],
/// });
/// let refused = refusal(Provider::OpenAi, "/v1/chat/completions", &body).unwrap();
/// assert_eq!((refused.status, &refused.body["error"]["code"]), (400, &json!("invalid_function_parameters")));
///
/// body["tools"][0]["function"]["parameters"]["properties"] = json!({});
/// assert_eq!(refusal(Provider::OpenAi, "/v1/chat/completions", &body), None);
/// ```
#[must_use]
pub fn refusal(provider: impl Into<Option<Provider>>, path: &str, body: &Value) -> Option<Refusal> {
    let Some(Route::Answer(api)) = route("POST", path) else {
        return None;
    };
    let named = body.get("model").and_then(Value::as_str);
    let model = named.or_else(|| model_of(path)).unwrap_or_default();
    let refusal = refused(provider.into(), api, model, body, None);
    if refusal.is_none() {
        keep(api.as_str(), body);
    }
    refusal
}

/// `headers`: where they are known.
pub(crate) fn refused(
    provider: Option<Provider>,
    api: Api,
    model: &str,
    body: &Value,
    headers: Option<&LoggedHeaders>,
) -> Option<Refusal> {
    let sent = SentRequest {
        api,
        model,
        body,
        headers,
    };
    let all = rules(api).iter();
    let of_provider = all
        .clone()
        .filter(|rule| provider.is_some_and(|provider| is_for(rule, provider.as_str())));
    of_provider
        .chain(all.filter(|rule| is_for(rule, "all")))
        .find_map(|rule| by_rule(rule, &sent))
}

fn is_for(rule: &Value, name: &str) -> bool {
    list(&rule["providers"]).iter().any(|one| one == name)
}

fn by_rule(rule: &'static Value, sent: &SentRequest<'_>) -> Option<Refusal> {
    let found = all_hold(&rule["when"], sent.body, sent)?;
    Some(Refusal {
        rule: word(rule, "id"),
        refuses: word(rule, "refuses"),
        status: rule["status"]
            .as_u64()
            .and_then(|status| u16::try_from(status).ok())
            .unwrap_or(400),
        body: filled(&rule["body"], &found, sent),
        source: word(rule, "source"),
    })
}

/// Fills in what a text says of the request.
fn filled(body: &Value, found: &Found, sent: &SentRequest<'_>) -> Value {
    match body {
        Value::String(text) if text.contains('{') => Value::from(filled_text(text, found, sent)),
        Value::Array(items) => items.iter().map(|item| filled(item, found, sent)).collect(),
        Value::Object(members) => Value::Object(
            members
                .iter()
                .map(|(name, value): (&String, &Value)| (name.clone(), filled(value, found, sent)))
                .collect(),
        ),
        other => other.clone(),
    }
}

fn filled_text(text: &str, found: &Found, sent: &SentRequest<'_>) -> String {
    let value = sent.body.pointer(&format!("/{}", found.place.0.join("/")));
    let id = value.map(|value| {
        [
            word(value, "id"),
            word(value, "tool_call_id"),
            word(value, "call_id"),
            word(value, "tool_use_id"),
        ]
        .concat()
    });
    let value = value.map(|value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    });
    let context: Vec<String> = found
        .context
        .0
        .iter()
        .map(|step| format!("'{step}'"))
        .collect();
    let context = match &context[..] {
        [one] => format!("({one},)"),
        all => format!("({})", all.join(", ")),
    };
    text.replace("{model}", sent.model)
        .replace("{place}", &found.place.bracketed())
        .replace("{dotted}", &found.place.dotted())
        .replace("{index}", &found.place.index())
        .replace("{name}", &found.place.name(sent.body))
        .replace("{id}", &id.unwrap_or_default())
        .replace("{context}", &context)
        .replace("{value}", &value.unwrap_or_default())
}

/// The answer of a provider that has no such API.
pub(crate) fn no_such_path(provider: Provider, api: Api, path: &str) -> Option<Refusal> {
    if provider.speaks(api) {
        return None;
    }
    let message = format!("Invalid URL (POST {path})");
    let body = match provider {
        Provider::Anthropic => {
            json!({"type": "error", "error": {"type": "not_found_error", "message": "Not Found"}})
        }
        Provider::Gemini => {
            json!({"error": {"code": 404, "message": message, "status": "NOT_FOUND"}})
        }
        _ => {
            json!({"error": {"message": message, "type": "invalid_request_error", "param": null, "code": null}})
        }
    };
    Some(Refusal {
        rule: "no-such-path",
        refuses: "an API that this provider does not have",
        status: 404,
        body,
        source: "documents of the providers",
    })
}

/// Whether a provider's model thinks before it answers this request.
pub(crate) fn thinks(provider: Provider, api: Api, model: &str, body: &Value) -> bool {
    let sent = SentRequest {
        api,
        model,
        body,
        headers: None,
    };
    thinking().iter().any(|row| {
        row["api"] == api.as_str()
            && list(&row["providers"])
                .iter()
                .any(|one| one == provider.as_str())
            && all_hold(&row["when"], body, &sent).is_some()
    })
}
