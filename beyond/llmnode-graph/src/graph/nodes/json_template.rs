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
                let mut templates = Vec::with_capacity(items.len());
                for (index, item) in items.iter().enumerate() {
                    templates.push(JsonTemplate::read(item, &format!("{place}/{index}"), node));
                }
                JsonTemplate::List(templates)
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
        let mut templates = Vec::with_capacity(members.len());
        for (name, value) in members {
            let place = format!("{place}/{}", escaped(name));
            let template = JsonTemplate::read(value, &place, node);
            templates.push((name.clone(), template));
        }
        templates
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

    /// The members with their values, all together no larger than a state may be.
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
