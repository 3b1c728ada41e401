// Cause: the field is marked as the node's model, and its type is no model.
// Mend: give it a model, such as `OpenAi` or `Arc<dyn ChatModel>`; a model's name goes into `model = "…"` of the attribute.
use llmnode::llm_node;

#[llm_node(prompt = "Translate {text}.")]
struct Translate {
    #[node(model)]
    llm: String,
    text: String,
}

fn main() {
    let run = llmnode::Run::new(llmnode::ScriptedModel::new());
    let node = Translate { llm: "small".into(), text: "a".into() };
    std::mem::drop(run.call(&node));
}
