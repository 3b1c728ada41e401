//! The tokens of prompts, as estimated and as counted.

/// The tokens of a prompt.
#[derive(Clone, Copy)]
pub(crate) struct PromptTokens {
    /// About how many they are.
    pub(crate) estimate: u64,
    /// The most that they can be: no tokenizer makes more than one of a byte.
    pub(crate) most: u64,
}

/// What a model counted of its prompts so far.
#[derive(Clone, Copy, Default)]
pub(super) struct Counted {
    counted: u128,
    estimated: u128,
    /// The most tokens that it counted above [`PromptTokens::most`], such as those of a system prompt of the provider.
    beyond: u64,
}

impl Counted {
    pub(super) fn learn(&mut self, prompt: PromptTokens, counted: u64) {
        self.counted = self.counted.saturating_add(counted.into());
        self.estimated = self.estimated.saturating_add(prompt.estimate.into());
        self.beyond = self.beyond.max(counted.saturating_sub(prompt.most));
    }

    /// What the model will count of this prompt.
    pub(super) fn expect(self, prompt: PromptTokens) -> PromptTokens {
        let most = prompt.most.saturating_add(self.beyond);
        let scaled = u128::from(prompt.estimate).saturating_mul(self.counted).checked_div(self.estimated);
        let scaled = scaled.map_or(0, |scaled| u64::try_from(scaled).unwrap_or(u64::MAX));
        PromptTokens { estimate: prompt.estimate.max(scaled).min(most), most }
    }
}
