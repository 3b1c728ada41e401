// Cause: the function is listed, by its path.
// Mend: list the type that it makes, by the same path.
#![allow(unused)]

use llmnode::prelude::*;

struct Garden {
    plants: Vec<String>,
}

mod beds {
    use super::*;

    /// Waters a plant.
    #[tool]
    pub async fn water(plant: String, garden: &Garden) -> bool {
        garden.plants.contains(&plant)
    }
}

#[llm_node(prompt = "{what}", state = Garden, tools = [beds::water])]
struct Tend {
    what: String,
}

fn main() {}
