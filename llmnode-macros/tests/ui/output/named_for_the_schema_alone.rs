// Cause: schemars gives the field a name that serde does not read.
// Mend: rename it in `#[serde(…)]`, which the schema follows.
use llmnode::{llm_node, llm_output};

#[llm_output]
struct Choice {
    #[schemars(rename = "thing")]
    #[serde(rename = "object")]
    item: String,
    #[schemars(rename = "why")]
    #[serde(alias = "why")]
    reason: String,
}

#[llm_node(prompt = "Choose", output = Choice)]
struct Choose {}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Choose {});
}
