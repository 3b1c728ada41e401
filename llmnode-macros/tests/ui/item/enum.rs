use llmnode::llm_node;

#[llm_node(prompt = "Choose")]
enum Choose {
    A,
    B,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = (run.call(&Choose::A), run.call(&Choose::B));
}
