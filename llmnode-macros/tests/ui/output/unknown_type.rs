// Cause: the type named by `output` is not in scope.
// Mend: correct its name, or define or import it.
use llmnode::llm_node;

#[llm_node(prompt = "About {topic} in a {style} style", output = Verdict)]
struct Summarize {
    topic: String,
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
