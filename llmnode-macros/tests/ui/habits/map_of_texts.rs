// Cause: a map gets texts in place of nodes.
// Mend: write `run.map(texts.into_iter().map(|text| Read { text }))`.
// Token: texts
use llmnode::prelude::*;

async fn read(run: &Run<()>, texts: Vec<String>) -> usize {
    run.map(texts).await.len()
}

fn main() {
    let _ = read;
}
