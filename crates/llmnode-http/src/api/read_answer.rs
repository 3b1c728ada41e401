//! What is read from a response, or why nothing is.

use std::borrow::Cow;

use llmnode_model::ext::CarriedPart;
use llmnode_model::internal::is_standard_price;
use llmnode_model::{Completion, ModelError, TokenUsage};
use llmnode_reader::Flag;

/// The first of several is taken; that there were more is noted.
pub(crate) const OTHER_CHOICES: Flag = Flag::Fitted(Cow::Borrowed("other_choices"));

/// Why a body has no answer. Whoever reads it knows the API but not the request, so
/// categories are given later.
pub(crate) enum Unreadable {
    /// With a status of success.
    ErrorObject,
    #[cfg(feature = "gemini")]
    // Gemini: an error within a list of events, with what was used until then.
    ErrorEvent(Vec<u8>, Option<Box<TokenUsage>>),
    WebPage,
    Failure(Box<ModelError>),
    /// The model's own mistake: it is told, with what it wrote and what goes back beside it.
    Rejected(Box<ModelError>, Vec<CarriedPart>),
}

impl Unreadable {
    pub(crate) fn failure(mut failure: ModelError, usage: Option<TokenUsage>) -> Self {
        failure.usage = usage.map(Box::new);
        Unreadable::Failure(Box::new(failure))
    }

    pub(crate) fn rejected(
        mut failure: ModelError,
        parts: Vec<CarriedPart>,
        usage: Option<TokenUsage>,
    ) -> Self {
        failure.usage = usage.map(Box::new);
        Unreadable::Rejected(Box::new(failure), parts)
    }
}

/// Whether the provider names a tier, or the like, that it does not bill at the standard
/// price. `flex` is billed at less, and has a price where it was asked for.
pub(crate) fn has_other_price(word: Option<&str>) -> bool {
    word.is_some_and(|word| !is_standard_price(word) && word != "flex")
}

/// An answer, and what is needed to go on with it.
#[derive(Debug)]
pub(crate) struct ReadAnswer {
    pub(crate) completion: Completion,
    // Before the answer's function was taken out of the calls.
    pub(crate) has_call: bool,
    pub(crate) parts: Vec<CarriedPart>,
    pub(crate) flags: Vec<Flag>,
    /// For an answer that ended at a length.
    pub(crate) cut: CutBy,
}

/// Whether a higher limit would help.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CutBy {
    #[default]
    Limit,
    /// By the limit, after the provider had run tools of its own.
    #[cfg(feature = "anthropic")]
    LimitAfterTools,
    /// By the model's window, or by what nobody knows.
    Other,
}

impl ReadAnswer {
    /// Empty words count as absent.
    pub(crate) fn new(
        mut completion: Completion,
        has_call: bool,
        parts: Vec<CarriedPart>,
        (usage, impossible): (Option<TokenUsage>, bool),
    ) -> Self {
        completion.usage = usage;
        for word in [
            &mut completion.reasoning,
            &mut completion.refusal,
            &mut completion.response_id,
        ] {
            word.take_if(|word| word.is_empty());
        }
        let flags = impossible
            .then_some(Flag::ImpossibleUsage)
            .into_iter()
            .collect();
        ReadAnswer {
            completion,
            has_call,
            parts,
            flags,
            cut: CutBy::Limit,
        }
    }
}

pub(crate) type ReadResult = Result<ReadAnswer, Unreadable>;
