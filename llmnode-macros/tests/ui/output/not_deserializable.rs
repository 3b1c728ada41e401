// Cause: the answer's type can neither be read from JSON nor described to the model.
// Mend: put `#[llm_output]` above the struct.
use llmnode::llm_node;

struct Verdict;

#[llm_node(prompt = "About {topic} in a {style} style", output = Verdict)]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let _ = Verdict;
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
