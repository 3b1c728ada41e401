//! What the tasks ask for, written as a new user would.

use llmnode::prelude::*;

#[llm_output]
pub struct Booking {
    /// The guest's name, without a title.
    pub guest: String,
    /// How many come in all.
    pub people: u16,
    /// HH:MM.
    pub time: String,
}

#[llm_output]
pub struct Order {
    /// The order's number.
    pub order: u32,
    pub customer: Customer,
    pub lines: Vec<Line>,
}

#[llm_output]
pub struct Customer {
    pub name: String,
    pub city: String,
}

#[llm_output]
pub struct Line {
    pub item: String,
    pub quantity: u32,
}

#[llm_output]
pub struct Meeting {
    /// What it is about.
    pub subject: String,
    /// YYYY-MM-DD.
    pub date: String,
    pub room: Option<String>,
    /// Who takes part.
    pub people: Vec<String>,
}

#[llm_output]
pub enum Kind {
    Billing,
    Bug,
    Account,
    Wish,
}

#[llm_output]
pub struct Ticket {
    /// What the ticket is about.
    pub kind: Kind,
}

#[llm_output]
pub struct Choice {
    /// One of the available items, spelled as listed.
    pub item: String,
}

pub struct World {
    pub items: Vec<String>,
}

#[validate(state)]
impl Choice {
    fn item_is_available(&self, state: &World) -> Result<(), Invalid> {
        if state.items.contains(&self.item) {
            return Ok(());
        }
        Err(Invalid::at("item", format!("{:?} is not available", self.item)).allowed(&state.items))
    }
}

#[llm_node(prompt = "Read this booking.\n\n{text}", output = Booking)]
pub struct ReadBooking {
    pub text: String,
}

#[llm_node(prompt = "Read this order.\n\n{text}", output = Order)]
pub struct ReadOrder {
    pub text: String,
}

#[llm_node(prompt = "Read what this says about a meeting.\n\n{text}", output = Meeting)]
pub struct ReadMeeting {
    pub text: String,
}

#[llm_node(prompt = "Classify this ticket.\n\n{text}", output = Ticket)]
pub struct Classify {
    pub text: String,
}

#[llm_node(
    system = "You are a careful adventurer.",
    prompt = "Goal: {text}\nAvailable items:\n{state.items:list}\nChoose one.",
    output = Choice,
    state = World
)]
pub struct ChooseItem {
    pub text: String,
}

#[llm_output]
pub struct Listed {
    /// One of the available items, spelled as listed.
    pub item: String,
}

#[llm_node(
    system = "You are a careful adventurer.",
    prompt = "Goal: {text}\nAvailable items:\n{state.items:list}\nChoose one.",
    output = Listed,
    state = World,
    choices(item = state.items)
)]
pub struct ChooseListed {
    pub text: String,
}

#[llm_node(
    system = "You are a careful adventurer.",
    prompt = "Goal: {text}\nAvailable items:\n{state.items:list}\nChoose one.",
    output = Listed,
    state = World,
    validate = is_available
)]
pub struct ChooseNarrowed {
    pub text: String,
}

fn is_available(choice: &Listed, state: &World, _: &AttemptInfo) -> Result<(), Invalid> {
    if state.items.contains(&choice.item) {
        return Ok(());
    }
    Err(
        Invalid::at("item", format!("{:?} is not available", choice.item))
            .allowed(&state.items)
            .only(),
    )
}
