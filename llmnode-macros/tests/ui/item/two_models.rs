// Cause: two fields are marked as the node's model.
// Mend: leave one of them, and register the other on the run by `Run::model`.
use llmnode::{ScriptedModel, llm_node};

#[llm_node(prompt = "Translate {text}.")]
struct Translate {
    #[node(model)]
    small: ScriptedModel,
    #[node(model)]
    big: ScriptedModel,
    text: String,
}

fn main() {}
