// Cause: the type of the action is in quotes.
// Mend: write it without.
use llmnode::prelude::*;

#[llm_node(prompt = "Greet.", state = World, action = "Length")]
struct Greet;

enum Length {
    Long,
    Short,
}

impl From<&String> for Length {
    fn from(text: &String) -> Self {
        if text.len() > 20 { Length::Long } else { Length::Short }
    }
}

#[derive(Default)]
struct World {
    text: String,
    summary: Option<String>,
    count: u32,
}

fn main() {
    let mut run = Run::new(ScriptedModel::new()).with_state(World::default());
    let _ = run.step::<Greet>();
}
