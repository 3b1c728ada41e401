//! The vocabulary of the rules: whether a condition holds for a request.
//!
//! A condition is an object.
//!
//! - `{"at": PATH, TEST, ..}`: some place of the path passes all tests. A path is a JSON pointer, with `*` for each item or
//!   member. A step that leads nowhere leads to nothing.
//! - `{"any": [..]}` some, `{"all": [..]}` all, `{"not": CONDITION}`.
//! - `{"model": ["gpt-6*", "@group"]}`: the model's name, `*` at its end for any rest, `@` for a group of `models.json`.
//! - `{"schemas": [PATH, ..], "node": [..]}`: some node of a schema there (from the place, within `where`), for which all
//!   conditions hold, their paths from that node. In place of `node`: `deeper_than`, `more_properties_than`, `more_optional_than`, `more_unions_than`,
//!   `more_enum_values_than` (all schemas together, but for the depth), `recursive`.
//! - `{"fault": NAME}`: a fault of the conversation that has a name ([`turns`](super::turns)).
//! - `{"thoughts": "of_other_prefix"}`: a thought whose signature was given for another beginning of the conversation.
//! - `{"header": NAME, "lacks": TEXT}`: where the headers are known.
//!
//! Tests of a place: `present`, `is`, `is_not`, `in`, `not_in`, `type`, `type_not`, `below`, `above`, `blank` (nothing, or
//! empty, or white space), `longer_than`, `contains`, `contains_not`, `begins`, `json` (a text that is JSON or not), `unlike`
//! (`{"letters": "a-z_", "least": 1, "most": 64, "first": "a-z"}`: a text that is not of these letters and this length), `among` and
//! `not_among` (the values at a path of the whole body), `reaches` (a number that is not below the one at a path of the whole
//! body), `other_members_than` (an object with a member that is not in the
//! list), `member_unlike` (an object with a member whose name is unlike the form), `repeated` (the same value stands before it at the path), `dangling`
//! (a `$ref` to nothing), `where` (conditions whose paths begin at the place). Where nothing is, only `present`, `is_not`,
//! `not_in` and `blank` can pass.

use serde_json::{Map, Value};

use super::data::group;
use super::pointer::{Pointer, places};
use super::{schema, turns};
use crate::api::Api;
use crate::headers::LoggedHeaders;
use crate::model_answer::list;
use crate::prefix::is_of_other_prefix;

/// A request as the rules see it.
pub(super) struct SentRequest<'a> {
    pub(super) api: Api,
    pub(super) model: &'a str,
    pub(super) body: &'a Value,
    /// `None`: not known.
    pub(super) headers: Option<&'a LoggedHeaders>,
}

/// Where a condition holds.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    pub(super) place: Pointer,
    /// Within a schema.
    pub(super) context: Pointer,
}

/// All conditions hold; the first place that one of them names.
pub(super) fn all_hold(conditions: &Value, from: &Value, sent: &SentRequest<'_>) -> Option<Found> {
    let mut first = None;
    for condition in list(conditions) {
        let found = holds(condition, from, sent)?;
        first = first.or(found);
    }
    Some(first.unwrap_or_default())
}

/// `Some(None)`: it holds, without a place.
fn holds(condition: &Value, from: &Value, sent: &SentRequest<'_>) -> Option<Option<Found>> {
    let condition = condition.as_object()?;
    if let Some(path) = text(condition, "at") {
        return at(path, condition, from, sent).map(Some);
    }
    if let Some(any) = condition.get("any") {
        return list(any).iter().find_map(|one| holds(one, from, sent));
    }
    if let Some(all) = condition.get("all") {
        return all_hold(all, from, sent).map(Some);
    }
    if let Some(not) = condition.get("not") {
        return holds(not, from, sent).is_none().then_some(None);
    }
    if let Some(names) = condition.get("model") {
        return is_named(sent.model, names).then_some(None);
    }
    if let Some(paths) = condition.get("schemas") {
        return schemas(paths, condition, from, sent).map(Some);
    }
    if let Some(fault) = text(condition, "fault") {
        let place = turns::fault(fault, sent.api, sent.body)?;
        return Some(Some(Found {
            place,
            ..Found::default()
        }));
    }
    if condition.contains_key("thoughts") {
        return stale_thought(sent).map(Some);
    }
    if let Some(name) = text(condition, "header") {
        let header = sent.headers?.get(name).unwrap_or_default();
        return (!header.contains(text(condition, "lacks")?)).then_some(None);
    }
    None
}

