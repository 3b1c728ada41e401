use llmnode::llm_node;

const MAX: u32 = 3;

#[llm_node(prompt = "{topic} {style} in {MAX} words")]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let _ = MAX;
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
