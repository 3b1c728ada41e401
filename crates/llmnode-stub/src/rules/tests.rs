//! The data is well-formed, and each rule refuses its one body and takes the other.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::Provider;
use super::data::rules;
use super::refusal::refused;
use super::turns::FAULTS;
use crate::api::Api;
use crate::headers::LoggedHeaders;
use crate::model_answer::{list, word};

const APIS: [Api; 4] = [Api::Chat, Api::Responses, Api::Messages, Api::Gemini];

/// Too large for the file: an output of so many properties.
fn large(body: &Value) -> Option<Value> {
    let count = body["properties"].as_u64()?;
    let names: Vec<String> = (0..count).map(|at| at.to_string()).collect();
    let properties: serde_json::Map<_, _> = names
        .iter()
        .map(|name| (name.clone(), json!({"type": "null"})))
        .collect();
    let schema = json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false});
    let format = json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": true}});
    Some(
        json!({"model": "m", "messages": [{"role": "user", "content": "Hi"}], "response_format": format}),
    )
}

/// The refused body with the places of `taken` changed.
fn taken(rule: &Value) -> Value {
    if let Some(body) = large(&rule["taken"]) {
        return body;
    }
    let mut body = rule["refused"].clone();
    for (path, value) in rule["taken"].as_object().unwrap() {
        let (parent, name) = path.rsplit_once('/').unwrap();
        let parent = body
            .pointer_mut(parent)
            .unwrap_or_else(|| panic!("{}: {path}", rule["id"]));
        match (parent, value.is_null()) {
            (Value::Object(members), true) => drop(members.remove(name).unwrap()),
            (Value::Object(members), false) => drop(members.insert(name.to_owned(), value.clone())),
            (Value::Array(items), true) => drop(items.remove(name.parse().unwrap())),
            (Value::Array(items), false) => {
                let at: usize = name.parse().unwrap();
                items.truncate(items.len().max(at));
                if at < items.len() {
                    items[at] = value.clone()
                } else {
                    items.push(value.clone())
                }
            }
            _ => panic!("{}: {path}", rule["id"]),
        }
    }
    body
}

/// Whether Gemini refuses a function beside this tool of its own.
fn is_refused_beside_a_function(code_execution: &Value) -> bool {
    let function =
        json!({"name": "now", "parametersJsonSchema": {"type": "object", "properties": {}}});
    let tool = json!({"functionDeclarations": [function], "codeExecution": code_execution});
    let asked = json!({"role": "user", "parts": [{"text": "What time is it?"}]});
    let body = json!({"contents": [asked], "tools": [tool]});
    let path = "/v1beta/models/gemini-3-flash-preview:generateContent";
    super::refusal(Provider::Gemini, path, &body).is_some()
}

#[test]
fn a_field_that_is_null_is_not_set_for_gemini() {
    assert!(is_refused_beside_a_function(&json!({})));
    assert!(!is_refused_beside_a_function(&Value::Null));
}

fn ask(rule: &Value, provider: &str, api: Api, body: &Value) -> Option<super::Refusal> {
    let provider = Provider::ALL
        .iter()
        .find(|one| one.as_str() == provider)
        .copied();
    let model = rule
        .get("model")
        .unwrap_or(&body["model"])
        .as_str()
        .unwrap_or_default();
    refused(provider, api, model, body, Some(&LoggedHeaders::default()))
}

#[test]
fn each_rule_refuses_its_one_body_and_takes_the_other() {
    let mut wrong = Vec::new();
    for api in APIS {
        for rule in rules(api) {
            let id = word(rule, "id");
            let body = large(&rule["refused"]).unwrap_or_else(|| rule["refused"].clone());
            for provider in list(&rule["providers"]).iter().filter_map(Value::as_str) {
                match ask(rule, provider, api, &body) {
                    Some(refusal) if refusal.rule == id => {
                        let words = refusal.body.to_string();
                        if words.contains('{')
                            && [
                                "{place}", "{dotted}", "{name}", "{value}", "{model}", "{id}",
                            ]
                            .iter()
                            .any(|mark| words.contains(mark))
                        {
                            wrong.push(format!("{id}: {words}"));
                        }
                    }
                    other => wrong.push(format!(
                        "{id} ({provider}) is refused by {:?}",
                        other.map(|one| one.rule)
                    )),
                }
                if let Some(refusal) = ask(rule, provider, api, &taken(rule)) {
                    wrong.push(format!("{id} ({provider}), what is taken: {refusal}"));
                }
            }
        }
    }
    assert_eq!(wrong, [] as [String; 0]);
}

