// Cause: a placeholder holds an expression.
// Mend: declare a variable by `with`, and insert that.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}: {pages * 300} words")]
struct Summarize {
    topic: String,
    pages: u32,
}

fn main() {
    let node = Summarize { topic: "rain".into(), pages: 2 };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
