//! PocketFlow's majority vote: a question is asked several times, side by side, and what most answers say counts.
//!
//! ```text
//! cargo run --example flow_vote
//! cargo run --example flow_vote -- --page run.html
//! ```

use std::collections::BTreeMap;

use llmnode::flow::Batch;
use llmnode::prelude::*;
use llmnode::stub_server::{StubReply, StubServerBuilder};
use llmnode::{Recording, StubServer};

mod common;
mod page;

const VOTERS: usize = 5;

struct Poll {
    question: String,
    votes: BTreeMap<i64, usize>,
}

#[llm_output]
struct Vote {
    /// Step by step, in short.
    #[schemars(length(max = 120))]
    reasoning: String,
    answer: i64,
}

/// One voter. A model of temperature 0 would give the same vote each time.
#[llm_node(
    prompt = "{question}\nYou are voter {voter}.",
    output = Vote,
    retries = 1,
    max_tokens = 200,
    deadline = 90s,
    temperature = 1.0,
    state = Poll,
    batch = Ask::voters,
    post = Ask::count
)]
struct Ask {
    question: String,
    voter: usize,
}

impl Ask {
    fn voters(state: &Poll) -> Vec<Ask> {
        (1..=VOTERS)
            .map(|voter| Ask {
                question: state.question.clone(),
                voter,
            })
            .collect()
    }

    fn count(_: Vec<Ask>, votes: Vec<Vote>, state: &mut Poll) {
        votes
            .into_iter()
            .for_each(|vote| *state.votes.entry(vote.answer).or_default() += 1);
    }
}

flow! { Majority(Poll):
    Batch<Ask> as Voters => end,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = common::Arguments::read("[--page FILE]");
    let (model, _server) = common::model(stub()).await?;
    let question = "A snail climbs 3 m a day and slides back 2 m a night. On which day is it up a wall of 10 m?";
    let mut run = Run::new(model).with_state(Poll {
        question: question.into(),
        votes: BTreeMap::new(),
    });
    let recording = Recording::new().with_content(true);
    let outcome = run.flow(Majority).record(&recording).await;
    page::write(&recording, arguments.option("--page"))?;
    outcome?;
    let votes = &run.state().votes;
    for (answer, votes) in votes {
        println!("{votes} of {VOTERS}: {answer}");
    }
    if let Some((answer, _)) = votes.iter().max_by_key(|(_, votes)| **votes) {
        println!("answer: {answer}");
    }
    Ok(())
}

/// A server that is wrong twice in five times.
fn stub() -> StubServerBuilder {
    StubServer::builder().default_reply(StubReply::for_request(|request| {
        let messages = request.messages();
        let asked = messages.last().map_or("", |(_, content)| content);
        let hasty = asked.contains("voter 2") || asked.contains("voter 5");
        StubReply::json(serde_json::json!({"reasoning": "…", "answer": if hasty { 10 } else { 8 }}))
    }))
}
