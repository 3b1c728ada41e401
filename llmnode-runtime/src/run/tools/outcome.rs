//! What a call of a tool comes to: what the model reads, and what the ledger says.

use std::borrow::Cow;
use std::time::Duration;

use crate::category::{Category, Group};
use crate::error::NodeError;
use crate::ids::CallId;
use crate::model::Message;
use crate::text::{cut, one_line};

/// The most of a result that the model reads, in bytes.
const RESULT: usize = 64 * 1024;

/// The most of an error or of complaints that the model reads, in bytes.
const FAULT: usize = 2048;

/// What a call of a tool came to.
pub(in crate::run) enum Outcome {
    /// The tool ran, and the model reads its result.
    Done { text: String, call: Option<CallId> },
    /// The tool failed, with words that are for the model.
    Failed { said: String, outcome: Cow<'static, str>, call: Option<CallId> },
    /// The call of the agent ends with this error.
    Stopped(NodeError),
}

impl Outcome {
    /// The tool did not run.
    pub(super) fn refused(outcome: &'static str, said: impl Into<String>) -> Self {
        Outcome::Failed { said: said.into(), outcome: outcome.into(), call: None }
    }

    /// The arguments are not those of the tool.
    pub(super) fn invalid_arguments(complaints: &str) -> Self {
        Outcome::refused("invalid_arguments", format!("These arguments were not accepted:{complaints}"))
    }

    /// The node of the tool failed. A tool's own words are for the model; those of a transport are not.
    pub(super) fn of_error(error: NodeError, deadline: Option<Duration>) -> Self {
        let call = error.record().map(|record| record.id);
        let category = error.category();
        let words = match category {
            Category::ExecError => one_line(error.message(), FAULT),
            Category::Timeout => match deadline {
                Some(deadline) => format!("the tool timed out after {deadline:?}"),
                None => "the tool timed out".to_owned(),
            },
            Category::LimitExceeded | Category::Panic => format!("the tool failed ({category})"),
            _ if category.group() == Group::Stop => return Outcome::Stopped(error),
            _ => format!("the tool failed ({category})"),
        };
        let outcome = if category == Category::ExecError { "error" } else { category.as_str() };
        Outcome::Failed { said: words, outcome: outcome.into(), call }
    }

    /// The word of the ledger, and the call of the tool's node.
    pub(super) fn record(&self) -> (Cow<'static, str>, Option<CallId>) {
        match self {
            Outcome::Done { call, .. } => ("ok".into(), *call),
            Outcome::Failed { outcome, call, .. } => (outcome.clone(), *call),
            Outcome::Stopped(error) => ("aborted".into(), error.record().map(|record| record.id)),
        }
    }

    /// The result of the call with this id, or the error that ends the agent's.
    pub(super) fn into_message(self, id: &str) -> Result<Message, NodeError> {
        match self {
            Outcome::Done { text, .. } => Ok(Message::tool(id, capped(text))),
            Outcome::Failed { said, .. } => Ok(Message::tool(id, said).failed()),
            Outcome::Stopped(error) => Err(error),
        }
    }
}

/// A result of a bearable length.
fn capped(text: String) -> String {
    let length = text.len();
    if length <= RESULT {
        return text;
    }
    let kept = cut(text, RESULT);
    format!("{kept}\n[cut: {} of {length} bytes]", kept.len())
}
