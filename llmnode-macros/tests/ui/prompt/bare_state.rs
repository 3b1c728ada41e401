// Cause: the prompt inserts the whole state, which is no text.
// Mend: name the part that the model needs, `{state.name}`.
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