#[test]
fn there_are_rules_for_each_api_and_many_providers() {
    let all: Vec<&Value> = APIS.iter().flat_map(|api| rules(*api)).collect();
    assert!(all.len() >= 60, "{}", all.len());
    assert!(APIS.iter().all(|api| rules(*api).len() > 30));
    let ids: BTreeSet<&str> = all.iter().map(|rule| word(rule, "id")).collect();
    assert_eq!(ids.len(), all.len());
    for provider in Provider::ALL {
        let own = all.iter().filter(|rule| {
            list(&rule["providers"])
                .iter()
                .any(|one| one == provider.as_str())
        });
        assert!(own.count() > 0, "{provider:?} has no rule");
    }
}

#[test]
fn rules_use_the_vocabulary_alone() {
    let members = [
        "id",
        "providers",
        "refuses",
        "when",
        "status",
        "body",
        "source",
        "read",
        "words",
        "model",
        "refused",
        "taken",
    ];
    for rule in APIS.iter().flat_map(|api| rules(*api)) {
        let id = word(rule, "id");
        for name in rule.as_object().unwrap().keys() {
            assert!(members.contains(&name.as_str()), "{id}: {name}");
        }
        for text in ["id", "refuses", "source"] {
            assert!(!word(rule, text).is_empty(), "{id}: {text}");
        }
        for provider in list(&rule["providers"]).iter().filter_map(Value::as_str) {
            assert!(
                provider == "all" || Provider::ALL.iter().any(|one| one.as_str() == provider),
                "{id}: {provider}"
            );
        }
        assert!(!list(&rule["when"]).is_empty(), "{id}");
        list(&rule["when"])
            .iter()
            .for_each(|condition| check_condition(id, condition));
    }
}

/// A source that somebody can open, and the day on which it said so.
#[test]
fn each_rule_has_an_exact_source_with_a_date() {
    for rule in APIS.iter().flat_map(|api| rules(*api)) {
        let id = word(rule, "id");
        for source in word(rule, "source").split("; ") {
            assert!(
                is_thread(source) || source.starts_with("https://") || is_package(source),
                "{id}: {source}"
            );
        }
        let day: Vec<&str> = word(rule, "read").split('-').collect();
        let lengths: Vec<usize> = day.iter().map(|part| part.len()).collect();
        assert_eq!(lengths, [4, 2, 2], "{id}");
        assert!(
            day.iter().all(|part| is_number(part)) && day[0] >= "2026",
            "{id}"
        );
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit())
}

fn is_thread(source: &str) -> bool {
    source.split_once('#').is_some_and(|(repository, number)| {
        repository.matches('/').count() == 1 && !repository.contains(' ') && is_number(number)
    })
}

fn is_package(source: &str) -> bool {
    let mut parts = source.split(' ').skip(1);
    let is_version =
        |version: &str| version.split('.').count() == 3 && version.split('.').all(is_number);
    parts.next().is_some_and(is_version) && parts.count() < 2
}

fn check_condition(id: &str, condition: &Value) {
    const TESTS: &str = "present is is_not in not_in type type_not below above blank longer_than contains contains_not begins \
        json unlike among not_among reaches other_members_than member_unlike repeated dangling where";
    const MEASURES: &str = "node deeper_than more_properties_than more_optional_than more_unions_than more_enum_values_than recursive";
    let members = condition
        .as_object()
        .unwrap_or_else(|| panic!("{id}: {condition}"));
    let within = |value: &Value| list(value).iter().for_each(|one| check_condition(id, one));
    match members.keys().next().map(String::as_str) {
        Some("at") => {
            assert!(
                members.len() > 1
                    && members
                        .keys()
                        .filter(|name| *name != "at")
                        .all(|name| TESTS.split_whitespace().any(|one| one == name)),
                "{id}: {condition}"
            );
            within(&condition["where"]);
        }
        Some("any" | "all") if members.len() == 1 => members.values().for_each(within),
        Some("not") if members.len() == 1 => check_condition(id, &condition["not"]),
        Some("model") if members.len() == 1 => {
            for name in list(&condition["model"]).iter().filter_map(Value::as_str) {
                let group = name.strip_prefix('@').map(super::data::group);
                assert!(
                    group.is_none_or(|group| !list(group).is_empty()),
                    "{id}: {name}"
                );
            }
        }
        Some("fault") => {
            assert!(
                members.len() == 1 && FAULTS.contains(&word(condition, "fault")),
                "{id}: {condition}"
            )
        }
        Some("thoughts") => assert!(
            members.len() == 1 && condition["thoughts"] == "of_other_prefix",
            "{id}"
        ),
        Some("header") => assert!(
            members.len() == 2 && members.contains_key("lacks"),
            "{id}: {condition}"
        ),
        _ => {
            assert!(
                members.contains_key("schemas") && members.len() == 2,
                "{id}: {condition}"
            );
            assert!(
                members
                    .keys()
                    .filter(|name| *name != "schemas")
                    .all(|name| MEASURES.split_whitespace().any(|one| one == name)),
                "{id}: {condition}"
            );
            within(&condition["node"]);
        }
    }
}
