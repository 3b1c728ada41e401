//! What is read from a response, or why nothing is.

use std::borrow::Cow;

use llmnode_model::internal::CarriedPart;
use llmnode_model::{Completion, ModelError};
use llmnode_reader::Flag;

pub(crate) const OTHER_CHOICES: Flag = Flag::Fitted(Cow::Borrowed("other_choices"));

pub(crate) enum Unreadable {
    /// With a status of success.
    ErrorObject,
    WebPage,
    Failure(Box<ModelError>),
}

#[derive(Debug)]
pub(crate) struct ReadAnswer {
    pub(crate) completion: Completion,
    pub(crate) has_call: bool,
    pub(crate) parts: Vec<CarriedPart>,
    pub(crate) flags: Vec<Flag>,
}

pub(crate) type ReadResult = Result<ReadAnswer, Unreadable>;
