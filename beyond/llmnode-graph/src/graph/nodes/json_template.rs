//! JSON whose texts are templates.

use std::sync::Arc;

use llmnode_runtime::NodeError;
use serde_json::{Map, Value};

use crate::faults::escaped;
use crate::graph::loaded::NodeContext;
use crate::graph::node_type::NodeLoader;
use crate::state::{MOST, size, take};
use crate::template::Template;

pub(super) type Members = Vec<(String, JsonTemplate)>;

/// A text that is a single `{{ name }}` becomes that value, whatever its type.
#[derive(Clone)]
pub(super) enum JsonTemplate {
    Value(Value),
    Text(Arc<Template>),
    List(Vec<JsonTemplate>),
    Object(Members),
}

impl JsonTemplate {
    pub(super) fn read(value: &Value, place: &str, node: &mut NodeLoader<'_>) -> Self {
        match value {
            Value::String(text) if text.contains("{{") => {
                JsonTemplate::Text(Arc::new(node.template(place, text)))
            }
            Value::Array(items) => {
                let read = |(at, item)| JsonTemplate::read(item, &format!("{place}/{at}"), node);
                JsonTemplate::List(items.iter().enumerate().map(read).collect())
            }
            Value::Object(members) => {
                JsonTemplate::Object(JsonTemplate::members(members, place, node))
            }
            other => JsonTemplate::Value(other.clone()),
        }
    }

    pub(super) fn members(
        members: &Map<String, Value>,
        place: &str,
        node: &mut NodeLoader<'_>,
    ) -> Members {
        let read = |(name, value): (&String, &Value)| {
            (
                name.clone(),
                JsonTemplate::read(value, &format!("{place}/{}", escaped(name)), node),
            )
        };
        members.iter().map(read).collect()
    }

    fn value(&self, visit: &NodeContext<'_>, left: &mut usize) -> Result<Value, NodeError> {
        Ok(match self {
            JsonTemplate::Value(value) => value.clone(),
            JsonTemplate::Text(template) => {
                match template.sole().and_then(|name| visit.value(name)) {
                    Some(value) => {
                        take(visit.id(), left, size(value))?;
                        value.clone()
                    }
                    None => {
                        let text = visit.render(template)?;
                        take(visit.id(), left, text.len())?;
                        Value::String(text)
                    }
                }
            }
            JsonTemplate::List(items) => Value::Array(
                items
                    .iter()
                    .map(|item| item.value(visit, left))
                    .collect::<Result<_, _>>()?,
            ),
            JsonTemplate::Object(members) => {
                Value::Object(JsonTemplate::filled(members, visit, left)?)
            }
        })
    }

    pub(super) fn object(
        members: &Members,
        visit: &NodeContext<'_>,
    ) -> Result<Map<String, Value>, NodeError> {
        JsonTemplate::filled(members, visit, &mut { MOST })
    }

    fn filled(
        members: &Members,
        visit: &NodeContext<'_>,
        left: &mut usize,
    ) -> Result<Map<String, Value>, NodeError> {
        members
            .iter()
            .map(|(name, insert)| Ok((name.clone(), insert.value(visit, left)?)))
            .collect()
    }
}
