//! The smallest node that shows everything: a checked prompt, a typed answer, a validator that reads the
//! program's state, a correction, and what it cost.
//!
//! ```text
//! cargo run --example quickstart                 # no key needed: starts a server on loopback itself
//! cargo run --example quickstart -- --json       # prints the ledger as JSON
//! OPENAI_BASE_URL=… OPENAI_API_KEY=… OPENAI_MODEL=… cargo run --example quickstart
//! ```
//!
//! Exit code 0: a validated answer. 2: the model never gave one; the error tells what happened.

use std::process::ExitCode;

use llmnode::StubServer;
use llmnode::prelude::*;
use llmnode::stub_server::{StubReply, StubServerBuilder};

mod common;

use common::Arguments;

struct World {
    inventory: Vec<String>,
}

#[llm_output]
struct Choice {
    /// One of the available items, spelled as listed.
    item: String,
    /// Why this one, in one sentence.
    reason: String,
}

#[validate(state)]
impl Choice {
    fn item_is_available(&self, state: &World) -> Result<(), Invalid> {
        if state.inventory.contains(&self.item) {
            return Ok(());
        }
        Err(
            Invalid::at("item", format!("{:?} is not available", self.item))
                .allowed(&state.inventory),
        )
    }

    fn reason_is_given(&self) -> Result<(), Invalid> {
        if self.reason.trim().is_empty() {
            return Err(Invalid::at("reason", "is empty; say why in one sentence"));
        }
        Ok(())
    }
}

/// Decides which item to use next.
#[llm_node(
    system = "You are a careful adventurer.",
    prompt = "Goal: {goal}\nAvailable items:\n{state.inventory:list}\nChoose one.",
    output = Choice,
    state = World,
    retries = 2
)]
struct ChooseItem {
    goal: String,
}

#[tokio::main]
async fn main() -> ExitCode {
    let json = Arguments::read("[--json]").option("--json").is_some();
    let (model, server) = match common::model(stub()).await {
        Ok(parts) => parts,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let world = World {
        inventory: vec!["brass key".into(), "oil lamp".into(), "rope".into()],
    };
    // A price of the program's own, in dollars. A model without one has no cost.
    let prices = Prices::new().model("stub", Price::per_million(0.25, 2.0));
    let run = Run::new(model).with_prices(prices).with_state(world);
    let answer = run
        .call(&ChooseItem {
            goal: "open the cellar door".into(),
        })
        .await;

    if json {
        println!("{:#}", run.ledger().to_json());
    } else {
        println!("tokens by node: {:?}", run.ledger().tokens_used());
        if let Some(server) = &server {
            print_log(server);
        }
    }
    match answer {
        Ok(Choice { item, reason }) => {
            if !json {
                println!("answer: {item}: {reason}");
                println!("in all: {}", run.ledger().total());
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// A server that answers wrongly first.
fn stub() -> StubServerBuilder {
    StubServer::builder().script([
        StubReply::text(r#"{"item": "crowbar", "reason": ""}"#),
        StubReply::text(
            r#"{"item": "brass key", "reason": "A key opens a lock without breaking it."}"#,
        ),
    ])
}

/// What the server itself saw: the second request is the first one, the bad answer, and what was wrong.
fn print_log(server: &StubServer) {
    for (number, request) in server.requests().iter().enumerate() {
        println!("request {}, as the server logged it:", number + 1);
        for (role, content) in request.messages() {
            println!("  {role}: {}", content.replace('\n', "\n    "));
        }
    }
    let totals = server.usage_totals();
    println!(
        "tokens by the server's log: {}",
        totals.total().unwrap_or_default()
    );
}
