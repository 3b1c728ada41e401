//! Writes texts with given vectors into a file, searches it, and prints the figures as JSON. `bench.py` makes the vectors.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use llmnode::rag::{
    Collection, Document, EmbedRequest, Embedded, Embedder, MemoryStore, Purpose, SearchMode,
    SqliteStore,
};
use llmnode::{BoxError, BoxFuture, ModelError, Run, ScriptedModel, Sink};
use serde_json::json;

/// As numpy wrote them: `chunk 7 ..` has the row 7 of one file, `query 7` that of the other.
struct Given {
    columns: usize,
    documents: Vec<f32>,
    queries: Vec<f32>,
}

impl Embedder for Given {
    fn embed<'a>(
        &'a self,
        request: &'a EmbedRequest<'a>,
        _: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Embedded, ModelError>> {
        let rows = if request.purpose == Purpose::Query {
            &self.queries
        } else {
            &self.documents
        };
        let row = |text: &&str| -> Vec<f32> {
            let at: usize = text.split(' ').nth(1).unwrap().parse().unwrap();
            rows[at * self.columns..][..self.columns].to_vec()
        };
        let vectors = request.texts.iter().map(row).collect();
        Box::pin(async move { Ok(Embedded::new(vectors)) })
    }

    fn id(&self) -> &str {
        "given"
    }

    fn dimensions(&self) -> Option<usize> {
        Some(self.columns)
    }

    fn is_local(&self) -> bool {
        true
    }
}

fn floats(path: &Path) -> Vec<f32> {
    let bytes = std::fs::read(path).unwrap();
    bytes
        .chunks_exact(4)
        .map(|four| f32::from_le_bytes(four.try_into().unwrap()))
        .collect()
}

/// Resident memory, in bytes.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .unwrap();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() * 1024.0
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap());
    let columns = 384;
    let file = folder.join("docs.db");
    let texts = std::fs::read_to_string(folder.join("texts.txt"))?;
    let given = Arc::new(Given {
        columns,
        documents: floats(&folder.join("documents.f32")),
        queries: floats(&folder.join("queries.f32")),
    });
    let run = Run::new(ScriptedModel::new());
    let count = texts.lines().count();

    let builder = match arguments.next().as_deref() {
        Some("search") => return search(&file, &given, &texts).await,
        Some("memory") => Collection::builder(MemoryStore::new(), "docs"),
        _ => Collection::builder(SqliteStore::open(&file)?, "docs"),
    };
    let docs = builder.embedder(Arc::clone(&given)).open().await?;
    let documents = texts
        .lines()
        .enumerate()
        .map(|(at, text)| Document::new(at.to_string(), text));
    let documents: Vec<_> = documents.collect();
    let started = Instant::now();
    for part in documents.chunks(4096) {
        run.call(&docs.write_all(part.to_vec())).await?;
    }
    let ingest = count as f64 / started.elapsed().as_secs_f64();
    let started = Instant::now();
    run.call(&docs.write_all(documents[..count.min(4096)].to_vec()))
        .await?;
    let again = count.min(4096) as f64 / started.elapsed().as_secs_f64();
    println!("{}", json!({"ingest": ingest, "again": again}));
    Ok(())
}

/// Searches in a process of its own, so that its memory is that of the store.
async fn search(file: &Path, given: &Arc<Given>, texts: &str) -> Result<(), BoxError> {
    let (run, k, count) = (Run::new(ScriptedModel::new()), 10, texts.lines().count());
    let before = resident();
    let started = Instant::now();
    let docs = Collection::builder(SqliteStore::open(file)?, "docs")
        .embedder(Arc::clone(given))
        .open()
        .await?;
    let memory = (resident() - before) / count as f64;
    let open = started.elapsed().as_secs_f64() * 1e3;
    let queries = given.queries.len() / given.columns;
    let mut found = Vec::new();
    let mut times = async |by, query: &dyn Fn(usize) -> String| -> Result<f64, BoxError> {
        let mut times = Vec::new();
        for at in 0..queries {
            let search = docs.search(query(at)).k(k).by(by);
            let started = Instant::now();
            let hits = run.call(&search).await?;
            times.push(started.elapsed().as_secs_f64() * 1e3);
            if by == SearchMode::Vector {
                found.push(
                    hits.iter()
                        .map(|hit| hit.source.parse::<usize>().unwrap())
                        .collect::<Vec<_>>(),
                );
            }
        }
        Ok(median(times))
    };
    let words: Vec<&str> = texts
        .lines()
        .map(|text| text.split(' ').nth(3).unwrap())
        .take(queries)
        .collect();
    let vector = times(SearchMode::Vector, &|at| format!("query {at}")).await?;
    let one = times(SearchMode::Words, &|at| words[at].to_owned()).await?;
    let both = times(SearchMode::Both, &|at| format!("query {at} {}", words[at])).await?;
    println!(
        "{}",
        json!({
            "open_ms": open, "vector_ms": vector, "words_ms": one, "both_ms": both,
            "memory": memory, "file": std::fs::metadata(file)?.len() as f64 / count as f64, "found": found,
        })
    );
    Ok(())
}
