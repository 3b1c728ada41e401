// Cause: a validator stands there in some builds only.
// Mend: write the block once for each build, below `#[cfg(…)]`, or ask `cfg!(…)` in the validator.
use llmnode::{llm_node, llm_output, validate};

#[llm_output]
struct Choice {
    item: String,
}

#[validate]
impl Choice {
    #[cfg(all(unix, not(debug_assertions)))]
    fn named(&self) -> Result<(), llmnode::Invalid> {
        if self.item.is_empty() { Err(llmnode::Invalid::new("empty")) } else { Ok(()) }
    }

    #[cfg(not(unix))]
    fn helper() {}
}

#[llm_node(prompt = "Choose.", output = Choice)]
struct Choose;

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Choose);
    let _ = Choice { item: String::new() };
}
