// Cause: the node has neither `output` nor `validate`, so nothing finds its answers wrong.
// Mend: name the type of the answer with `output`, or a function with `validate`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", recover(answer = [repair(2)]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
