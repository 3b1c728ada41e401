// Cause: no prompt uses a variable that `with` declares.
// Mend: insert it into a prompt, or drop it.
use llmnode::llm_node;

#[llm_node(prompt = "About {topic}", with(short = self.topic.trim()))]
struct Summarize {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Summarize { topic: "rain".into() });
}
