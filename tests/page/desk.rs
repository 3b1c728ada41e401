//! A support desk, whose flow has a bit of everything: a correction, an agent with tools, a batch, a loop, a failure.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use llmnode::flow::Batch;
use llmnode::prelude::*;
use llmnode::stub_server::{LoggedRequest, StubReply, StubServerBuilder};
use llmnode::{Price, Prices, StubServer};
use serde::{Deserialize, Serialize};
use serde_json::json;

pub(crate) const TICKET: &str = "Hello, my order A-1042 should have been here last Friday and the tracking page says nothing new since \
     then. It is a birthday present <b>for Saturday</b>! What now?";

#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Ticket {
    pub(crate) text: String,
    topic: Option<Topic>,
    findings: String,
    pub(crate) draft: String,
    faults: Vec<String>,
    rounds: u32,
}

#[llm_output]
#[derive(Clone, Copy, Action, PartialEq, Serialize)]
enum Topic {
    Billing,
    Shipping,
    Other,
}

/// Sorts the ticket.
#[llm_node(
    system = "You sort support tickets.",
    prompt = "Which topic is this ticket about?\n{text:fence}",
    output = Topic,
    retries = 1,
    state = Ticket,
    action = Topic,
    store = topic
)]
struct Classify {
    #[prep(state.text.clone())]
    text: String,
}

/// Looks an order up by its number.
#[tool]
async fn order_status(
    /// Such as A-1042.
    order: String,
) -> String {
    tokio::time::sleep(Duration::from_millis(18)).await;
    format!(r#"{{"order":"{order}","shipped":"2026-11-19","state":"in customs since 2026-11-21"}}"#)
}

/// Searches the help pages.
#[tool]
async fn search_help(_query: String) -> Vec<&'static str> {
    tokio::time::sleep(Duration::from_millis(6)).await;
    vec![
        "Customs can hold a parcel for up to five working days.",
        "After ten working days a new one is sent.",
    ]
}

/// Finds out what is known.
#[llm_node(
    system = "You are a support agent. Use the tools; never guess a date.",
    prompt = "Find out what is known about this ticket:\n{text:fence}",
    tools = [OrderStatus, SearchHelp],
    turns = 6,
    state = Ticket,
    store = findings
)]
struct Investigate {
    #[prep(state.text.clone())]
    text: String,
}

/// Writes the answer.
#[llm_node(
    prompt = "Ticket:\n{text:fence}\nWhat is known:\n{findings:fence}\nWhat was wrong with the last draft:\n{faults:list}\n\nWrite a short, \
              friendly answer.",
    state = Ticket,
    post = Write::keep
)]
struct Write {
    #[prep(state.text.clone())]
    text: String,
    #[prep(state.findings.clone())]
    findings: String,
    #[prep(state.faults.clone())]
    faults: Vec<String>,
}

impl Write {
    fn keep(self, draft: String, ticket: &mut Ticket) {
        ticket.draft = draft;
        ticket.rounds += 1;
    }
}

#[llm_output]
struct Check {
    /// What is wrong; empty if nothing is.
    #[schemars(length(max = 120))]
    fault: String,
}

#[derive(Action)]
enum Checked {
    Good,
    Again,
}

/// Checks one rule.
#[llm_node(
    prompt = "Rule: {rule}\nDoes this answer keep it?\n{draft:fence}",
    output = Check,
    retries = 1,
    state = Ticket,
    batch = Review::all,
    action = Checked,
    post = Review::keep
)]
struct Review {
    rule: &'static str,
    draft: String,
}

impl Review {
    fn all(ticket: &Ticket) -> Vec<Self> {
        let rules = [
            "It is friendly.",
            "It names no date that is not known.",
            "It offers a next step.",
        ];
        rules
            .map(|rule| Review {
                rule,
                draft: ticket.draft.clone(),
            })
            .into()
    }

    fn keep(_: Vec<Self>, outputs: Vec<Check>, ticket: &mut Ticket) -> Checked {
        let faults = outputs.into_iter().map(|check| check.fault);
        ticket.faults = faults.filter(|fault| !fault.is_empty()).collect();
        if ticket.faults.is_empty() || ticket.rounds == 2 {
            Checked::Good
        } else {
            Checked::Again
        }
    }
}

/// Hands it to a person.
#[llm_node(prompt = "Summarise for a person: {text}", state = Ticket, store = draft)]
struct HandOver {
    #[prep(state.text.clone())]
    text: String,
}

flow! {
    pub(crate) Support(Ticket):
    Classify => match { Topic::Billing => HandOver, Topic::Shipping => Investigate, Topic::Other => HandOver },
    Investigate => Write,
    Write => Check,
    Batch<Review> as Check => match { Checked::Good => end, Checked::Again => Write },
    HandOver => end,
}

pub(crate) fn ticket() -> Ticket {
    Ticket {
        text: TICKET.to_owned(),
        ..Ticket::default()
    }
}

pub(crate) fn prices() -> Prices {
    Prices::new().model("stub", Price::per_million(0.4, 1.6))
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// `agent_waits`: the first time.
pub(crate) fn stub(agent_waits: bool) -> StubServerBuilder {
    let (refused, waits) = (AtomicBool::new(false), AtomicBool::new(agent_waits));
    StubServer::builder().default_reply(StubReply::for_request(move |request: &LoggedRequest| {
        let messages = request.messages();
        let all = messages
            .iter()
            .map(|(_, text)| text.as_str())
            .collect::<Vec<_>>()
            .join("\n");
        if all.contains("Which topic") {
            return if messages.len() > 2 {
                StubReply::json(json!({"value": "Shipping"}))
                    .usage(301, 6)
                    .after(ms(24))
            } else {
                StubReply::text(r#"{"value": "Delivery"}"#)
                    .usage(212, 6)
                    .after(ms(41))
            };
        }
        if all.contains("Find out what is known") {
            return if messages.iter().any(|(role, _)| role == "tool") {
                StubReply::text("In customs since 21 November, for up to five working days.")
                    .usage(571, 58)
                    .after(ms(if waits.swap(false, Ordering::SeqCst) {
                        60_000
                    } else {
                        83
                    }))
            } else {
                StubReply::call("order_status", json!({"order": "A-1042"}))
                    .and_call("search_help", json!({"_query": "parcel late customs"}))
                    .usage(388, 41)
                    .after(ms(62))
            };
        }
        if all.contains("Write a short") {
            let again = all.contains("names a date");
            let text = if again {
                "It is in customs; if it has not moved by Friday, we send a new one."
            } else {
                "It will be with you on 27 November!"
            };
            return StubReply::text(text).usage(431, 34).after(ms(76));
        }
        let bad = all.contains("Rule: It names no date") && all.contains("27 November");
        let fault = if bad {
            "it names a date of arrival that nobody knows"
        } else {
            ""
        };
        let review = StubReply::json(json!({"fault": fault}));
        if !all.contains("Rule: It offers") {
            return review.usage(190, 5).after(ms(35));
        }
        if !refused.swap(true, Ordering::SeqCst) {
            let message = "Rate limit reached for requests";
            return StubReply::error(429, "rate_limit_error", "rate_limit_exceeded", message)
                .header("retry-after-ms", "120");
        }
        review.without_usage().after(ms(28))
    }))
}
