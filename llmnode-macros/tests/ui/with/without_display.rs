// Cause: an expression of `with` gives a value that is not text.
// Mend: choose the filter that writes it.
use llmnode::llm_node;

#[llm_node(prompt = "About {words}, again {words}", with(words = self.topic.split(' ').collect::<Vec<_>>()))]
struct Summarize {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Summarize { topic: "rain".into() });
}
