// Cause: the answer is a list, and the attribute does not say of what.
// Mend: write `output = Vec<String>`.
// Token: Vec
use llmnode::prelude::*;

#[llm_node(
    system = "You name things.",
    prompt = "Five names for a cat that is {look}.",
    output = Vec,
    retries = 1,
)]
struct NameCat {
    look: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), NodeError> {
    let run = Run::new(ScriptedModel::new().reply(r#"["Tom", "Felix"]"#));
    let names = run.call(&NameCat { look: "black".into() }).await?;
    println!("{}", names.join(", "));
    Ok(())
}
