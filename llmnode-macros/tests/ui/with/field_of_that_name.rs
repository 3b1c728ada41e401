// Cause: `with` declares a variable that is a field already.
// Mend: give the variable another name.
use llmnode::llm_node;

#[llm_node(prompt = "About {topic}", with(topic = self.topic.trim()))]
struct Summarize {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Summarize { topic: "rain".into() });
}
