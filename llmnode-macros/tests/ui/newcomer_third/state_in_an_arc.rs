// Cause: the state is shared by an `Arc`, and the node reads what is in it.
// Mend: give the run the `Rules` themselves, and share the run: `Arc::new(run)`.
// Token: Arc::new(Rules
// Token: rules.clone()
// Token: with_state
// Missed: the call is underlined, and not where the run gets its state.
use std::sync::Arc;

use llmnode::prelude::*;

struct Rules {
    forbidden: Vec<String>,
}

#[llm_node(prompt = "Rewrite without {state.forbidden:list}:\n{text}", state = Rules)]
struct Rewrite {
    text: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let rules = Arc::new(Rules { forbidden: vec!["very".into()] });
    let run = Run::new(ScriptedModel::new().reply("Good.")).with_state(rules.clone());
    let text = run.call(&Rewrite { text: "Very good.".into() }).await?;
    println!("{text} ({} rules)", rules.forbidden.len());
    Ok(())
}
