//! How many questions about llmnode's docs find their page among the first five hits: by words, by vectors of a real embedder, by
//! both; in a file and on Chroma's server. The endpoints are those of `OPENAI_BASE_URL` and `CHROMA_URL`.

use std::path::Path;

use llmnode::rag::{By, ChromaStore, Collection, CollectionBuilder, Document, Embeddings, SqliteStore};
use llmnode::{BoxError, OpenAi, Run};

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let model = OpenAi::from_env()?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = Vec::new();
    for entry in std::fs::read_dir(root.join("docs"))? {
        let path = entry?.path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        pages.push(Document::new(name, std::fs::read_to_string(&path)?));
    }
    let file = std::env::temp_dir().join(format!("recall-{}.db", std::process::id()));
    let name = format!("recall-{}", std::process::id());
    let builders: [(&str, CollectionBuilder); 2] = [
        ("a file", Collection::builder(SqliteStore::open(&file)?, &name)),
        ("Chroma", Collection::builder(ChromaStore::open(&std::env::var("CHROMA_URL")?)?, &name)),
    ];
    let questions = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("questions.tsv"))?;
    let questions: Vec<_> = questions.lines().filter_map(|line| line.split_once('\t')).collect();
    let run = Run::new(model.clone());
    for (store, builder) in builders {
        let docs = builder
            .embedder(Embeddings::new(&model, "multilingual-e5-small").batch(16, 100_000))
            .open()
            .await?;
        run.call(&docs.write_all(pages.clone())).await?;
        for by in [By::Words, By::Vector, By::Both] {
            let mut found = 0;
            for (page, question) in &questions {
                let hits = run.call(&docs.search(*question).by(by)).await?;
                found += usize::from(hits.iter().any(|hit| hit.source == *page));
            }
            let (all, chunks) = (questions.len(), docs.count().await?.chunks);
            println!("| {store} | {by:?} | {found} of {all} | {chunks} chunks |");
        }
    }
    std::fs::remove_file(file)?;
    Ok(())
}
