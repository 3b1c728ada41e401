//! Embeds and stores texts with given vectors in memory by swiftide's pipeline, and prints how many a second.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use swiftide::chat_completion::errors::LanguageModelError;
use swiftide::indexing::persist::MemoryStorage;
use swiftide::indexing::transformers::Embed;
use swiftide::indexing::{IndexingStream, Pipeline, TextNode};
use swiftide::reexports::{anyhow, async_trait};

const COLUMNS: usize = 384;

/// As numpy wrote them: `chunk 7 ..` has the row 7.
#[derive(Clone, Debug)]
struct Given(Arc<Vec<f32>>);

#[async_trait::async_trait]
impl swiftide::traits::EmbeddingModel for Given {
    async fn embed(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, LanguageModelError> {
        let row = |text: &String| {
            // The text may stand behind its metadata.
            let at: usize = text
                .split_once("chunk ")
                .unwrap()
                .1
                .split(' ')
                .next()
                .unwrap()
                .parse()
                .unwrap();
            self.0[at * COLUMNS..][..COLUMNS].to_vec()
        };
        Ok(texts.iter().map(row).collect())
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let folder = PathBuf::from(std::env::args().nth(1).unwrap());
    let bytes = std::fs::read(folder.join("documents.f32"))?;
    let numbers = bytes
        .chunks_exact(4)
        .map(|four| f32::from_le_bytes(four.try_into().unwrap()))
        .collect();
    let texts = std::fs::read_to_string(folder.join("texts.txt"))?;
    let nodes: Vec<_> = texts.lines().map(|text| Ok(TextNode::new(text))).collect();
    let count = nodes.len();
    let storage = MemoryStorage::default();
    let started = Instant::now();
    Pipeline::from_stream(IndexingStream::iter(nodes))
        .then_in_batch(Embed::new(Given(Arc::new(numbers))).with_batch_size(512))
        .then_store_with(storage.clone())
        .run()
        .await?;
    let seconds = started.elapsed().as_secs_f64();
    assert_eq!(storage.get_all_values().await.len(), count);
    println!("{}", count as f64 / seconds);
    Ok(())
}
