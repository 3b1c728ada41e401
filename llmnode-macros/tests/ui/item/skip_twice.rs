// Cause: the field is marked twice.
// Mend: drop one of the marks.
use llmnode::llm_node;

#[llm_node(prompt = "Say hello.")]
struct Rate {
    #[node(skip)]
    #[node(skip)]
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
