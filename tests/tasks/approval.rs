use std::error::Error;
use std::path::Path;

use llmnode::Paused;
use llmnode::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Pays money back to the customer.
#[tool(require_approval)]
fn refund(order: u32, euros: u32, cx: &Cx<'_, ()>) -> String {
    // Here you would call your payment service. This key is the same on every repetition of the call: it pays once.
    let key = cx.call_id().unwrap_or_default();
    println!("{euros} euros for order {order}, once for the key {key}");
    format!("paid back {euros} euros for order {order}")
}

#[llm_node(
    system = "You answer letters to a shop. Pay back what arrived broken.",
    prompt = "{letter:fence}",
    tools = [Refund],
)]
#[derive(Serialize, Deserialize)]
struct Answer {
    letter: String,
}

/// Asks the model, or goes on with what a person has decided. `None`: a tool waits for a person, and the file keeps the
/// conversation.
async fn answer(
    run: &Run,
    node: Answer,
    decided: Option<Paused>,
    file: &Path,
) -> Result<Option<String>, Box<dyn Error>> {
    let call = run.call(&node);
    let outcome = match decided {
        Some(decided) => call.approve(decided).await,
        None => call.await,
    };
    let error = match outcome {
        Ok(answer) => return Ok(Some(answer)),
        Err(error) => error,
    };
    let Some(paused) = error.paused() else {
        return Err(error.into());
    };
    for call in paused.waiting() {
        println!("May I call {} with {}?", call.name, call.arguments);
    }
    // The node is kept beside it: `approve` needs the same values.
    std::fs::write(file, serde_json::to_string(&(node, paused))?)?;
    Ok(None)
}

/// Decides about all tools that wait, and goes on. This may be days later, in another process.
async fn decide(run: &Run, yes: bool, file: &Path) -> Result<Option<String>, Box<dyn Error>> {
    let stored = std::fs::read_to_string(file)?;
    let (node, mut paused): (Answer, Paused) = serde_json::from_str(&stored)?;
    for call in paused.waiting() {
        let approval = if yes {
            Approval::yes()
        } else {
            Approval::no("the shop does not pay this back")
        };
        paused = paused.decide(&call.id, approval)?;
    }
    let answer = answer(run, node, Some(paused), file).await?;
    if answer.is_some() {
        std::fs::remove_file(file)?; // last: after a failure or a crash, decide again
    }
    Ok(answer)
}

/// `cargo run -- "My lamp arrived broken. Order 17."`, then `cargo run -- yes` or `cargo run -- no`.
#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let run = Run::new(OpenAi::from_env()?);
    let file = Path::new("waiting.json");
    let said = std::env::args().nth(1).unwrap_or_default();
    let answer = match said.as_str() {
        "yes" | "no" => decide(&run, said == "yes", file).await?,
        _ => answer(&run, Answer { letter: said }, None, file).await?,
    };
    println!("{}", answer.unwrap_or_default());
    Ok(())
}

#[tokio::test]
async fn nothing_is_paid_before_somebody_agrees() -> Result<(), Box<dyn Error>> {
    let file = std::env::temp_dir().join(format!("waiting-{}.json", std::process::id()));
    let letter = Answer {
        letter: "My lamp arrived broken. Order 17.".into(),
    };

    // One process asks the model, and ends.
    let call = Reply::text("").call("refund", json!({"order": 17, "euros": 20}));
    let run = Run::new(ScriptedModel::new().reply(call));
    assert_eq!(answer(&run, letter, None, &file).await?, None);

    // Another one goes on. The model reads what the tool returned.
    let model = ScriptedModel::new().reply("We have paid back 20 euros.");
    let answer = decide(&Run::new(model.clone()), true, &file).await?;
    assert_eq!(answer.as_deref(), Some("We have paid back 20 euros."));
    let result = model.requests()[0].messages.last().cloned();
    assert_eq!(result.unwrap().content, "paid back 20 euros for order 17");
    Ok(())
}
