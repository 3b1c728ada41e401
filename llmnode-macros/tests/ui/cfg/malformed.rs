// Cause: a `#[cfg]` on a field holds two conditions.
// Mend: join them, as in `#[cfg(all(unix, test))]`.
use llmnode::llm_node;

#[llm_node(prompt = "About {topic}")]
struct Summarize {
    #[cfg(unix, debug_assertions)]
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Summarize { topic: String::new() });
}
