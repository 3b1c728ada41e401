// Cause: the variable has the format of a pointer.
// Mend: write `{error}`.
use llmnode::llm_node;

#[llm_node(prompt = "Explain {error:p}.")]
struct Explain {
    error: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Explain { error: String::new() });
}
