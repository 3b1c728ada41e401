// Cause: the validator returns a boxed future that does not say that it may leave its thread.
// Mend: add `+ Send` to the box.
use std::pin::Pin;

use llmnode::{Invalid, llm_node, llm_output, validate};

#[llm_output]
struct Choice {
    item: String,
}

#[validate]
impl Choice {
    fn item_is_given(&self) -> Pin<Box<dyn Future<Output = Result<(), Invalid>> + '_>> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            if self.item.is_empty() { Err(Invalid::at("item", "is empty")) } else { Ok(()) }
        })
    }
}

#[llm_node(prompt = "Choose.", output = Choice, retries = 2)]
struct Choose;

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Choose);
}
