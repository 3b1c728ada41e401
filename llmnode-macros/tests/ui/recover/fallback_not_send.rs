// Cause: the fallback's future holds a value across an `.await` that may not leave its thread.
// Mend: drop the value before the `.await`, or use `Arc` in place of `Rc`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", output = u8, fallback = middle)]
struct Rate {
    topic: String,
}

async fn middle(_: &Rate, _: &llmnode::NodeError) -> u8 {
    let five = std::rc::Rc::new(5);
    std::future::ready(()).await;
    *five
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
