// Cause: documents are texts without a source.
// Mend: write `Document::new(source, text)`.
#![allow(unused)]

use llmnode::prelude::*;
use llmnode::rag::Collection;

async fn write(run: &Run, docs: &Collection, texts: Vec<String>) -> Result<(), NodeError> {
    run.call(&docs.write_all(texts)).await?;
    Ok(())
}

fn main() {}
