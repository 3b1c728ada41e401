//! JSON with templates in its texts.

use std::sync::Arc;

use llmnode_runtime::NodeError;
use serde_json::{Map, Value};

use crate::faults::escaped;
use crate::graph::door::Visit;
use crate::graph::loading::Loading;
use crate::state::{MOST, size, take};
use crate::template::Template;

/// A value whose texts are templates. A text that is one `{{ name }}` is that value, whatever its type.
#[derive(Clone)]
pub(super) enum Insert {
    Value(Value),
    Text(Arc<Template>),
    List(Vec<Insert>),
    Object(Vec<(String, Insert)>),
}

impl Insert {
    /// Reads a value.
    pub(super) fn read(value: &Value, place: &str, node: &mut Loading<'_>) -> Self {
        match value {
            Value::String(text) if text.contains("{{") => Insert::Text(Arc::new(node.template(place, text))),
            Value::Array(items) => {
                let read = |(at, item)| Insert::read(item, &format!("{place}/{at}"), node);
                Insert::List(items.iter().enumerate().map(read).collect())
            }
            Value::Object(members) => Insert::Object(Insert::members(members, place, node)),
            other => Insert::Value(other.clone()),
        }
    }

    pub(super) fn members(
        members: &Map<String, Value>,
        place: &str,
        node: &mut Loading<'_>,
    ) -> Vec<(String, Insert)> {
        let read = |(name, value): (&String, &Value)| {
            (name.clone(), Insert::read(value, &format!("{place}/{}", escaped(name)), node))
        };
        members.iter().map(read).collect()
    }

    /// The value with what the state holds. `left`: how many bytes it may still take.
    fn value(&self, visit: &Visit<'_>, left: &mut usize) -> Result<Value, NodeError> {
        Ok(match self {
            Insert::Value(value) => value.clone(),
            Insert::Text(template) => match template.sole().and_then(|name| visit.value(name)) {
                Some(value) => {
                    take(visit.id(), left, size(value))?;
                    value.clone()
                }
                None => {
                    let text = visit.render(template)?;
                    take(visit.id(), left, text.len())?;
                    Value::String(text)
                }
            },
            Insert::List(items) => {
                Value::Array(items.iter().map(|item| item.value(visit, left)).collect::<Result<_, _>>()?)
            }
            Insert::Object(members) => Value::Object(Insert::filled(members, visit, left)?),
        })
    }

    pub(super) fn object(
        members: &[(String, Insert)],
        visit: &Visit<'_>,
    ) -> Result<Map<String, Value>, NodeError> {
        Insert::filled(members, visit, &mut { MOST })
    }

    fn filled(
        members: &[(String, Insert)],
        visit: &Visit<'_>,
        left: &mut usize,
    ) -> Result<Map<String, Value>, NodeError> {
        members.iter().map(|(name, insert)| Ok((name.clone(), insert.value(visit, left)?))).collect()
    }
}
