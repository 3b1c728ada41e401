//! Why a text is not JSON, nor can be made JSON without loss.

use std::borrow::Cow;

/// Where the parser stopped, and why.
#[derive(Debug)]
pub(in super::super) struct Fault {
    pub(in super::super) what: What,
    /// The place that is wrong.
    pub(in super::super) at: usize,
    /// No text before this place needs to be looked at again.
    pub(in super::super) reached: usize,
    /// Whether what was read up to here can only be meant as JSON.
    pub(in super::super) sure: bool,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in super::super) enum What {
    /// The text ends within it.
    Truncated,
    /// In words, as they stand behind the place: `a number may not begin with 0`.
    Wrong(Cow<'static, str>),
    /// Too much of the text had to be looked at again and again.
    Tangled,
}

impl What {
    pub(super) fn is(words: &'static str) -> What {
        What::Wrong(Cow::Borrowed(words))
    }
}
