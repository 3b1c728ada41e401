// Cause: `post` names an `async fn`, but post writes the state in a plain function.
// Mend: write `fn keep(self, summary: String, desk: &mut Desk)` without `async`.
// Token: async
// Token: async fn
// Token: async fn keep(self, summary: String, desk: &mut Desk)
// Token: post = Summarise::keep
// Token: Summarise::keep
use llmnode::prelude::*;

#[derive(Default)]
struct Desk {
    letter: String,
    summaries: Vec<String>,
}

#[llm_node(
    prompt = "Sum up this letter in one sentence:\n{letter:fence}",
    max_tokens = 100,
    state = Desk,
    post = Summarise::keep,
)]
struct Summarise {
    #[prep(state.letter.clone())]
    letter: String,
}

impl Summarise {
    async fn keep(self, summary: String, desk: &mut Desk) {
        desk.summaries.push(summary);
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let desk = Desk { letter: "Dear bank, ..".into(), ..Desk::default() };
    let mut run = Run::new(ScriptedModel::new().reply("Somebody writes to a bank.")).with_state(desk);
    run.step::<Summarise>().await?;
    assert_eq!(run.state().summaries, ["Somebody writes to a bank."]);
    Ok(())
}
