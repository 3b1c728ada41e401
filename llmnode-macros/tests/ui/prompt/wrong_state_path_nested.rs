// Cause: later steps of state paths are misspelt.
// Mend: write the names of the fields; line and column of each in the prompt stand in the type's name.
// Errors: 2
use llmnode::llm_node;

struct World {
    player: Player,
    pair: (u8, Option<Player>),
}

struct Player {
    name: String,
}

#[llm_node(
    prompt = concat!(
        "{topic} {state.player.nam}\n",
        "{state.player.name} {state.pair.1.name}\n",
    ),
    state = World,
)]
struct Summarize {
    topic: String,
}

fn main() {
    let player = || Player { name: "Ada".into() };
    let world = World { player: player(), pair: (1, Some(player())) };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(world);
    let _ = run.call(&Summarize { topic: "rain".into() });
    let _ = (&run.state().player.name, &run.state().pair);
}
