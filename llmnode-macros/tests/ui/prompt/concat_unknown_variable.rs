// Cause: a joined prompt names a variable that is no field of the node.
// Mend: write the name of a field, or add the field.
use llmnode::llm_node;

#[llm_node(prompt = concat!(
    "About {topic},\n",
    "in a {stile} style:\n",
))]
struct Summarize {
    topic: String,
    #[node(skip)]
    style: String,
}

fn main() {
    let node = Summarize { topic: "rain".into(), style: "calm".into() };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let _ = run.call(&node);
}
