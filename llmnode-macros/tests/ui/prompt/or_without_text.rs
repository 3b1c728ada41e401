// Cause: `:or` does not say what stands for an absent value.
// Mend: write the words in parentheses, `{topic:or(none)}`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic:or}")]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
