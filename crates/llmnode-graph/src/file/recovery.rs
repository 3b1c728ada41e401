//! Corrects a file with faults, so that the rest of it can be checked. Such a file is never run.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

#[derive(Debug, Default)]
pub(crate) struct Repairs {
    /// Of what is at another place now: from its new pointer to the old one.
    pub(crate) moved: BTreeMap<String, String>,
    /// The places of what was dropped, since it is unclear what was intended.
    pub(crate) lost: Vec<String>,
    /// The new places of values that replace a wrong one.
    pub(crate) guesses: Vec<String>,
    /// The texts in what was lost: each may be the name that was intended.
    pub(crate) texts: Vec<String>,
    /// A name was lost that is not among the texts.
    pub(crate) is_unclear: bool,
}

impl Repairs {
    pub(super) fn moves(&self, inner: &str) -> bool {
        self.moved
            .keys()
            .any(|to| inner.strip_prefix(&**to).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
    }

    pub(crate) fn has_lost(&self, place: &str) -> bool {
        self.lost.iter().any(|lost| lost.starts_with(place))
    }

    /// `may_name`: the value may have been a name, or may have contained some.
    pub(super) fn lose(&mut self, at: &str, value: &Value, may_name: bool) {
        self.lost.push(at.to_owned());
        let before = self.texts.len();
        self.keep_texts(value);
        self.is_unclear |= may_name && self.texts.len() == before;
    }

    pub(super) fn keep_texts(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.texts.push(text.clone()),
            Value::Array(items) => items.iter().for_each(|item| self.keep_texts(item)),
            Value::Object(members) => members.values().for_each(|member| self.keep_texts(member)),
            _ => {}
        }
    }
}

pub(super) enum Recovered {
    Same,
    New(Value),
    Lost,
}

/// `None`: it is unclear what was intended, as for ids and lists of nodes. `is_setting`: it is a setting of a node.
pub(super) fn intended(rules: &Map<String, Value>, value: &Value, is_setting: bool) -> Option<Value> {
    let asks = |name: &str| match rules.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == name),
        kind => kind.is_some_and(|kind| kind == name),
    };
    match value {
        Value::Number(_) | Value::Bool(_) if is_setting && asks("string") => {
            Some(Value::String(value.to_string()))
        }
        Value::String(text) if asks("integer") || asks("number") => {
            text.trim().parse::<u64>().ok().map(Value::from)
        }
        Value::String(text) if asks("boolean") => {
            Some((!matches!(&*text.to_lowercase(), "" | "no" | "false" | "off" | "0")).into())
        }
        Value::Number(number) if asks("boolean") => Some((number.as_f64() != Some(0.0)).into()),
        Value::Null => None,
        value if is_setting && asks("array") => Some(Value::Array(vec![value.clone()])),
        _ => None,
    }
}

/// Replaces the longest known prefix.
pub(super) fn remap_pointer(places: &BTreeMap<String, String>, inner: &str) -> String {
    let mut outer = inner;
    loop {
        if let Some(place) = places.get(outer) {
            return format!("{place}{}", &inner[outer.len()..]);
        }
        match outer.rsplit_once('/') {
            Some((shorter, _)) => outer = shorter,
            None => return inner.to_owned(),
        }
    }
}
