//! Programs of edition 2021 in a package that calls the crate by another name. Those of `tests/strained`, which are of edition 2024
//! there, are a module.
#![deny(warnings)]
#![forbid(unsafe_code)]
use llm::prelude::*;

// As the programs call it.
extern crate llm as llmnode;

// Formatted where they are of edition 2024.
#[rustfmt::skip]
#[path = "../strained/programs/mod.rs"]
mod programs;

struct Garden {
    plants: Vec<String>,
    watered: usize,
}

#[llm_output]
#[derive(Debug)]
struct Page<T> {
    items: Vec<T>,
}

#[llm_output]
#[derive(Debug)]
struct Plant {
    name: String,
}

#[validate(state)]
impl Plant {
    fn is_there(&self, state: &Garden) -> Result<(), Invalid> {
        if state.plants.contains(&self.name) {
            Ok(())
        } else {
            Err(Invalid::at("name", "is not there"))
        }
    }
}

/// Waters a plant.
#[tool]
fn water(name: String, garden: &Garden) -> String {
    format!("{name}, one of {}", garden.plants.len())
}

#[llm_node(
    prompt = "Plants:\n{state.plants:list}\nWhich need {what}?",
    output = Page<Plant>,
    state = Garden,
    tools = [Water],
    retries = 1,
    choices(items[].name = state.plants),
)]
struct Ask {
    what: String,
}

#[llm_node(prompt = "How dry is it?", output = u8, state = Garden, post = keep)]
struct Dry;

fn keep(_: Dry, dry: u8, state: &mut Garden) {
    state.watered = dry.into();
}

flow! { Day(Garden), steps = 5: Dry => end }

#[tokio::test]
async fn a_renamed_dependency_works() -> Result<(), Box<dyn std::error::Error>> {
    let garden = || Garden {
        plants: vec!["fern".into()],
        watered: 0,
    };
    let model = ScriptedModel::new()
        .reply(r#"{"items": [{"name": "oak"}]}"#)
        .reply(r#"{"items": [{"name": "fern"}]}"#);
    let run = Run::new(model).with_state(garden());
    assert_eq!(
        run.call(&Ask {
            what: "water".into()
        })
        .await?
        .items[0]
            .name,
        "fern"
    );
    let mut run = Run::new(ScriptedModel::new().reply("3")).with_state(garden());
    run.flow(Day).await?;
    assert_eq!(run.state().watered, 3);
    Ok(())
}

#[tokio::test]
async fn strained_programs_run() {
    programs::run_all().await;
}
