// Cause: the action does not follow from the output.
// Mend: implement `From<&Output>` for it, or decide by `route = path`.
use llmnode::prelude::*;

#[llm_node(prompt = "Greet.", state = World, action = Length)]
struct Greet;

enum Length {
    Long,
    Short,
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
    let _ = [Length::Long, Length::Short];
}
