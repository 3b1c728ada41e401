// Cause: `with` is given an expression without a name.
// Mend: write the name that the prompt uses before it.
use llmnode::llm_node;

#[llm_node(prompt = "About {topic}", with(self.topic.len()))]
struct Summarize {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Summarize { topic: "rain".into() });
}
