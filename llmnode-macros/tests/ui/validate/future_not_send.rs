// Cause: the validator's future holds a value across an `.await` that may not leave its thread.
// Mend: drop the value before the `.await`, or use `Arc` in place of `Rc`.
use llmnode::{Invalid, llm_node, llm_output, validate};

#[llm_output]
struct Choice {
    item: String,
}

#[validate]
impl Choice {
    async fn item_is_given(&self) -> Result<(), Invalid> {
        let item = std::rc::Rc::new(self.item.clone());
        tokio::task::yield_now().await;
        if item.is_empty() { Err(Invalid::at("item", "is empty")) } else { Ok(()) }
    }
}

#[llm_node(prompt = "Choose.", output = Choice, retries = 2)]
struct Choose;

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Choose);
}
