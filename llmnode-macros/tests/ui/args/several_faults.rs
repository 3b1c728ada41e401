// Cause: several arguments and variables are wrong at once, and each is reported.
// Mend: mend them in any order; none follows from another.
// Errors: 6
use llmnode::llm_node;

#[llm_node(prompt = "{topik} {style:} {}", retrys = 2, max_tokens = 0, temperature = "hot", output = Vec<u8, model = "x")]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
