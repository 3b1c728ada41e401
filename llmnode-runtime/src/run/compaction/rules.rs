//! What a node says about long conversations.

/// How many rounds stay whole.
const KEEP: u32 = 6;

/// The share of the window at which a conversation is compacted.
const SHARE: f64 = 0.8;

/// The most tokens at which it is, however large the window: models get worse in
/// long conversations, and each request pays for all.
const MOST: u64 = 150_000;

/// How a conversation is kept short enough for its model: what `compact(..)` in the
/// attribute of a node says.
///
/// Before a request would be too long, old results of tools are left out of it:
/// each becomes a line such as `[result of search, 12 KB, left out]`. The calls
/// themselves stay, and so do the results of the last rounds, those of tools that
/// must not run twice or need an approval, and those under 1 KB. Nothing is lost:
/// [`CallReport::compacted`] has the messages as they were, and a conversation in a
/// store keeps them.
///
/// Where that is not enough, `with` names a node that sums up the part before the
/// last rounds:
///
/// ```ignore
/// #[llm_node(prompt = "{question}", tools = [Search], turns = 200, compact(keep = 6, with = Summarise))]
/// struct Research { question: String }
///
/// #[llm_node(prompt = "Sum up:\n{part:fence}", output = Summary, retries = 1)]
/// struct Summarise { part: Transcript }
/// ```
///
/// What the program wrote (instructions, prompts, user messages of the history)
/// stays word for word, up to a quarter of the window, and so does what is
/// [pinned](crate::Message::pinned). What else binds has to be
/// [quoted](crate::Quote) from it. The rest is data. A summary that fails leaves
/// the conversation as it is.
///
/// It happens when the conversation passes the mark [`at`](Self::at), which needs
/// the model's window: [`Settings::window`] says where that is looked up. Where
/// nobody knows it, only a request that the model refuses as too long is compacted,
/// and sent again.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::{Compact, DynNode, NodeError, Toolset};
///
/// # fn example(tools: Toolset) -> Result<DynNode, NodeError> {
/// DynNode::builder("research").text().tools(tools).turns(200).compact(Compact::new().keep(4)).build()
/// # }
/// ```
///
/// [`CallReport::compacted`]: crate::CallReport::compacted
/// [`Settings::window`]: crate::Settings::window
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use = "rules do nothing until a node has them"]
pub struct Compact {
    keep: u32,
    mark: Option<Mark>,
}

/// When a conversation is compacted.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Mark {
    /// At this share of the model's window, above 0 and at most 1.
    Share(f64),
    /// At so many tokens, of the prompt and the answer.
    Tokens(u64),
}

impl From<f64> for Mark {
    fn from(share: f64) -> Self {
        Mark::Share(share)
    }
}

impl From<u64> for Mark {
    fn from(tokens: u64) -> Self {
        Mark::Tokens(tokens)
    }
}

impl From<u32> for Mark {
    fn from(tokens: u32) -> Self {
        Mark::Tokens(tokens.into())
    }
}

impl Default for Compact {
    fn default() -> Self {
        Compact::new()
    }
}

impl Compact {
    /// Creates the default rules.
    pub const fn new() -> Self {
        Compact {
            keep: KEEP,
            mark: None,
        }
    }

    /// Sets how many of the last rounds stay as they are. A round is an answer of
    /// the model, with the results of the tools that it calls. Default: 6. After a
    /// refusal fewer stay, down to one, if the last rounds alone do not fit.
    pub const fn keep(mut self, rounds: u32) -> Self {
        self.keep = rounds;
        self
    }

    /// Sets when a conversation is compacted: at a share of the model's window,
    /// such as `0.8`, or at so many tokens, such as `100_000_u64`. Default: at 0.8
    /// of the window, and at 150,000 tokens if that is less.
    pub fn at(mut self, mark: impl Into<Mark>) -> Self {
        self.mark = Some(mark.into());
        self
    }

    pub(super) fn kept_rounds(&self) -> usize {
        // Nobody has read the results of the last round yet.
        (self.keep as usize).max(1)
    }

    /// The tokens at which a conversation is compacted. `None`: nobody knows the window.
    pub(super) fn mark(&self, window: Option<u64>) -> Option<u64> {
        match self.mark {
            None => window.map(|window| share_of(window, SHARE).min(MOST)),
            Some(Mark::Share(share)) => window.map(|window| share_of(window, share)),
            Some(Mark::Tokens(tokens)) => {
                Some(window.map_or(tokens, |window| share_of(window, SHARE).min(tokens)))
            }
        }
    }

    /// What makes no sense.
    pub(crate) fn fault(&self) -> Option<String> {
        match self.mark {
            Some(Mark::Share(share)) if !(share > 0.0 && share <= 1.0) => Some(format!(
                "`compact` is at the share {share} of the window; write one above 0 and at most 1, such as 0.8"
            )),
            Some(Mark::Tokens(0)) => Some(
                "`compact` is at 0 tokens; write how many a conversation may have, such as 100_000"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a mark need not be exact, and a window has few digits"
)]
pub(super) fn share_of(window: u64, share: f64) -> u64 {
    (window as f64 * share) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_is_a_share_of_the_window_or_a_number_of_tokens() {
        let rules = Compact::new();
        for (rules, window, mark) in [
            (rules, Some(10_000), Some(8_000)),
            (rules, Some(1_000_000), Some(150_000)),
            (rules, None, None),
            (rules.at(0.5), Some(1_000_000), Some(500_000)),
            (rules.at(5_000_u64), None, Some(5_000)),
            (rules.at(5_000_u64), Some(4_000), Some(3_200)),
        ] {
            assert_eq!(rules.mark(window), mark, "{rules:?} {window:?}");
        }
        for rules in [
            rules.at(0.0),
            rules.at(1.5),
            rules.at(f64::NAN),
            rules.at(0_u64),
        ] {
            assert!(rules.fault().is_some(), "{rules:?}");
        }
        assert_eq!(rules.at(1.0).fault(), None);
    }
}
