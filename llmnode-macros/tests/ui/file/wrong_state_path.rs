// Cause: a prompt file names a part of the state that does not exist.
// Mend: write the name of a field in the file, at the line and column that stand in the type's name.
use llmnode::llm_node;

struct World {
    inventory: Vec<String>,
    player: Player,
}

struct Player {
    name: String,
}

#[llm_node(prompt_file = "state.md", state = World)]
struct Choose;

fn main() {
    let world = World { inventory: vec![], player: Player { name: "Ada".into() } };
    let run = llmnode::Run::new(llmnode::ScriptedModel::new()).with_state(world);
    let _ = (run.call(&Choose), &run.state().inventory, &run.state().player.name);
}
