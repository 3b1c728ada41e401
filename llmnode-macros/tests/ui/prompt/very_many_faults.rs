// Cause: a prompt has more faults than are worth a message each.
// Mend: mend the first ten, which are listed; the rest is listed after them.
// Errors: 11
use llmnode::llm_node;

#[llm_node(prompt = "{a.0} {a.1} {a.2} {a.3} {a.4} {a.5} {a.6} {a.7} {a.8} {b} {c} }")]
struct Summarize {
    a: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Summarize { a: "rain".into() });
}