fn text<'c>(condition: &'c Map<String, Value>, name: &str) -> Option<&'c str> {
    condition.get(name)?.as_str()
}

fn is_named(model: &str, names: &Value) -> bool {
    list(names)
        .iter()
        .filter_map(Value::as_str)
        .any(|name| match name.strip_prefix('@') {
            Some(named) => is_named(model, group(named)),
            None => match name.strip_suffix('*') {
                Some(begin) => model.starts_with(begin),
                None => model == name,
            },
        })
}

fn at(
    path: &str,
    condition: &Map<String, Value>,
    from: &Value,
    sent: &SentRequest<'_>,
) -> Option<Found> {
    let all = places(from, path);
    let tests = condition.iter().filter(|(name, _)| *name != "at");
    let found = (0..all.len()).find(|at| {
        tests.clone().all(|(name, operand)| match &**name {
            "repeated" => all[*at].1.is_some_and(|value| {
                all[..*at]
                    .iter()
                    .any(|(_, earlier)| *earlier == Some(value))
            }),
            "dangling" => all[*at].1.is_some() && schema::is_dangling(sent.body, from),
            _ => passes(name, operand, all[*at].1, sent),
        })
    });
    found.map(|at| {
        let (place, value) = &all[at];
        let within = condition
            .get("where")
            .zip(*value)
            .and_then(|(inner, value)| all_hold(inner, value, sent));
        let within = within
            .filter(|within| !within.context.0.is_empty())
            .unwrap_or_default();
        Found {
            place: place.join(&within.place),
            context: within.context,
        }
    })
}

/// One test of what is at a place.
fn passes(test: &str, operand: &Value, value: Option<&Value>, sent: &SentRequest<'_>) -> bool {
    // In the JSON of Google's protocol buffers, a field that is null is one that is not set.
    let value = value.filter(|value| sent.api != Api::Gemini || !value.is_null());
    match (test, value) {
        ("present", value) => value.is_some() == (operand == true),
        ("is_not", value) => value.is_none_or(|value| !same(value, operand)),
        ("not_in", value) => {
            value.is_none_or(|value| !list(operand).iter().any(|one| same(one, value)))
        }
        ("blank", value) => value.is_none_or(is_blank) == (operand == true),
        (_, None) => false,
        ("is", Some(value)) => same(value, operand),
        ("in", Some(value)) => list(operand).iter().any(|one| same(one, value)),
        ("type", Some(value)) => type_of(value) == operand,
        ("type_not", Some(value)) => type_of(value) != operand,
        ("below", Some(value)) => number(value) < number(operand) && value.is_number(),
        ("above", Some(value)) => number(value) > number(operand),
        ("longer_than", Some(value)) => length(value) > operand.as_u64().unwrap_or(0),
        ("contains", Some(value)) => contains(value, operand),
        ("contains_not", Some(value)) => !contains(value, operand),
        ("begins", Some(value)) => value
            .as_str()
            .is_some_and(|text| text.starts_with(operand.as_str().unwrap_or_default())),
        ("json", Some(value)) => value.as_str().is_some_and(|text| {
            let is_json = serde_json::from_str::<Value>(text).is_ok();
            is_json == (operand == true)
        }),
        ("unlike", Some(value)) => value.as_str().is_some_and(|text| !is_like(text, operand)),
        ("among", Some(value)) => is_among(value, operand, sent),
        ("not_among", Some(value)) => !is_among(value, operand, sent),
        ("reaches", Some(value)) => {
            let other = operand.as_str().and_then(|path| sent.body.pointer(path));
            other.is_some_and(|other| number(value) >= number(other))
        }
        ("other_members_than", Some(value)) => {
            let mut names = value
                .as_object()
                .into_iter()
                .flatten()
                .map(|(name, _)| name);
            names.any(|name| !list(operand).iter().any(|allowed| allowed == name))
        }
        ("member_unlike", Some(value)) => value
            .as_object()
            .into_iter()
            .flatten()
            .any(|(name, _)| !is_like(name, operand)),
        ("where", Some(value)) => all_hold(operand, value, sent).is_some(),
        _ => false,
    }
}

/// 1 and 1.0 are the same.
fn same(one: &Value, other: &Value) -> bool {
    one == other || (one.is_number() && other.is_number() && one.as_f64() == other.as_f64())
}

