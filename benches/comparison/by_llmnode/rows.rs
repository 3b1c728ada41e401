//! names: llm_output, llm_node, prompt, fence, output, max_tokens, deadline, Run, map, concurrency, resume, JournalFile, open

use llmnode::journal::JournalFile;
use llmnode::prelude::*;
use serde_json::{Value, json};

use crate::model;

#[llm_output]
struct Label {
    topic: String,
}

#[llm_node(prompt = "{ask}\n{letter:fence}", output = Label, max_tokens = 50, deadline = 60s)]
struct Sort<'a> {
    ask: &'a str,
    letter: String,
}

pub async fn run(url: &str, folder: &str, ask: &str, rows: usize) -> Value {
    let run = Run::new(model(url));
    let nodes: Vec<Sort<'_>> = (0..rows)
        .map(|row| Sort {
            ask,
            letter: format!("letter {row:04}"),
        })
        .collect();
    let journal = JournalFile::open(format!("{folder}/letters.journal")).unwrap();
    let labels = run.map(&nodes).concurrency(32).resume(journal).await;
    let done = labels.iter().filter(|label| label.is_ok()).count();
    let error = labels.into_iter().find_map(Result::err);
    json!({"done": done, "error": error.map(|error| error.to_string())})
}
