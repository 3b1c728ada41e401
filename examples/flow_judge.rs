//! PocketFlow's judge: one model writes, one judges, and what it finds wanting goes back to the first.
//!
//! ```text
//! cargo run --example flow_judge
//! cargo run --example flow_judge -- --page run.html
//! ```

use llmnode::prelude::*;
use llmnode::stub_server::{StubReply, StubServerBuilder};
use llmnode::{Recording, StubServer};

mod common;
mod page;

/// The last draft counts, whatever the judge says.
const ROUNDS: usize = 3;

#[derive(Default)]
struct Desk {
    task: String,
    draft: String,
    complaint: Option<String>,
    rounds: usize,
}

/// Writes a draft, the second time with what was wrong with the first.
#[llm_node(
    prompt = "{task}\nThe last draft: {draft:or(none)}\nWhat was wrong with it: {complaint:or(nothing)}",
    max_tokens = 120,
    state = Desk,
    store = draft
)]
struct Write {
    #[prep(state.task.clone())]
    task: String,
    #[prep(Some(state.draft.clone()).filter(|draft| !draft.is_empty()))]
    draft: Option<String>,
    #[prep(state.complaint.clone())]
    complaint: Option<String>,
}

#[llm_output]
struct Verdict {
    good_enough: bool,
    /// What to change; empty if it is good enough.
    #[schemars(length(max = 300))]
    complaint: String,
}

#[derive(Action)]
enum Ruling {
    Pass,
    Fail,
}

#[llm_node(
    prompt = "The task: {task}\nThe draft:\n{draft:fence}\nIs it good enough?",
    output = Verdict,
    retries = 1,
    state = Desk,
    action = Ruling,
    post = Judge::rule
)]
struct Judge {
    #[prep(state.task.clone())]
    task: String,
    #[prep(state.draft.clone())]
    draft: String,
}

impl Judge {
    fn rule(self, verdict: Verdict, state: &mut Desk) -> Ruling {
        state.rounds += 1;
        println!(
            "round {}: {}",
            state.rounds,
            if verdict.good_enough {
                "good enough"
            } else {
                "not yet"
            }
        );
        state.complaint = Some(verdict.complaint);
        if verdict.good_enough || state.rounds == ROUNDS {
            Ruling::Pass
        } else {
            Ruling::Fail
        }
    }
}

flow! { Polish(Desk):
    Write => Judge,
    Judge => match { Ruling::Pass => end, Ruling::Fail => Write },
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = common::Arguments::read("[--page FILE]");
    let (model, _server) = common::model(stub()).await?;
    let task = "Write one line for a poster of a lighthouse.".to_owned();
    let mut run = Run::new(model).with_state(Desk {
        task,
        ..Desk::default()
    });
    let recording = Recording::new().with_content(true);
    let outcome = run.flow(Polish).record(&recording).await;
    page::write(&recording, arguments.option("--page"))?;
    outcome?;
    println!("{}", run.state().draft);
    Ok(())
}

/// A server that writes too much at first, and minds it.
fn stub() -> StubServerBuilder {
    StubServer::builder().default_reply(StubReply::for_request(|request| {
        let messages = request.messages();
        let asked = messages.last().map_or("", |(_, content)| content);
        let wordy = "Come and see the light, which is very, very high, and quite old.";
        match (
            asked.ends_with("Is it good enough?"),
            asked.contains("Too long."),
        ) {
            (true, _) if asked.contains(wordy) => {
                StubReply::json(serde_json::json!({"good_enough": false, "complaint": "Too long."}))
            }
            (true, _) => StubReply::json(serde_json::json!({"good_enough": true, "complaint": ""})),
            (false, false) => StubReply::text(wordy),
            (false, true) => StubReply::text("Come up. See far."),
        }
    }))
}
