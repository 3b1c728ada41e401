//! How the calls of a round stand that has not ended.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::paused::Paused;
use crate::model::{Message, ToolCall};

/// One call of a round that has not ended.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct OpenCall {
    pub(crate) call: ToolCall,
    #[serde(rename = "stand")]
    pub(crate) state: CallState,
}

/// How a call stands.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CallState {
    /// It has its result.
    Ended {
        message: Box<Message>,
        /// Which the JSON of a message does not have.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        failed: bool,
    },
    /// It waits for a decision, or has one.
    Approval(Option<Decision>),
    /// It waits for the result of a tool without a body, or has one. With an edit it waits, and these are its arguments.
    Answer(Option<Decision>),
    /// An agent that was called waits.
    Within(Box<Paused>),
}

impl CallState {
    /// Of a call that ended with this result.
    pub(crate) fn ended(message: Message) -> Self {
        let failed = message.is_failure();
        CallState::Ended { message: Box::new(message), failed }
    }

    /// The result, if there is one.
    pub(crate) fn result(&self) -> Option<Message> {
        match self {
            CallState::Ended { message, failed: true } => Some(Message::clone(message).failed()),
            CallState::Ended { message, .. } => Some(Message::clone(message)),
            _ => None,
        }
    }

    /// What was decided about it.
    pub(crate) fn decision(&self) -> Option<&Decision> {
        match self {
            CallState::Approval(decision) | CallState::Answer(decision) => decision.as_ref(),
            CallState::Ended { .. } | CallState::Within(_) => None,
        }
    }
}

/// What was decided about a call.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Decision {
    Yes,
    No(String),
    Edit(Value),
    /// The result.
    Result(Value),
}

impl Decision {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Decision::Yes => "Approval::yes",
            Decision::No(_) => "Approval::no",
            Decision::Edit(_) => "Approval::edit",
            Decision::Result(_) => "a result",
        }
    }
}

impl fmt::Debug for CallState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CallState::Ended { .. } => "Ended",
            CallState::Approval(_) => "Approval",
            CallState::Answer(_) => "Answer",
            CallState::Within(_) => "Within",
        })
    }
}
