// Cause: `run.step` is given a node, and makes it from the state itself.
// Mend: write `run.step::<Draft>().await?`, or `run.call(&draft)` for a node that is there already.
// Token: step::<Draft>()
// Missed: the number of arguments is checked before any trait, so rustc only proposes to leave it out.
use llmnode::prelude::*;

#[derive(Default)]
struct Letter {
    topic: String,
    text: String,
}

#[llm_node(prompt = "Write a letter about {topic}.", state = Letter, store = text)]
struct Draft {
    #[prep(state.topic.clone())]
    topic: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let letter = Letter { topic: "spring".into(), text: String::new() };
    let mut run = Run::new(ScriptedModel::new().reply("Dear spring, ...")).with_state(letter);
    let draft = Draft { topic: "spring".into() };
    run.step(&draft).await?;
    println!("{}", run.state().text);
    Ok(())
}
