// Cause: a variable of `with` has no expression.
// Mend: write the expression behind the equals sign.
use llmnode::llm_node;

#[llm_node(prompt = "About {topic}, {short}", with(short = ))]
struct Summarize {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Summarize { topic: "rain".into() });
}
