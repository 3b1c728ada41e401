//! The limit at which an answer is cut, and whose it is.

use serde::{Deserialize, Serialize};

/// The most tokens of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerLimit {
    /// How many.
    pub tokens: u32,
    /// Who set it.
    pub by: LimitSetter,
    /// Whether the model's handle asks with a higher one if this one cuts an answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rises: bool,
}

/// Who set a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitSetter {
    /// `max_tokens`, or a field of `extra`.
    Program,
    /// Nobody: the API has to be sent a number.
    Default,
    /// The model, as it has said before.
    Model,
}
