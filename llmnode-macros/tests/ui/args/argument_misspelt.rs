// Cause: an argument's name is misspelt.
// Mend: write `output = Choice`.
// Token: ouput
use llmnode::prelude::*;

#[llm_output]
struct Choice {
    /// One of the colours.
    colour: String,
    reason: String,
}

#[llm_node(
    prompt = "Which colour suits {room}?",
    ouput = Choice,
    retries = 2,
)]
struct PickColour {
    room: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply(r#"{"colour": "red", "reason": "warm"}"#));
    let choice = run.call(&PickColour { room: "a kitchen".into() }).await?;
    println!("{} because {}", choice.colour, choice.reason);
    Ok(())
}
