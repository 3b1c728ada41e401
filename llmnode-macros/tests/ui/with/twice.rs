// Cause: `with` declares a variable twice.
// Mend: drop one of them, or give it another name.
use llmnode::llm_node;

#[llm_node(prompt = "About {short}", with(short = self.topic.trim(), short = self.topic.trim_end()))]
struct Summarize {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Summarize { topic: "rain".into() });
}
