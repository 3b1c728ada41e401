// Cause: an expression of `with` names a field that the node does not have.
// Mend: write the name of a field of the node.
use llmnode::llm_node;

#[llm_node(prompt = "About {short}", with(short = self.topik.trim()))]
struct Summarize {
    topic: String,
}

fn main() {
    let node = Summarize { topic: "rain".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = (run.call(&node), &node.topic);
}
