//! What a page of another crate takes, to look as the page of a run does: `llmnode-serve` is made of it.
//!
//! Not needed to write the page of a run, which is [`Recording::page`]. It changes more often than the rest of the crate.
//!
//! | to show | take |
//! |---|---|
//! | any text, so that nothing in it becomes markup | [`Html`], with [`STYLE`] as its style sheet |
//! | a flow, with the way that a run took | [`picture`], and [`Marks`] for what is wrong with its steps |
//! | what a run took so far | [`figures`] |
//! | a value that a model wrote, or who said something | [`reading`], [`role`], [`cut`] |
//! | a run that another process began to record | [`continued`] |
//!
//! ```
//! use llmnode_page::ext::{Html, reading};
//!
//! let mut html = Html::default();
//! html.element("section", &[("class", "answer")], |html| reading(html, "<b>not markup</b>"));
//! let page = html.into_string();
//! assert!(page.starts_with("<section class=\"answer\">") && !page.contains("<b>"), "{page}");
//! ```

use std::time::Duration;

use llmnode_flow::flow::Outline;
use llmnode_runtime::FormatError;
use serde::{Deserialize, Serialize};

use llmnode_model::ext::Redactor;

use crate::document::{FlowEntry, Totals};
pub use crate::html::{Attributes, Html};
pub use crate::picture::Marks;
use crate::picture::Visits;
pub use crate::reading::reading;
pub use crate::texts::role;
pub use crate::words::cut;
use crate::{Recording, page, picture, words};

/// The style sheet of pages.
pub const STYLE: &str = page::STYLE;

/// Draws a flow, and the way that the first flow of a recording of it took so far. `None`: it has too many steps to be read as
/// a picture.
pub fn picture(outline: &Outline, marks: &Marks, recording: Option<&Recording>) -> Option<Html> {
    let Outline::Flow(name, steps) = outline else {
        return None;
    };
    if picture::size(outline) > page::DRAWN {
        return None;
    }
    let collected = recording.map(Recording::lock);
    let flows: Vec<&FlowEntry> = collected
        .iter()
        .filter_map(|collected| collected.first_flow())
        .collect();
    let mut html = Html::default();
    picture::draw(&mut html, name, steps, &Visits::of(&flows).marked(marks));
    Some(html)
}

/// What a run took so far, in words.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
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
    let Totals {
        started_unix_ms,
        ended_unix_ms,
        steps,
        usage,
        ..
    } = recording.lock().totals();
    let elapsed = ended_unix_ms.saturating_sub(started_unix_ms.unwrap_or(ended_unix_ms));
    let visits = words::count(steps, "step");
    let requests = words::count(usage.requests, "request");
    let tokens = words::tokens(&usage.total);
    Figures {
        sentence: format!("{visits}, {requests}, {tokens}"),
        time: words::time(Duration::from_millis(elapsed)),
        steps: words::number(steps),
        requests: words::number(usage.requests),
        tokens,
        cost: words::cost(&usage).0,
    }
}

/// Reads a recording that goes on: texts are cleaned of the keys of this process.
///
/// # Errors
/// As [`Recording::from_json`].
pub fn continued(json: &str) -> Result<Recording, FormatError> {
    let recording = Recording::from_json(json)?;
    recording.lock().texts.set_redactor(Redactor::from_env());
    Ok(recording)
}
