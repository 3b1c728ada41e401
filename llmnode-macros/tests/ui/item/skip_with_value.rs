// Cause: `skip` is a mark and has a value here.
// Mend: write `#[node(skip)]`, or drop it for a field that the prompt uses.
use llmnode::llm_node;

#[llm_node(prompt = "Say hello.")]
struct Rate {
    #[node(skip = true)]
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