/// Upper and lower case are the same.
fn contains(value: &Value, words: &Value) -> bool {
    let words = words.as_str().unwrap_or_default().to_lowercase();
    value.to_string().to_lowercase().contains(&words)
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64()
}

fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn length(value: &Value) -> u64 {
    match value {
        Value::String(text) => text.chars().count() as u64,
        Value::Array(items) => items.len() as u64,
        Value::Object(members) => members.len() as u64,
        _ => 0,
    }
}

fn is_like(text: &str, form: &Value) -> bool {
    let letters = form["letters"].as_str().unwrap_or_default();
    let count = length(&Value::from(text));
    let least = form["least"].as_u64().unwrap_or(0);
    let most = form["most"].as_u64().unwrap_or(u64::MAX);
    let first = form["first"].as_str();
    let begins_well = first.is_none_or(|first| {
        text.chars()
            .next()
            .is_none_or(|letter| is_one_of(letter, first))
    });
    begins_well
        && (least..=most).contains(&count)
        && text.chars().all(|letter| is_one_of(letter, letters))
}

/// `letters`: single ones, and ranges such as `a-z`. A hyphen stands last.
fn is_one_of(letter: char, letters: &str) -> bool {
    let letters: Vec<char> = letters.chars().collect();
    let in_range = letters
        .windows(3)
        .any(|part| part[1] == '-' && (part[0]..=part[2]).contains(&letter));
    let single = letters.contains(&letter) && letter != '-';
    in_range || single || (letter == '-' && letters.last() == Some(&'-'))
}

fn is_among(value: &Value, path: &Value, sent: &SentRequest<'_>) -> bool {
    let path = path.as_str().unwrap_or_default();
    places(sent.body, path)
        .into_iter()
        .any(|(_, other)| other == Some(value))
}

fn schemas(
    paths: &Value,
    condition: &Map<String, Value>,
    from: &Value,
    sent: &SentRequest<'_>,
) -> Option<Found> {
    let paths = list(paths).iter().filter_map(Value::as_str);
    let all: Vec<(Pointer, &Value)> = paths
        .flat_map(|path| places(from, path))
        .filter_map(|(place, schema)| Some((place, schema?)))
        .collect();
    if let Some(conditions) = condition.get("node") {
        return all
            .iter()
            .find_map(|(place, root)| node(place, root, conditions, sent));
    }
    let roots = all.iter().map(|(_, root)| *root);
    let (measure, operand) = condition.iter().find(|(name, _)| *name != "schemas")?;
    let limit = operand.as_u64().unwrap_or(0);
    let is_beyond = match &**measure {
        "deeper_than" => all.iter().any(|(_, root)| schema::depth(root) > limit),
        "recursive" => all.iter().any(|(_, root)| schema::is_recursive(root)),
        "more_properties_than" => roots.map(schema::properties).sum::<u64>() > limit,
        "more_optional_than" => roots.map(schema::optional).sum::<u64>() > limit,
        "more_unions_than" => roots.map(schema::unions).sum::<u64>() > limit,
        "more_enum_values_than" => roots.map(schema::enum_values).sum::<u64>() > limit,
        _ => false,
    };
    is_beyond.then(|| Found {
        place: all
            .first()
            .map(|(place, _)| place.clone())
            .unwrap_or_default(),
        ..Found::default()
    })
}

/// References are looked up in the schema that the node is in.
fn node(
    place: &Pointer,
    root: &Value,
    conditions: &Value,
    sent: &SentRequest<'_>,
) -> Option<Found> {
    let in_schema = SentRequest {
        api: sent.api,
        model: sent.model,
        body: root,
        headers: None,
    };
    let nodes = schema::nodes(root);
    let found = nodes
        .into_iter()
        .find(|(_, node)| all_hold(conditions, node, &in_schema).is_some());
    found.map(|(context, _)| Found {
        place: place.clone(),
        context,
    })
}

fn stale_thought(sent: &SentRequest<'_>) -> Option<Found> {
    let blocks = places(sent.body, "/messages/*/content/*/signature").into_iter();
    let mut signed = blocks.filter_map(|(place, signature)| Some((place, signature?.as_str()?)));
    let stale = signed.find(|(place, signature)| {
        let at = place.0[1].parse().unwrap_or(0);
        is_of_other_prefix(signature, sent.api, sent.model, sent.body, at)
    });
    stale.map(|(mut place, _)| {
        place.0.pop();
        Found {
            place,
            ..Found::default()
        }
    })
}
