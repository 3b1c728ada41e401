// Cause: a step has a fault, and stands in a flow; so has a node of a batch.
// Mend: mend the steps; the flow has no fault.
// Errors: 2
use llmnode::flow;
use llmnode::flow::Batch;
use llmnode::prelude::*;

#[llm_node(prompt = "Summarize: {txt}", state = World, action = bool, route = is_long, store = summary)]
struct Summarize {
    #[prep(state.text.clone())]
    text: String,
}

fn is_long(summary: &str, _: &World) -> bool {
    summary.len() > 20
}

#[llm_node(prompt = "Translate to {language}.", state = World, batch = each, stor = translations)]
struct Translate {
    language: String,
}

fn each(_: &World) -> Vec<Translate> {
    ["French", "Italian"].map(|language| Translate { language: language.to_owned() }).into()
}

#[derive(Default)]
struct World {
    text: String,
    summary: String,
    translations: Vec<String>,
}

flow! {
    Work(World):
        Summarize => match { true => Summarize, false => All },
        Batch<Translate> as All => end,
}

fn main() {
    let mut run = Run::new(ScriptedModel::new()).with_state(World::default());
    let _ = run.flow(Work);
}
