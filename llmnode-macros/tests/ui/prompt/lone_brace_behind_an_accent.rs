// Cause: a brace closes what was never opened, and stands behind a letter of two bytes.
// Mend: write `}}` for a brace of the text.
use llmnode::llm_node;

#[llm_node(prompt = "é}x")]
struct Summarize;

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Summarize);
}
