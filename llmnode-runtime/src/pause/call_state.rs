//! The state of the calls of a round that has not ended.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::paused::Paused;
use crate::model::{Message, ToolCall};

#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct OpenCall {
    pub(crate) call: ToolCall,
    #[serde(rename = "stand")]
    pub(crate) state: CallState,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CallState {
    Ended {
        message: Box<Message>,
        /// Kept here because the JSON of a message does not have it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        failed: bool,
    },
    /// `None`: it waits for a decision.
    Approval(Option<Decision>),
    /// For a tool without a body. `None` or an edit of its arguments: it waits for the result.
    Answer(Option<Decision>),
    Within(Box<Paused>),
}

impl CallState {
    pub(crate) fn ended(message: Message) -> Self {
        let failed = message.is_failure();
        CallState::Ended { message: Box::new(message), failed }
    }

    pub(crate) fn result(&self) -> Option<Message> {
        match self {
            CallState::Ended { message, failed: true } => Some(Message::clone(message).failed()),
            CallState::Ended { message, .. } => Some(Message::clone(message)),
            _ => None,
        }
    }

    pub(crate) fn decision(&self) -> Option<&Decision> {
        match self {
            CallState::Approval(decision) | CallState::Answer(decision) => decision.as_ref(),
            CallState::Ended { .. } | CallState::Within(_) => None,
        }
    }
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Decision {
    Yes,
    No(String),
    Edit(Value),
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
