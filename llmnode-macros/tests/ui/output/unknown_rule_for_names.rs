// Cause: a rule for names is none of serde's.
// Mend: write one of the rules that the message lists, or `#[serde(rename = "…")]` on each variant.
use llmnode::prelude::*;

#[llm_output]
#[serde(rename_all = "Title Case")]
enum Mood {
    VeryGood,
    VeryBad,
}

#[llm_node(prompt = "What is the mood of this text?\n{text:fence}", output = Mood)]
struct FindMood {
    text: String,
}

fn main() {
    let run = Run::new(ScriptedModel::new());
    let _ = run.call(&FindMood { text: "It rains.".into() });
    let _ = [Mood::VeryGood, Mood::VeryBad];
}
