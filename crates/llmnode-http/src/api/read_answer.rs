//! What is read from a response, or why nothing is.

use std::borrow::Cow;

use llmnode_model::internal::CarriedPart;
use llmnode_model::{Completion, ModelError};
use llmnode_reader::Flag;

pub(crate) const OTHER_CHOICES: Flag = Flag::Fitted(Cow::Borrowed("other_choices"));

pub(crate) enum Unreadable {
    /// An error that came as a success.
    ErrorObject,
    WebPage,
    Failure(Box<ModelError>),
}

/// A completion, with what was read beside it.
#[derive(Debug)]
pub(crate) struct ReadAnswer {
    pub(crate) completion: Completion,
    /// Whether it calls anything, the function for the answer included.
    pub(crate) has_call: bool,
    /// What goes back with it: [`Carried`](llmnode_model::Carried).
    pub(crate) parts: Vec<CarriedPart>,
    pub(crate) flags: Vec<Flag>,
}

pub(crate) type ReadResult = Result<ReadAnswer, Unreadable>;
