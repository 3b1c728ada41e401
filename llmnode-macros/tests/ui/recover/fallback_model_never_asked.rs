// Cause: all stacks that would end with the fallback model are written anew in `recover`.
// Mend: write `model("big")` where it should be asked, and drop `fallback_model`.
use llmnode::llm_node;

#[llm_node(prompt = "{topic}", fallback_model = "big", recover(answer = [bubble], transport = [bubble], final = [bubble]))]
struct Rate {
    topic: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Rate { topic: "rain".into() });
}
