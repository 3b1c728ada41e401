//! A refund that a person approves, on Restate. `docs/many-machines.md` has the commands.

use llmnode::prelude::*;
use llmnode_restate::{Client, Decision, Outcome, Worker};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Order {
    complaint: String,
    answer: String,
}

/// Pays money back to the customer.
#[tool(require_approval)]
fn refund(euros: u32) -> String {
    println!("paid back: {euros} euros");
    format!("{euros} euros are paid back")
}

#[llm_node(prompt = "Answer the customer: {complaint}", tools = [Refund], state = Order, store = answer)]
struct Reply {
    #[prep(state.complaint.clone())]
    complaint: String,
}

flow! { Support(Order): Reply => end }

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runs = Client::new(&std::env::var("RESTATE").unwrap_or("http://127.0.0.1:8080".into()))?;
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["worker", address] => {
            let make = |order| async { Ok(Run::new(OpenAi::from_env()?).with_state(order)) };
            Worker::new()
                .flow("support", make, || Support)
                .serve(address)
                .await?;
        }
        ["start", id, complaint] => {
            let order = Order {
                complaint: complaint.into(),
                answer: String::new(),
            };
            println!("started: {}", runs.start("support", id, &order).await?);
        }
        ["status", id] => println!(
            "{:#}",
            serde_json::to_value(runs.status("support", id).await?)?
        ),
        ["approve", id] => {
            let status = runs.status("support", id).await?;
            runs.decide("support", id, &Decision::all(&status, Approval::yes()))
                .await?;
            let outcome: Outcome<Order> = runs.result("support", id).await?;
            println!(
                "{}\n{} requests",
                outcome.state.answer, outcome.usage.requests
            );
        }
        _ => eprintln!("approval worker ADDRESS | start ID COMPLAINT | status ID | approve ID"),
    }
    Ok(())
}
