// Cause: the collection is not open.
// Mend: write `.open().await?` at the end of the builder.
#![allow(unused)]

use llmnode::prelude::*;
use llmnode::rag::{Collection, Hits, MemoryStore};

async fn find(run: &Run) -> Result<Hits, NodeError> {
    let docs = Collection::builder(MemoryStore::new(), "docs");
    run.call(&docs.search("key")).await
}

fn main() {}
