// Cause: the name of a step is misspelt.
// Mend: write the name that the message proposes.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", output = u8, recover(schema_error = [repiar(2), bubble]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
