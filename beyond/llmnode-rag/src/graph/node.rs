//! The node type `rag_node`, and its visits.

use std::sync::Arc;

use llmnode_graph::{GraphNode, NodeContext, NodeLoader, NodeType, Template, Update};
use llmnode_model::internal::sha256_hex;
use llmnode_runtime::{BoxError, BoxFuture, NodeError};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::data::{Action, Data, Settings, read};
use crate::collection::{Collection, CollectionBuilder};
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
        let (store, embedder) = (Arc::clone(&store.store), store.embedder.clone());
        Some(Arc::new(Rag {
            store,
            embedder,
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
    async fn docs(&self) -> Result<&Collection, NodeError> {
        let open = || {
            let builder = Collection::builder(Arc::clone(&self.store), &self.collection);
            let builder = self
                .embedder
                .iter()
                .cloned()
                .fold(builder, CollectionBuilder::embedder);
            self.dedup
                .into_iter()
                .fold(builder, CollectionBuilder::dedup)
                .open()
        };
        self.open.get_or_try_init(open).await
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
            let (docs, text) = (self.docs().await?, self.text(visit)?);
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
                    let written = visit
                        .cx()
                        .call(&docs.write(Document::new(source, text)))
                        .await?;
                    Ok(Update::new().with_value(STATUS, json!(written)))
                }
            }
        })
    }
}
