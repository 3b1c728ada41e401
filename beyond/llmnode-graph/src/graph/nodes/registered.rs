//! A node of the program as a node type.

use std::marker::PhantomData;
use std::sync::Arc;

use llmnode_runtime::internal::CxInternals as _;
use llmnode_runtime::{BoxError, BoxFuture, Category, Exec, Limits, Node, NodeError, NodeFacts};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::json_template::{JsonTemplate, Members};
use crate::graph::loaded::{GraphNode, NodeContext};
use crate::graph::node_type::NodeLoader;
use crate::state::{State, Update};

/// The settings of a node of the program's.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Data {
    /// Values of its fields. A text that is one `{{ name }}` is that value of the state, another text a template. Other fields are
    /// the values of the state of their names.
    #[serde(default)]
    input: Map<String, Value>,
    /// The value that its output is written to. Default: the id of the node.
    save_as: Option<String>,
}

pub(super) fn load<N>(node: &mut NodeLoader<'_>) -> Option<Arc<dyn GraphNode>>
where
    N: Node<Output: Serialize> + Exec<State> + DeserializeOwned + JsonSchema + Send + 'static,
{
    let Data { input, save_as } = node.data()?;
    let schema = schemars::schema_for!(N);
    let fields = schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    let fields: Vec<String> = fields.map(|(name, _)| name.clone()).collect();
    let required = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    for name in input.keys().filter(|name| !fields.contains(name)) {
        let place = format!("/input/{}", crate::faults::escaped(name));
        node.unknown(&place, "field", name, fields.iter().map(String::as_str));
    }
    for name in required
        .filter_map(Value::as_str)
        .filter(|name| !input.contains_key(*name))
    {
        node.reads("", name);
    }
    let from_state = fields
        .into_iter()
        .filter(|name| !input.contains_key(name))
        .collect();
    let input = JsonTemplate::members(&input, "/input", node);
    let save_as = save_as.unwrap_or_else(|| node.id().to_owned());
    node.writes_at("/save_as", &save_as, &[]);
    node.untrusted();
    Some(Arc::new(RegisteredNode::<N> {
        input,
        from_state,
        save_as,
        node: PhantomData,
    }))
}

struct RegisteredNode<N> {
    input: Members,
    from_state: Vec<String>,
    save_as: String,
    node: PhantomData<fn() -> N>,
}

impl<N> GraphNode for RegisteredNode<N>
where
    N: Node<Output: Serialize> + Exec<State> + DeserializeOwned + Send + 'static,
{
    fn exec<'a>(&'a self, visit: &'a NodeContext<'a>) -> BoxFuture<'a, Result<Update, BoxError>> {
        Box::pin(async move {
            let mut fields = JsonTemplate::object(&self.input, visit)?;
            for name in &self.from_state {
                if let Some(value) = visit.value(name) {
                    fields.insert(name.clone(), value.clone());
                }
            }
            let node = N::deserialize(Value::Object(fields)).map_err(|error| {
                let message = format!("the fields of `{}` cannot be read: {error}", N::NAME);
                NodeError::new(Category::PrepError, message).with_source(error)
            })?;
            // Part of the visit's call, so that its tokens count under the id.
            let NodeFacts {
                retries_itself,
                idempotent,
                limits,
                ..
            } = N::FACTS;
            let is_own = retries_itself && idempotent && limits == Limits::new();
            let (core, within) = visit.cx().caller();
            let output = if is_own {
                node.exec(visit.cx()).await?
            } else {
                core.call(within, visit.state(), &node).await?.value
            };
            let output = serde_json::to_value(output).map_err(|error| {
                let message = format!(
                    "the output of `{}` cannot be written as JSON: {error}",
                    N::NAME
                );
                NodeError::new(Category::ConfigError, message).with_source(error)
            })?;
            Ok(Update::new().with_value(&*self.save_as, output))
        })
    }
}
