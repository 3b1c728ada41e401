// Cause: `stop` and what belongs to it are no failures of a model.
// Mend: name `limit_exceeded` if that is meant.
// Errors: 2
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", recover(stop = [bubble], cancelled = [bubble]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
