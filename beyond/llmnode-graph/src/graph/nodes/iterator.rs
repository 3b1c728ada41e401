//! `iterator`: goes through a list, one item a visit.

use std::sync::Arc;

use llmnode_runtime::{BoxError, BoxFuture};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::graph::loaded::{GraphNode, NodeContext};
use crate::graph::node_type::NodeLoader;
use crate::state::Update;

/// The settings of an `iterator`.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Data {
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

pub(super) fn load(node: &mut NodeLoader<'_>) -> Option<Arc<dyn GraphNode>> {
    let Data {
        source,
        item,
        restart,
    } = node.data()?;
    node.iterates("/source", &source);
    node.writes_at("/item", &item, &[]);
    node.handles(
        &["next", "complete"],
        if node.is_seed() { &[] } else { &["next"] },
    );
    let queue = format!("_iterator_queue_{}", node.id());
    let next = format!("_iterator_next_{}", node.id());
    Some(Arc::new(IteratorNode {
        source,
        item,
        restart,
        queue,
        next,
    }))
}

struct IteratorNode {
    source: String,
    item: String,
    restart: bool,
    queue: String,
    next: String,
}

impl GraphNode for IteratorNode {
    fn exec<'a>(&'a self, visit: &'a NodeContext<'a>) -> BoxFuture<'a, Result<Update, BoxError>> {
        let IteratorNode {
            source,
            item,
            restart,
            queue,
            next,
        } = self;
        let values = &visit.state().values;
        let under_way = values.get(queue).and_then(Value::as_array);
        let began = match (under_way, visit.value(source)) {
            (Some(_), _) => None,
            (None, Some(Value::Array(items))) => Some(items.clone()),
            (None, Some(Value::String(text))) => {
                Some(serde_json::from_str(text).unwrap_or_default())
            }
            (None, _) => Some(Vec::new()),
        };
        let at = values.get(next).and_then(Value::as_u64).unwrap_or_default();
        let first = usize::try_from(at)
            .ok()
            .and_then(|at| under_way.or(began.as_ref())?.get(at).cloned());
        let untrusted = visit.is_untrusted(source) || visit.is_untrusted(queue);
        let update = match first {
            Some(first) => {
                // The items are written once, not with each visit.
                let update = match began {
                    Some(items) => Update::new().with_value(&**queue, items),
                    None => Update::new(),
                };
                update
                    .with_value(&**next, at + 1)
                    .with_value(&**item, first)
                    .with_action("next")
            }
            None => {
                let update = Update::new()
                    .clearing(&**next)
                    .clearing(&**item)
                    .with_action("complete");
                match restart {
                    true => update.clearing(&**queue),
                    false => update.with_value(&**queue, Vec::<Value>::new()),
                }
            }
        };
        Box::pin(std::future::ready(Ok(Update {
            untrusted,
            ..update
        })))
    }
}
