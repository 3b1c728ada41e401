// Cause: The action is made by `From<Verdict>`, but a step routes by `From<&Verdict>`.
// Mend: write `impl From<&Verdict> for Ruling` and `fn from(verdict: &Verdict) -> Self`.
// Token: From<Verdict>
// Token: Verdict
// Token: impl From<Verdict> for Ruling
// Token: action = Ruling
// Token: Ruling
use llmnode::prelude::*;

#[derive(Default)]
struct Desk {
    draft: String,
}

#[llm_output]
struct Verdict {
    good_enough: bool,
}

#[derive(Action)]
enum Ruling {
    Pass,
    Fail,
}

impl From<Verdict> for Ruling {
    fn from(verdict: Verdict) -> Self {
        if verdict.good_enough { Ruling::Pass } else { Ruling::Fail }
    }
}

#[llm_node(prompt = "Write one line for a poster.", state = Desk, store = draft)]
struct Write;

#[llm_node(prompt = "Is it good enough?\n{state.draft:fence}", output = Verdict, state = Desk, action = Ruling)]
struct Judge;

flow! { Polish(Desk): Write => Judge, Judge => match { Ruling::Pass => end, Ruling::Fail => Write } }

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let model = ScriptedModel::new().reply("Come up. See far.").reply(r#"{"good_enough": true}"#);
    let mut run = Run::new(model).with_state(Desk::default());
    run.flow(Polish).await
}
