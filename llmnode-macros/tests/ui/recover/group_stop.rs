use llmnode::llm_node;

#[llm_node(prompt = "{topic}", recover(stop = [bubble], cancelled = [bubble]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
