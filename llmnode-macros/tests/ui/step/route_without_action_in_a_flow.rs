// Cause: a function decides, and nothing says what type it returns; a flow goes on by it.
// Mend: write `action = Type`.
use llmnode::prelude::*;

#[llm_node(prompt = "Greet.", state = World, route = is_long)]
struct Greet;

fn is_long(greeting: &str, _: &World) -> bool {
    greeting.len() > 20
}

#[derive(Default)]
struct World;

flow! {
    Greeting(World): Greet => match { true => end, false => Greet },
}

fn main() {}
