//! PocketFlow's agent: it decides whether to search on or to answer, and goes round until it answers.
//!
//! ```text
//! cargo run --example flow_agent -- "How far does the north light reach?"
//! ```

use llmnode::flow::Step;
use llmnode::prelude::*;
use llmnode::stub_server::{Reply, StubServerBuilder};
use llmnode::{BoxError, Cx, StubServer};

mod common;

/// So often it may search: with a model that never makes up its mind, too, the flow ends.
const SEARCHES: usize = 3;

const CORPUS: [&str; 4] = [
    "The north light is 41 metres high and was built in 1868.",
    "The north light reaches 26 sea miles; its lens was ground in Paris.",
    "The east light is a museum with a foghorn.",
    "The south light has no road and no visitors.",
];

struct Research {
    question: String,
    query: String,
    notes: Vec<String>,
    searches: usize,
    answer: String,
}

#[llm_output]
#[derive(Action)]
enum Decision {
    Search,
    Answer,
}

#[llm_output]
struct Plan {
    next: Decision,
    /// What to search for: a few words.
    #[schemars(length(max = 60))]
    query: String,
}

/// Decides what to do next.
#[llm_node(
    prompt = "Question: {question}\nWhat we know:\n{notes:list}\nSearch for more, or answer?",
    output = Plan,
    retries = 2,
    state = Research,
    action = Decision,
    post = Decide::follow
)]
struct Decide {
    #[prep(state.question.clone())]
    question: String,
    #[prep(state.notes.clone())]
    notes: Vec<String>,
}

impl Decide {
    fn follow(self, plan: Plan, state: &mut Research) -> Decision {
        println!(
            "{} (known: {})",
            if matches!(plan.next, Decision::Search) { "search" } else { "answer" },
            self.notes.len()
        );
        state.query = plan.query;
        if state.searches == SEARCHES { Decision::Answer } else { plan.next }
    }
}

/// Finds what has most words of the query. No model is asked.
struct Search {
    query: String,
}

#[llmnode::step]
impl Step<Research> for Search {
    type Output = Option<String>;

    async fn prep(state: &Research) -> Result<Self, BoxError> {
        Ok(Search { query: state.query.clone() })
    }

    async fn exec(&self, _: &Cx<'_, Research>) -> Result<Option<String>, BoxError> {
        let words: Vec<_> = self.query.split_whitespace().map(str::to_lowercase).collect();
        let hits = |text: &str| words.iter().filter(|word| text.to_lowercase().contains(*word)).count();
        let best = CORPUS.into_iter().max_by_key(|text| hits(text)).filter(|text| hits(text) > 0);
        Ok(best.map(str::to_owned))
    }

    fn post(self, found: Option<String>, state: &mut Research) -> Result<(), BoxError> {
        state.searches += 1;
        state.notes.push(found.unwrap_or_else(|| format!("Nothing is known of {:?}.", self.query)));
        Ok(())
    }
}

#[llm_node(
    prompt = "Question: {question}\nWhat we know:\n{notes:list}\nAnswer in one sentence.",
    max_tokens = 200,
    state = Research,
    store = answer
)]
struct Answer {
    #[prep(state.question.clone())]
    question: String,
    #[prep(state.notes.clone())]
    notes: Vec<String>,
}

flow! { Agent(Research):
    Decide => match { Decision::Search => Search, Decision::Answer => Answer },
    Search => Decide,
    Answer => end,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let question = std::env::args().nth(1).unwrap_or("How far does the north light reach?".into());
    let (model, _server) = common::model(stub()).await?;
    let research =
        Research { question, query: String::new(), notes: vec![], searches: 0, answer: String::new() };
    let mut run = Run::new(model).with_state(research);
    run.flow(Agent).await?;
    println!("answer: {}", run.state().answer);
    println!("visits of decide: {}", run.ledger().of::<Decide>().map_or(0, |stats| stats.visits));
    Ok(())
}

/// A server that searches once, and answers with what was found.
fn stub() -> StubServerBuilder {
    StubServer::builder().default_reply(Reply::for_request(|request| {
        let messages = request.messages();
        let asked = messages.last().map_or("", |(_, content)| content);
        let known = asked.lines().find_map(|line| line.strip_prefix("- "));
        match (asked.ends_with("Search for more, or answer?"), known) {
            (true, None) => {
                Reply::json(serde_json::json!({"next": "Search", "query": "north light reaches"}))
            }
            (true, Some(_)) => Reply::json(serde_json::json!({"next": "Answer", "query": ""})),
            (false, known) => Reply::text(known.unwrap_or("I do not know.")),
        }
    }))
}
