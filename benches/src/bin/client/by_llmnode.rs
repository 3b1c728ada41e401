//! The task through llmnode: schema, validator and ledger included.

use llmnode::{Category, OpenAi, Run, Settings};
use llmnode_benches::task::{Choose, World};

use crate::{Client, KEY, MODEL};

/// Calls that end with an answer.
pub struct Good(Run<World>);

impl Good {
    pub fn new(url: &str) -> Good {
        Good(run(url))
    }
}

impl Client for Good {
    async fn choose(&self, door: usize) {
        let choice = self.0.call(&Choose::door(door)).await.unwrap();
        assert_eq!(choice.chosen_item, "lamp");
    }
}

/// Calls whose every answer is bad, and which keep all of them in the conversation.
pub struct Bad(Run<World>, u32);

impl Bad {
    pub fn new(url: &str, retries: u32) -> Bad {
        let settings = Settings::new()
            .retries(retries)
            .feedback_rounds(retries as usize);
        Bad(run(url).with_settings(settings), retries)
    }
}

impl Client for Bad {
    async fn choose(&self, door: usize) {
        let Err(error) = self.0.call(&Choose::door(door)).await else {
            panic!("a bad answer was taken")
        };
        assert_eq!(
            (error.category(), error.attempts().len()),
            (Category::ValidationError, self.1 as usize + 1)
        );
    }
}

fn run(url: &str) -> Run<World> {
    let model = OpenAi::builder()
        .base_url(url)
        .api_key(KEY)
        .model(MODEL)
        .build()
        .unwrap();
    Run::new(model).with_state(World::of_bytes(1000))
}
