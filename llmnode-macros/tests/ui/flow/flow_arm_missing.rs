// Cause: The routes of `Decide` have no arm for the action `Next::GiveUp`.
// Mend: add the arm `Next::GiveUp => end` to the `match` of `Decide`.
// Token: Decide => match
// Token: match
// Token: match { Next::Ask => Ask, Next::Answer => end }
// Token: { Next::Ask => Ask, Next::Answer => end }
// Token: Decide
use llmnode::prelude::*;

#[derive(Default)]
struct Talk {
    wish: String,
    detail: Option<String>,
}

#[llm_output]
#[derive(Action)]
enum Next {
    Ask,
    Answer,
    GiveUp,
}

#[llm_node(prompt = "The caller wants: {wish}\nWhat next?", output = Next, state = Talk, action = Next)]
struct Decide {
    #[prep(state.wish.clone())]
    wish: String,
}

#[llm_node(prompt = "What should we ask about {state.wish:?}?", state = Talk, store = detail)]
struct Ask;

flow! {
    Hotline(Talk):
    Decide => match { Next::Ask => Ask, Next::Answer => end },
    Ask => Decide,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let model = ScriptedModel::new().reply(r#"{"value": "Ask"}"#).reply("Which size?").reply(r#"{"value": "Answer"}"#);
    let mut run = Run::new(model).with_state(Talk { wish: "boots".into(), ..Talk::default() });
    run.flow(Hotline).max_steps(10).await?;
    println!("asked: {:?}", run.state().detail);
    Ok(())
}
