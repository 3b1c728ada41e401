use llmnode::llm_node;

#[llm_node(prompt = "{topic}", max_wait = 10s, stop_on_repeat = true, attempt_timeout = 10s, timeout = 10s, requests = 5)]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
