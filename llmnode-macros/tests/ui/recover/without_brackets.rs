// Cause: the steps of a category stand without brackets.
// Mend: write `schema_error = [repair(2)]`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", output = u8, recover(schema_error = repair(2), network = [bubble]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
