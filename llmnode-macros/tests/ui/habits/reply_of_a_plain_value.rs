// Cause: a scripted reply is a value of a type without `Serialize`.
// Mend: derive `Serialize`, put `#[llm_output]` on the type, or give the text.
// Token: Guess
// Token: struct Guess
use llmnode::prelude::*;

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
struct Guess {
    number: u8,
}

#[llm_node(prompt = "Guess a number below {limit}.", output = Guess)]
struct GuessBelow {
    limit: u8,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply(Guess { number: 3 }));
    println!("{:?}", run.call(&GuessBelow { limit: 10 }).await?);
    Ok(())
}
