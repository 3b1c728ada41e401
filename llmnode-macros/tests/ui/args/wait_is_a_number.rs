// Cause: a time has no unit.
// Mend: write `wait = 10s`.
// Token: 10
use llmnode::prelude::*;

#[llm_output]
struct Summary {
    title: String,
    points: Vec<String>,
}

#[llm_node(
    prompt = "Sum up:\n{page:fence}",
    output = Summary,
    retries = 2,
    transport_retries = 3,
    wait = 10,
)]
struct SumUp {
    page: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply(r#"{"title": "Tea", "points": ["hot"]}"#));
    let summary = run.call(&SumUp { page: "Tea is hot.".into() }).await?;
    println!("{}: {}", summary.title, summary.points.join(", "));
    Ok(())
}
