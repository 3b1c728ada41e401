//! How many questions about a book find the passage that answers them among the first five hits: by words, by vectors of a real
//! embedder, by both; in a file and on Chroma's server, with the same vectors. `questions.tsv` has a kind, words of the passage that
//! stand nowhere else, and a question, in each line. The arguments are the book's chapters, a file each; the endpoints are those of
//! `OPENAI_BASE_URL` and `CHROMA_URL`.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use llmnode::rag::{
    ChromaStore, Collection, Document, EmbedRequest, Embedded, Embedder, SearchMode,
};
use llmnode::rag::{DocumentStore, Embeddings, Purpose, SqliteStore};
use llmnode::{BoxError, BoxFuture, ModelError, OpenAi, Run, Sink};

/// The server's name of a model says whether it embeds queries or passages. Each text is embedded once.
struct E5 {
    queries: Embeddings,
    passages: Embeddings,
    made: Mutex<HashMap<String, Vec<f32>>>,
}

impl Embedder for E5 {
    fn embed<'a>(
        &'a self,
        request: &'a EmbedRequest<'a>,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Embedded, ModelError>> {
        Box::pin(async move {
            let made = || {
                request
                    .texts
                    .iter()
                    .map(|text| self.made.lock().unwrap().get(*text).cloned())
            };
            if let Some(vectors) = made().collect() {
                return Ok(Embedded::new(vectors));
            }
            let of = if request.purpose == Purpose::Query {
                &self.queries
            } else {
                &self.passages
            };
            let embedded = of.embed(request, sink).await?;
            let texts = request.texts.iter().map(|text| (*text).to_owned());
            self.made
                .lock()
                .unwrap()
                .extend(texts.zip(embedded.vectors.iter().cloned()));
            Ok(embedded)
        })
    }

    fn id(&self) -> &str {
        self.passages.id()
    }

    fn dimensions(&self) -> Option<usize> {
        None
    }

    fn batch(&self) -> (usize, usize) {
        (16, 100_000)
    }
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let model = OpenAi::from_env()?;
    let mut chapters = Vec::new();
    for path in std::env::args().skip(1) {
        chapters.push(Document::new(
            path.as_str(),
            std::fs::read_to_string(&path)?,
        ));
    }
    let questions = concat!(env!("CARGO_MANIFEST_DIR"), "/questions.tsv");
    let questions = std::fs::read_to_string(questions)?;
    let questions: Vec<Vec<&str>> = questions
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    let (file, name) = (
        std::env::temp_dir(),
        format!("recall-{}", std::process::id()),
    );
    let file = file.join(format!("{name}.db"));
    let chroma = ChromaStore::open(&std::env::var("CHROMA_URL")?)?;
    let stores: [(&str, Arc<dyn DocumentStore>); 2] = [
        ("a file", Arc::new(SqliteStore::open(&file)?)),
        ("Chroma", Arc::new(chroma)),
    ];
    let embedder = Arc::new(E5 {
        queries: Embeddings::new(&model, "e5-query"),
        passages: Embeddings::new(&model, "e5-passage"),
        made: Mutex::default(),
    });
    let run = Run::new(model);
    println!(
        "| store | search | kind | found among five | at the first place |\n|---|---|---|---|---|"
    );
    for (store, place) in stores {
        let docs = Collection::builder(place, &name)
            .embedder(Arc::clone(&embedder))
            .open()
            .await?;
        run.call(&docs.write_all(chapters.clone())).await?;
        eprintln!("{store}: {} chunks", docs.count().await?.chunks);
        for by in [SearchMode::Words, SearchMode::Vector, SearchMode::Both] {
            let mut found: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
            for question in &questions {
                let [kind, passage, question] = question[..] else {
                    return Err("a line without three parts".into());
                };
                let hits = run.call(&docs.search(question).by(by)).await?;
                let rank = hits
                    .iter()
                    .position(|hit| spaced(&hit.text).contains(passage));
                let counts = found.entry(kind).or_default();
                counts[0] += 1;
                counts[1] += usize::from(rank.is_some());
                counts[2] += usize::from(rank == Some(0));
                if rank.is_none() {
                    eprintln!("{store}, {by:?}: not found: {question}");
                }
            }
            for (kind, [all, five, first]) in found {
                println!("| {store} | {by:?} | {kind} | {five} of {all} | {first} |");
            }
        }
    }
    std::fs::remove_file(file)?;
    Ok(())
}

/// With one space between words.
fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
