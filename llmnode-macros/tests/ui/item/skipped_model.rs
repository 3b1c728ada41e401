// Cause: the field of the node's model is marked as one that no prompt uses, which it is in any case.
// Mend: drop `skip`.
use llmnode::{ScriptedModel, llm_node};

#[llm_node(prompt = "Translate {text}.")]
struct Translate {
    #[node(model, skip)]
    small: ScriptedModel,
    text: String,
}

fn main() {}
