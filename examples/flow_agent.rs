//! PocketFlow's agent: it searches until it knows enough, and then a second step answers. The rounds of searching are those of a
//! node with tools; the flow leads from step to step.
//!
//! ```text
//! cargo run --example flow_agent -- "How far does the north light reach?"
//! ```

use llmnode::StubServer;
use llmnode::prelude::*;
use llmnode::stub_server::{StubReply, StubServerBuilder};

mod common;

const CORPUS: [&str; 4] = [
    "The north light is 41 metres high and was built in 1868.",
    "The north light reaches 26 sea miles; its lens was ground in Paris.",
    "The east light is a museum with a foghorn.",
    "The south light has no road and no visitors.",
];

struct Research {
    question: String,
    notes: String,
    answer: String,
}

/// Finds what is known about a few words.
#[tool]
fn search(query: &str) -> Result<&'static str, String> {
    println!("search: {query}");
    let words: Vec<_> = query.split_whitespace().map(str::to_lowercase).collect();
    let hits = |text: &str| {
        words
            .iter()
            .filter(|word| text.to_lowercase().contains(*word))
            .count()
    };
    let best = CORPUS
        .into_iter()
        .max_by_key(|text| hits(text))
        .filter(|text| hits(text) > 0);
    best.ok_or_else(|| format!("nothing is known about {query:?}"))
}

/// Gathers what is known. With a model that never makes up its mind, too, it ends after four responses.
#[llm_node(
    system = "Search until you know enough. Then write down what you found.",
    prompt = "Question: {question}",
    state = Research,
    tools = [Search],
    turns = 4,
    max_tokens = 200,
    store = notes
)]
struct Gather {
    #[prep(state.question.clone())]
    question: String,
}

/// Answers.
#[llm_node(
    prompt = "Question: {question}\nWhat we know: {notes}\nAnswer in one sentence.",
    max_tokens = 200,
    state = Research,
    store = answer
)]
struct Answer {
    #[prep(state.question.clone())]
    question: String,
    #[prep(state.notes.clone())]
    notes: String,
}

flow! { Agent(Research): Gather => Answer, Answer => end }

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = common::Arguments::read("[QUESTION]");
    let question = arguments
        .value(0)
        .unwrap_or("How far does the north light reach?")
        .to_owned();
    let (model, _server) = common::model(stub()).await?;
    let research = Research {
        question,
        notes: String::new(),
        answer: String::new(),
    };
    let mut run = Run::new(model).with_state(research);
    run.flow(Agent).await?;
    println!("answer: {}", run.state().answer);
    println!(
        "requests of gather: {}",
        run.ledger()
            .of::<Gather>()
            .map_or(0, |stats| stats.usage.requests)
    );
    Ok(())
}

/// A server that searches once, and answers with what was found.
fn stub() -> StubServerBuilder {
    StubServer::builder().default_reply(StubReply::for_request(|request| {
        let messages = request.messages();
        let (role, said) = messages
            .last()
            .map_or(("", ""), |(role, said)| (role.as_str(), said.as_str()));
        let known = said
            .lines()
            .find_map(|line| line.strip_prefix("What we know: "));
        match (role, known) {
            ("tool", _) => StubReply::text(said),
            (_, Some(known)) => StubReply::text(known),
            _ => StubReply::call(
                "search",
                serde_json::json!({"query": "north light reaches"}),
            ),
        }
    }))
}
