//! `iterator`: goes through a list, one item a visit.

use std::sync::Arc;

use llmnode_runtime::{BoxError, BoxFuture};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::schema_of;
use crate::graph::door::{GraphNode, NodeType, Visit};
use crate::graph::loading::Loading;
use crate::state::Update;

pub(crate) struct IteratorType;

/// The settings of an `iterator`.
#[derive(Deserialize, JsonSchema)]
struct Data {
    /// The value that holds the list, or the JSON text of one. Default: `items`.
    #[serde(default = "items")]
    #[schemars(extend("x-also" = ["items"]))]
    source: String,
    /// The value that each item is written to. Default: `current_item`.
    #[serde(default = "current_item")]
    item: String,
    /// Whether it begins anew when it is visited after its end. Default: it has ended then.
    #[serde(default)]
    restart: bool,
}

fn items() -> String {
    "items".to_owned()
}

fn current_item() -> String {
    "current_item".to_owned()
}

impl NodeType for IteratorType {
    fn name(&self) -> &str {
        "iterator"
    }

    fn schema(&self) -> Value {
        schema_of::<Data>()
    }

    fn load(&self, node: &mut Loading<'_>) -> Option<Arc<dyn GraphNode>> {
        let Data { source, item, restart } = node.data()?;
        node.iterates("/source", &source);
        node.writes_at("/item", &item, &[]);
        node.handles(&["next", "complete"], if node.is_seed() { &[] } else { &["next"] });
        let queue = format!("_iterator_queue_{}", node.id());
        Some(Arc::new(Iterator { source, item, restart, queue }))
    }
}

struct Iterator {
    source: String,
    item: String,
    restart: bool,
    /// Where the items stand that are to come.
    queue: String,
}

impl GraphNode for Iterator {
    fn exec<'a>(&'a self, visit: &'a Visit<'a>) -> BoxFuture<'a, Result<Update, BoxError>> {
        let Iterator { source, item, restart, queue } = self;
        let under_way = visit.state().values.get(queue);
        let mut items = match under_way.or_else(|| visit.value(source)) {
            Some(Value::Array(items)) => items.clone(),
            Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_default(),
            _ => Vec::new(),
        };
        let update = match items.is_empty() {
            true if *restart => Update::new().clearing(&**queue).clearing(&**item).with_action("complete"),
            true => Update::new()
                .with_value(&**queue, Value::Array(Vec::new()))
                .clearing(&**item)
                .with_action("complete"),
            false => {
                let first = items.remove(0);
                Update::new()
                    .with_value(&**queue, Value::Array(items))
                    .with_value(&**item, first)
                    .with_action("next")
            }
        };
        Box::pin(std::future::ready(Ok(update)))
    }
}
