// Cause: the call is not awaited, so nothing is asked.
// Mend: write `run.call(&node).await?`.
// Token: run.call(&node)?
use llmnode::prelude::*;

#[llm_output]
struct City {
    name: String,
}

#[llm_node(prompt = "Which city is meant?\n{text:fence}", output = City, retries = 1)]
struct FindCity {
    text: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply(r#"{"name": "Oslo"}"#));
    let node = FindCity { text: "Greetings from Oslo!".into() };
    let city = run.call(&node)?;
    println!("{}", city.name);
    Ok(())
}
