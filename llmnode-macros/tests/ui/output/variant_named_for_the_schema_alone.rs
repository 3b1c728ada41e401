// Cause: schemars gives the variant a name that serde does not read.
// Mend: rename it in `#[serde(…)]`, which the schema follows.
use llmnode::{llm_node, llm_output};

#[llm_output]
#[serde(rename_all = "lowercase")]
enum Choice {
    Axe,
    #[schemars(rename = "cord")]
    Rope,
}

#[llm_node(prompt = "Choose", output = Choice)]
struct Choose {}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Choose {});
}
