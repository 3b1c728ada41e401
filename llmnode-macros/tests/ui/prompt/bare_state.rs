use llmnode::llm_node;

#[llm_node(prompt = "{state} {topic} {style}", state = u8)]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(1u8);
    let _ = run.call(&node);
}
