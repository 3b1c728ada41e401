// Cause: `retry` stands in `recover` beside the categories, not in the steps of one.
// Mend: write `transport = [retry(3, 1s..20s)]`.
// Token: retry(3, 1s..20s)
use llmnode::prelude::*;

#[llm_output]
struct Route {
    team: String,
}

#[llm_node(
    prompt = "Which team answers this?\n{ticket:fence}",
    output = Route,
    recover(retry(3, 1s..20s), answer = [repair(1)]),
)]
struct Assign {
    ticket: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply(r#"{"team": "billing"}"#));
    println!("{}", run.call(&Assign { ticket: "My bill is wrong".into() }).await?.team);
    Ok(())
}
