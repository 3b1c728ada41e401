//! For the other crates of llmnode.

use std::time::Duration;

use llmnode_flow::flow::Outline;

use crate::document::{FlowEntry, Totals};
pub use crate::html::{Attributes, Html};
pub use crate::picture::Marks;
use crate::picture::Visits;
use crate::{Recording, page, picture, words};

/// The style sheet of pages.
pub const STYLE: &str = page::STYLE;

/// Draws a flow, and the way that the first flow of a recording of it took so far. `None`: it has too many steps to be read as
/// a picture.
pub fn picture(outline: &Outline, marks: &Marks, recording: Option<&Recording>) -> Option<Html> {
    let Outline::Flow(name, steps) = outline else { return None };
    if picture::size(outline) > page::DRAWN {
        return None;
    }
    let document = recording.map(|recording| recording.lock().document());
    let flows: Vec<&FlowEntry> = document.iter().flat_map(|document| document.flows.first()).collect();
    let mut html = Html::default();
    picture::draw(&mut html, name, steps, &Visits::of(&flows).marked(marks));
    Some(html)
}

/// What a run took so far, in words.
#[derive(Clone, Debug)]
pub struct Figures {
    /// The time from its start to its end, or until now.
    pub time: String,
    /// Visits of steps.
    pub steps: String,
    /// Requests to models.
    pub requests: String,
    /// Tokens in and out.
    pub tokens: String,
    /// Money.
    pub cost: String,
    /// Steps, requests and tokens.
    pub sentence: String,
}

/// Returns what a recorded run took so far.
pub fn figures(recording: &Recording) -> Figures {
    let Totals { started_unix_ms, ended_unix_ms, steps, usage, .. } = recording.lock().document().totals;
    let elapsed = ended_unix_ms.saturating_sub(started_unix_ms.unwrap_or(ended_unix_ms));
    let (visits, requests, tokens) =
        (words::count(steps, "step"), words::count(usage.requests, "request"), words::tokens(&usage.total));
    Figures {
        sentence: format!("{visits}, {requests}, {tokens}"),
        time: words::time(Duration::from_millis(elapsed)),
        steps: words::number(steps),
        requests: words::number(usage.requests),
        tokens,
        cost: words::cost(&usage).0,
    }
}
