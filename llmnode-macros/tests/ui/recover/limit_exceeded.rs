// Cause: after a limit is reached no model may be asked.
// Mend: keep `fallback` or `bubble`.
use llmnode::llm_node;

#[llm_node(
    prompt = "{topic}",
    limits(requests = 1),
    recover(limit_exceeded = [model("big"), fallback]),
    fallback = Rate::hello,
)]
struct Rate {
    topic: String,
}

impl Rate {
    fn hello(&self, _: &llmnode::NodeError) -> String {
        "Hello!".into()
    }
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
