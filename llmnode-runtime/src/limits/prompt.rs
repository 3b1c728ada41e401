//! The tokens of prompts, as estimated and as counted.

use std::time::Instant;

#[derive(Clone, Copy)]
pub(crate) struct PromptTokens {
    pub(crate) estimate: u64,
    /// Upper bound: no tokenizer makes more than one token of a byte.
    pub(crate) most: u64,
    /// About the fewest. What a provider counts above that, it may have added itself.
    pub(crate) least: u64,
    /// How many attachments there are. Some models count thirty times as many
    /// tokens for one as others.
    pub(crate) attachments: u64,
}

/// Whether others wait for the first request of a model.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum First {
    #[default]
    Unasked,
    AskedAt(Instant),
    Passed,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Counted {
    pub(super) first: First,
    counted: u128,
    estimated: u128,
    /// The most tokens counted above [`PromptTokens::most`]: so many a provider has added.
    beyond: u64,
    /// The fewest counted above [`PromptTokens::least`]: so many it may add to each
    /// request, such as a system prompt of its own.
    added: Option<u64>,
    /// The fewest counted above [`PromptTokens::least`] for one attachment.
    of_an_attachment: Option<u64>,
}

impl Counted {
    pub(super) fn learn(&mut self, prompt: PromptTokens, counted: u64) {
        self.counted = self.counted.saturating_add(counted.into());
        self.estimated = self.estimated.saturating_add(prompt.estimate.into());
        self.beyond = self.beyond.max(counted.saturating_sub(prompt.most));
        let added = counted.saturating_sub(prompt.least);
        self.added = Some(self.added.map_or(added, |before| before.min(added)));
        if let Some(each) = added.checked_div(prompt.attachments) {
            self.of_an_attachment = Some(
                self.of_an_attachment
                    .map_or(each, |before| before.min(each)),
            );
        }
    }

    pub(super) fn expect(self, prompt: PromptTokens) -> PromptTokens {
        let added = self.added.unwrap_or(0).max(self.beyond);
        let attached = self
            .of_an_attachment
            .unwrap_or(0)
            .saturating_mul(prompt.attachments);
        let most = prompt.most.saturating_add(added.max(attached));
        let scaled = u128::from(prompt.estimate)
            .saturating_mul(self.counted)
            .checked_div(self.estimated);
        let scaled = scaled.map_or(0, |scaled| u64::try_from(scaled).unwrap_or(u64::MAX));
        PromptTokens {
            estimate: prompt.estimate.max(scaled).min(most),
            most,
            ..prompt
        }
    }
}
