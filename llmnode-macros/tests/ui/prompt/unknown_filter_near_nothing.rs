// Cause: there is no such filter.
// Mend: use one of the listed ones, or add a field that holds the text in its final form.
use llmnode::llm_node;

#[llm_node(prompt = "{topic:upper}")]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
