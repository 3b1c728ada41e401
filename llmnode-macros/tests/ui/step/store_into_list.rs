// Cause: `store` names a field of type `Vec<String>`, but the output is one `String`, and `store` does not push.
// Mend: write `post = Write::add` with a function `fn add(self, verse: String, poem: &mut Poem)` that pushes.
// Token: store = verses
// Token: verses
// Token: Vec<String>
use llmnode::prelude::*;

#[derive(Default)]
struct Poem {
    topic: String,
    verses: Vec<String>,
}

/// Writes the next verse.
#[llm_node(
    prompt = "A poem about {topic}. So far:\n{state.verses:list}\nWrite the next verse.",
    max_tokens = 80,
    state = Poem,
    store = verses,
)]
struct Write {
    #[prep(state.topic.clone())]
    topic: String,
}

flow! { TwoVerses(Poem):
    Write => Again,
    Write as Again => end,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let model = ScriptedModel::new().reply("The rain falls").reply("on the roof");
    let mut run = Run::new(model).with_state(Poem { topic: "rain".into(), ..Poem::default() });
    run.flow(TwoVerses).await?;
    println!("{}", run.state().verses.join("\n"));
    Ok(())
}
