// Cause: schemars has a rule for the names of all fields, and serde has not.
// Mend: write the rule in `#[serde(…)]`, which the schema follows.
use llmnode::{llm_node, llm_output};

#[llm_output]
#[schemars(rename_all = "camelCase")]
struct Choice {
    chosen_item: String,
    chosen_colour: String,
}

#[llm_node(prompt = "Choose", output = Choice)]
struct Choose {}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Choose {});
}
