// Cause: four mistakes, each of which is reported.
// Mend: mend each.
// Errors: 3
use llmnode::prelude::*;

#[llm_node(prompt = "Summarize {title}: {text}", stat = World, stor = summary, route = is_long)]
struct Summarize {
    #[prep]
    text: String,
    title: String,
}

fn is_long(greeting: &str, _: &World) -> bool {
    greeting.len() > 20
}

#[derive(Default)]
struct World {
    text: String,
    summary: Option<String>,
    count: u32,
}

fn main() {
    let mut run = Run::new(ScriptedModel::new()).with_state(World::default());
    let _ = run.step::<Summarize>();
}
