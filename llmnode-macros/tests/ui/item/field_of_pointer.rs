// Cause: a field of the node is a raw pointer, which stays on one thread.
// Mend: hold the value itself, or an `Arc` of it.
use llmnode::llm_node;

#[llm_node(prompt = "About {topic} at {place:?}")]
struct Rate {
    topic: String,
    place: *const u8,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into(), place: std::ptr::null() });
}
