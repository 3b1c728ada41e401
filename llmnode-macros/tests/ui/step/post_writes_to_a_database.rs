// Cause: `post` is `async`, since it writes to a database.
// Mend: keep the output in the state by `post`, and write it in a node of its own.
// Token: save
// Token: async
use llmnode::prelude::*;

#[derive(Default)]
struct Notes {
    text: String,
    saved: Vec<String>,
}

#[llm_node(prompt = "Sum up:\n{text:fence}", state = Notes, post = save)]
struct SumUp {
    #[prep(state.text.clone())]
    text: String,
}

async fn save(_: SumUp, summary: String, state: &mut Notes) -> Result<(), BoxError> {
    tokio::task::yield_now().await;
    state.saved.push(summary);
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let mut run = Run::new(ScriptedModel::new().reply("Tea.")).with_state(Notes::default());
    run.step::<SumUp>().await
}
