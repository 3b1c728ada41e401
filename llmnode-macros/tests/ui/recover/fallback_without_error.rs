// Cause: a fallback does not take the error.
// Mend: write `fn in_the_middle(&self, _: &NodeError)`.
// Token: Rate::in_the_middle
// Token: fn in_the_middle(&self)
use llmnode::prelude::*;

#[llm_node(
    prompt = "How urgent is this letter, from 1 to 10?\n{letter}",
    output = u8,
    retries = 1,
    fallback = Rate::in_the_middle,
)]
struct Rate {
    letter: String,
}

impl Rate {
    fn in_the_middle(&self) -> u8 {
        5
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply("very").reply("Very!"));
    let urgency = run.call(&Rate { letter: "Help!".into() }).await?;
    println!("{urgency}");
    Ok(())
}
