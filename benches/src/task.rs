//! The task: choose one of the items there are. Three fields come back, and one validator looks at the state.

use llmnode::{Invalid, OutputSchema, llm_node, llm_output, validate};
use serde_json::value::RawValue;

/// The system message, for those who write it by hand.
pub const SYSTEM: &str = "You are a careful adventurer who always answers in the form asked for.";
pub const GOOD: &str = r#"{"chosen_item":"lamp","confidence":0.9,"reasons":["it is dark","the door is at the end of a corridor"]}"#;
pub const BAD: &str = r#"{"chosen_item":"axe","confidence":0.9,"reasons":["it is dark","the door is at the end of a corridor"]}"#;

/// A bad answer of 4 KB, which makes the conversation grow.
pub fn long_bad() -> String {
    BAD.replace("it is dark", &"it is dark, ".repeat(340))
}

/// The state. The validator reads the inventory; the notes only make it large.
pub struct World {
    pub inventory: Vec<String>,
    pub notes: String,
}

impl World {
    pub fn of_bytes(notes: usize) -> World {
        let inventory = ["lamp", "rope", "knife", "a very old key"]
            .map(str::to_owned)
            .to_vec();
        World {
            inventory,
            notes: "x".repeat(notes),
        }
    }
}

#[llm_output]
pub struct Choice {
    /// One of the available items, spelled as listed.
    pub chosen_item: String,
    pub confidence: f64,
    pub reasons: Vec<String>,
}

#[validate(state)]
impl Choice {
    fn item_is_available(&self, world: &World) -> Result<(), Invalid> {
        if world.inventory.contains(&self.chosen_item) {
            return Ok(());
        }
        let message = format!("{:?} is not available", self.chosen_item);
        Err(Invalid::at("chosen_item", message).allowed(&world.inventory))
    }
}

#[llm_node(
    system = "You are a careful adventurer who always answers in the form asked for.",
    prompt = "Goal: open door {door}\nAvailable items:\n{state.inventory:list}\nHistory: {history}.\nChoose one.",
    output = Choice,
    state = World,
    retries = 1,
)]
pub struct Choose {
    pub door: usize,
    pub history: &'static str,
}

impl Choose {
    pub fn door(door: usize) -> Choose {
        Choose {
            door,
            history: "you came down a corridor and lit nothing",
        }
    }

    /// The prompt as one writes it without llmnode.
    pub fn prompt_by_hand(&self, world: &World) -> String {
        let items = world.inventory.join("\n- ");
        let Choose { door, history } = self;
        format!(
            "Goal: open door {door}\nAvailable items:\n- {items}\nHistory: {history}.\nChoose one."
        )
    }
}

/// The schema that goes into the request, the same whoever sends it.
pub fn strict_schema() -> Box<RawValue> {
    OutputSchema::of::<Choice>().strict().unwrap().to_owned()
}

#[cfg(test)]
mod tests {
    use llmnode::{Run, ScriptedModel};

    use super::*;

    #[test]
    fn by_hand_is_the_same_task() {
        let (model, world) = (
            std::sync::Arc::new(ScriptedModel::new().reply(GOOD)),
            World::of_bytes(0),
        );
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let by_hand = Choose::door(7).prompt_by_hand(&world);
        let run = Run::new(model.clone()).with_state(world);
        runtime
            .block_on(async { run.call(&Choose::door(7)).await })
            .unwrap();
        let messages = &model.requests()[0].messages;
        assert_eq!(
            [&messages[0].content, &messages[1].content],
            [SYSTEM, &by_hand]
        );
    }
}
