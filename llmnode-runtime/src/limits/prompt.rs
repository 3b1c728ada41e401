//! The tokens of prompts, as estimated and as counted.

#[derive(Clone, Copy)]
pub(crate) struct PromptTokens {
    pub(crate) estimate: u64,
    /// Upper bound: no tokenizer makes more than one token of a byte.
    pub(crate) most: u64,
}

/// The tokens of an answer that a request makes room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerTokens {
    /// At most this many, as the program or the model wants it.
    AtMost(u32),
    /// About as many as the answers before: the limit that is sent is nobody's, and much higher.
    BelowDefault(u32),
    /// About as many as the answers before.
    Unknown,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Counted {
    counted: u128,
    estimated: u128,
    /// The most tokens counted above [`PromptTokens::most`], such as those of a provider's own system prompt.
    beyond: u64,
}

impl Counted {
    pub(super) fn learn(&mut self, prompt: PromptTokens, counted: u64) {
        self.counted = self.counted.saturating_add(counted.into());
        self.estimated = self.estimated.saturating_add(prompt.estimate.into());
        self.beyond = self.beyond.max(counted.saturating_sub(prompt.most));
    }

    pub(super) fn expect(self, prompt: PromptTokens) -> PromptTokens {
        let most = prompt.most.saturating_add(self.beyond);
        let scaled = u128::from(prompt.estimate).saturating_mul(self.counted).checked_div(self.estimated);
        let scaled = scaled.map_or(0, |scaled| u64::try_from(scaled).unwrap_or(u64::MAX));
        PromptTokens { estimate: prompt.estimate.max(scaled).min(most), most }
    }
}
