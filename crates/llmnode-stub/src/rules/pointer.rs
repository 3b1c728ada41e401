//! Places in a body.

use serde_json::Value;

use crate::model_answer::word;

/// The steps from the top of a body: names of members, and positions in lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pointer(pub(super) Vec<String>);

impl Pointer {
    pub(super) fn with(&self, step: &str) -> Self {
        let mut steps = self.0.clone();
        steps.push(step.to_owned());
        Self(steps)
    }

    pub(super) fn join(&self, other: &Self) -> Self {
        Self(self.0.iter().chain(&other.0).cloned().collect())
    }

    /// As OpenAI and Google write it: `messages[1].content`.
    pub(super) fn bracketed(&self) -> String {
        let mut text = String::new();
        for step in &self.0 {
            match step.parse::<usize>() {
                Ok(at) => text += &format!("[{at}]"),
                Err(_) if text.is_empty() => text += step,
                Err(_) => text += &format!(".{step}"),
            }
        }
        text
    }

    /// As Anthropic writes it: `messages.1.content`.
    pub(super) fn dotted(&self) -> String {
        self.0.join(".")
    }

    /// The first position in a list.
    pub(super) fn index(&self) -> String {
        self.0
            .iter()
            .find(|step| step.parse::<usize>().is_ok())
            .cloned()
            .unwrap_or_default()
    }

    /// What the innermost object around it calls itself.
    pub(super) fn name(&self, body: &Value) -> String {
        let mut named = "";
        let mut here = body;
        for step in &self.0 {
            let Some(next) = step_into(here, step) else {
                break;
            };
            here = next;
            let name = word(here, "name");
            named = if name.is_empty() { named } else { name };
        }
        named.to_owned()
    }
}

pub(super) fn step_into<'v>(value: &'v Value, step: &str) -> Option<&'v Value> {
    match value {
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        Value::Object(members) => members.get(step),
        _ => None,
    }
}

/// All places that a path names; `*` is each item or member of what is there. A step that leads nowhere leads to nothing.
pub(super) fn places<'v>(root: &'v Value, path: &str) -> Vec<(Pointer, Option<&'v Value>)> {
    let mut found = vec![(Pointer::default(), Some(root))];
    for step in path.split('/').skip(1) {
        found = found
            .into_iter()
            .flat_map(|(place, value)| next(&place, value, step))
            .collect();
    }
    found
}

fn next<'v>(
    place: &Pointer,
    value: Option<&'v Value>,
    step: &str,
) -> Vec<(Pointer, Option<&'v Value>)> {
    if step != "*" {
        return vec![(
            place.with(step),
            value.and_then(|value| step_into(value, step)),
        )];
    }
    match value {
        Some(Value::Array(items)) => items
            .iter()
            .enumerate()
            .map(|(at, item)| (place.with(&at.to_string()), Some(item)))
            .collect(),
        Some(Value::Object(members)) => members
            .iter()
            .map(|(name, member)| (place.with(name), Some(member)))
            .collect(),
        _ => Vec::new(),
    }
}
