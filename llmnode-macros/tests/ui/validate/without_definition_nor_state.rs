// Cause: the type has validators, and its own derives do not say so to the types around it.
// Mend: put `#[llm_output]` on the definition, or `#[llmnode::validate]` above its derives.
use llmnode::{Invalid, llm_node, validate};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Choice {
    item: String,
}

#[validate]
impl Choice {
    fn item_is_given(&self) -> Result<(), Invalid> {
        if self.item.is_empty() { Err(Invalid::at("item", "is empty")) } else { Ok(()) }
    }
}

#[llm_node(prompt = "Choose.", output = Choice, retries = 2)]
struct Choose;

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Choose);
}
