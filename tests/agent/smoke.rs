use llmnode::prelude::*;
use llmnode::{AttemptKind, Reply, ScriptedModel};
use serde_json::json;

struct World {
    books: Vec<String>,
}

/// Finds books.
#[tool]
async fn search(
    /// A word of the title.
    word: String,
    world: &World,
) -> Result<Vec<String>, String> {
    let found: Vec<_> = world.books.iter().filter(|one| one.contains(&word)).cloned().collect();
    if found.is_empty() { Err(format!("nothing has {word}")) } else { Ok(found) }
}

/// Counts.
#[tool(alone)]
fn count(text: &str) -> usize {
    text.len()
}

#[llm_output]
#[derive(Debug, PartialEq)]
struct Answer {
    book: String,
}

#[llm_node(prompt = "{question}", output = Answer, state = World, tools = [Search, Count], turns = 4, retries = 1)]
struct Recommend {
    question: String,
}

#[tokio::test]
async fn it_works() {
    let model = ScriptedModel::new()
        .reply(
            Reply::text("I look.")
                .call("search", json!({"word": "Rust"}))
                .call("count", json!({"text": "abc"})),
        )
        .reply(Reply::text("").call("serach", json!({})).call("search", json!({"word": 5})))
        .reply(json!({"book": "Rust in Action"}));
    let run = Run::new(model.clone()).with_state(World { books: vec!["Rust in Action".into()] });
    let report = run.call(&Recommend { question: "Which?".into() }).report().await.unwrap();
    assert_eq!(report.value, Answer { book: "Rust in Action".into() });
    let kinds: Vec<_> = report.record.attempts.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [AttemptKind::First, AttemptKind::Turn, AttemptKind::Turn]);
    for request in model.requests() {
        println!("{}\n=====", request.transcript());
    }
    println!("{:#?}", report.record.attempts.iter().map(|one| &one.tools).collect::<Vec<_>>());
    assert_eq!(search("Rust".into(), run.state()).await.unwrap().len(), 1);
    assert_eq!(run.call(&Count { text: "four".into() }).await.unwrap(), 4);
}
