//! A refund that a person approves, in two steps.

use llmnode::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Clone, Serialize, Deserialize)]
pub struct Order {
    pub customer: String,
    pub complaint: String,
    #[serde(default)]
    pub answer: String,
    #[serde(default)]
    pub note: String,
}

/// Looks up what the customer has bought.
#[tool]
fn purchases(order: &Order) -> String {
    println!("looked up: {}", order.customer);
    "a lamp, for 20 euros".to_owned()
}

/// Pays money back to the customer, at most once.
#[tool(require_approval, idempotent = false)]
fn refund(euros: u32, order: &Order) -> String {
    println!("paid back: {euros} euros to {}", order.customer);
    format!("{euros} euros are paid back")
}

#[llm_node(
    prompt = "Answer {customer}: {complaint}",
    tools = [Purchases, Refund],
    state = Order,
    store = answer
)]
struct Reply {
    #[prep(state.customer.clone())]
    customer: String,
    #[prep(state.complaint.clone())]
    complaint: String,
}

#[llm_node(prompt = "Sum up in a line for the file of {customer}: {answer}", state = Order, store = note)]
struct Note {
    #[prep(state.customer.clone())]
    customer: String,
    #[prep(state.answer.clone())]
    answer: String,
}

flow! { pub Support(Order): Reply => Note, Note => end }
