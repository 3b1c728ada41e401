// Cause: the validator returns a future of its own that holds an `Rc` across an `.await`.
// Mend: use `Arc` in place of `Rc`, or drop the value before the `.await`.
use llmnode::{Invalid, llm_node, llm_output, validate};

#[llm_output]
struct Choice {
    item: String,
}

#[validate]
impl Choice {
    fn item_is_given(&self) -> impl Future<Output = Result<(), Invalid>> {
        async move {
            let item = std::rc::Rc::new(self.item.clone());
            tokio::task::yield_now().await;
            if item.is_empty() { Err(Invalid::at("item", "is empty")) } else { Ok(()) }
        }
    }
}

#[llm_node(prompt = "Choose.", output = Choice, retries = 2)]
struct Choose;

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Choose);
}
