// Cause: all stacks that would end with the fallback are written anew in `recover`.
// Mend: write the step `fallback` where the function should be called.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", output = u8, fallback = middle, recover(answer = [bubble], transport = [bubble], final = [bubble]))]
struct Rate {
    topic: String,
}

fn middle(_: &Rate, _: &llmnode::NodeError) -> u8 {
    5
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
