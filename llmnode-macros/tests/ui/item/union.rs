// Cause: `#[llm_node]` stands on a union.
// Mend: put it on the struct whose fields the prompt uses.
use llmnode::llm_node;

#[llm_node(prompt = "Choose")]
union Choose {
    a: u8,
    b: u8,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = (run.call(&Choose { a: 0 }), run.call(&Choose { b: 0 }));
}
