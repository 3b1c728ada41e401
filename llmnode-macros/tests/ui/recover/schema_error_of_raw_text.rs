// Cause: the node has no `output`, so no answer can fail to fit a schema.
// Mend: name the type of the answer with `output`, or drop the category.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", recover(schema_error = [model("big")]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
