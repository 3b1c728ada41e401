// Cause: the validator holds something over an `.await` that cannot be sent to another thread.
// Mend: drop it before the `.await`, or use `Arc`.
use llmnode::{Invalid, llm_node};

#[llm_node(prompt = "Choose.", output = u8, validate = is_small)]
struct Choose;

async fn is_small(n: &u8, _: &llmnode::AttemptInfo) -> Result<(), Invalid> {
    let most = std::rc::Rc::new(10);
    std::future::ready(()).await;
    if *n < *most { Ok(()) } else { Err(Invalid::new("is large")) }
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Choose);
}
