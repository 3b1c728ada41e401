// Cause: the prompt of a node with conditional fields names a variable that is no field.
// Mend: write the name of a field; each build is checked with the fields that it has.
use llmnode::{llm_node, llm_output, validate};

#[llm_output]
struct Choice {
    #[cfg(debug_assertions)]
    item: String,
    #[cfg(not(debug_assertions))]
    name: String,
}

#[validate]
impl Choice {
    #[cfg(debug_assertions)]
    fn named(&self) -> Result<(), llmnode::Invalid> {
        if self.item.is_empty() { Err(llmnode::Invalid::new("empty")) } else { Ok(()) }
    }
}

#[llm_node(prompt = "About {topik}", output = Choice)]
struct Summarize {
    topic: String,
    #[cfg(not(debug_assertions))]
    depth: u8,
    #[cfg_attr(debug_assertions, node(skip))]
    style: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Summarize { topic: String::new(), style: String::new() });
}
