// Cause: the prompt misspells a variable that `with` declares.
// Mend: write its name.
// Errors: 2
use llmnode::llm_node;

#[llm_node(prompt = "About {topic} in {cuont} words, {x}", with(count = self.topic.len()))]
struct Summarize {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Summarize { topic: "rain".into() });
}
