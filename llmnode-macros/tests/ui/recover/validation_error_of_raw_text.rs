// Cause: the node has neither `output` nor `validate`, so nothing checks its answers.
// Mend: name the type of the answer with `output` or a function with `validate`, or drop the category.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", recover(validation_error = [model("big")]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
