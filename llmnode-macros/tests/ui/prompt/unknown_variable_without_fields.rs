use llmnode::llm_node;

#[llm_node(prompt = "Tell me about {topic}.")]
struct Tell;

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&Tell);
}
