// Cause: a field occurs in no prompt, which is most often a variable forgotten.
// Mend: name it in the prompt, or mark it `#[node(skip)]`.
use llmnode::llm_node;

#[llm_node(prompt = "About {topic}")]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
