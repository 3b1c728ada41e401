//! The node type `rag_node`, and its visits.

use std::sync::Arc;

use llmnode_graph::{GraphNode, NodeContext, NodeLoader, NodeType, Template, Update};
use llmnode_model::internal::sha256_hex;
use llmnode_runtime::{BoxError, BoxFuture, NodeError};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::data::{Action, Data, Settings, read};
use crate::collection::Collection;
use crate::document::Document;
use crate::embed::Embedder;
use crate::store::DocumentStore;

const CONTEXT: &str = "rag_context";
const STATUS: &str = "rag_write_status";

pub(super) struct RagType;

impl NodeType for RagType {
    fn name(&self) -> &str {
        "rag_node"
    }

    fn aliases(&self) -> &[&str] {
        &["rag"]
    }

    fn schema(&self) -> Value {
        schemars::schema_for!(Data).to_value()
    }

    fn load(&self, node: &mut NodeLoader<'_>) -> Option<Arc<dyn GraphNode>> {
        let Settings {
            store,
            collection,
            action,
            k,
            input,
            dedup,
        } = read(node)?;
        let input = input.map(|text| node.template("/input", &text));
        match action {
            Action::Read => {
                node.writes(CONTEXT);
                // Other people wrote the text that is found.
                node.retrieved();
            }
            Action::Write => node.writes(STATUS),
        }
        Some(Arc::new(Rag {
            store: Arc::clone(&store.store),
            embedder: store.embedder.clone(),
            collection,
            action,
            k,
            input,
            dedup,
            open: OnceCell::new(),
        }))
    }
}

struct Rag {
    store: Arc<dyn DocumentStore>,
    embedder: Option<Arc<dyn Embedder>>,
    collection: String,
    action: Action,
    k: usize,
    input: Option<Template>,
    dedup: Option<f32>,
    open: OnceCell<Collection>,
}

impl Rag {
    /// The collection, which the first visit opens: a graph is loaded without a request.
    async fn docs(&self) -> Result<&Collection, NodeError> {
        self.open
            .get_or_try_init(|| {
                let mut builder = Collection::builder(Arc::clone(&self.store), &self.collection);
                if let Some(embedder) = &self.embedder {
                    builder = builder.embedder(Arc::clone(embedder));
                }
                if let Some(cosine) = self.dedup {
                    builder = builder.dedup(cosine);
                }
                builder.open()
            })
            .await
    }

    fn text(&self, visit: &NodeContext<'_>) -> Result<String, NodeError> {
        if let Some(input) = &self.input {
            return visit.render(input);
        }
        let value = ["query", "content"]
            .into_iter()
            .find_map(|name| visit.value(name));
        Ok(match value {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => visit.state().last_text().to_owned(),
        })
    }
}

impl GraphNode for Rag {
    fn exec<'a>(&'a self, visit: &'a NodeContext<'a>) -> BoxFuture<'a, Result<Update, BoxError>> {
        Box::pin(async move {
            let docs = self.docs().await?;
            let text = self.text(visit)?;
            match self.action {
                Action::Read => {
                    let hits = visit.cx().call(&docs.search(text).k(self.k)).await?;
                    let update = Update::new().with_value(CONTEXT, hits.text());
                    Ok(if hits.is_empty() {
                        update
                    } else {
                        update.with_message(hits.message())
                    })
                }
                Action::Write => {
                    // A text of a graph has no name, so its hash is its source.
                    let source = format!("{}/{}", visit.id(), sha256_hex(text.as_bytes()));
                    let write = docs.write(Document::new(source, text));
                    let report = visit.cx().call(&write).await?;
                    Ok(Update::new().with_value(STATUS, json!(report)))
                }
            }
        })
    }
}
