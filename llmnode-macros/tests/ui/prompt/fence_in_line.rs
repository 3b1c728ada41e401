// Cause: a fenced value stands in the middle of a line.
// Mend: give it a line of its own.
use llmnode::llm_node;

#[llm_node(prompt = "Sum up {page:fence} in a {style} style.")]
struct Summarize {
    page: String,
    style: String,
}

fn main() {
    let node = Summarize { page: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
