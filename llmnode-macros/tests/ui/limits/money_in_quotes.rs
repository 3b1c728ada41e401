// Cause: the money stands in quotes.
// Mend: write the number alone, in the unit of the prices.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", limits(money = "5 cents"))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
