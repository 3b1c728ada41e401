// Cause: the node has no `output`, so its answer is raw text, which nothing can find invalid.
// Mend: name the type of the answer with `output` or a function that checks it with `validate`, or drop `retries`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic} {style}", retries = 2)]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
