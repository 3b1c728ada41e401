//! What is believed about the model of one request, as the writers of requests use it.

use llmnode_model::{CallId, ResponseFormat};

use super::efforts::{Budgets, Refused};
use super::parts::{Fact, Part, Parts, Situation};
use super::response_formats::ResponseFormats;

/// `Copy`, and without texts: it is asked for several times for each request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Quirks {
    pub(crate) left_out: Parts,
    // The limit goes by its newer name.
    pub(crate) max_completion_tokens: bool,
    pub(crate) most_tokens: Option<u32>,
    pub(crate) least_tokens: Option<u32>,
    // Ways of thinking that are refused, and the numbers that are taken.
    pub(crate) reasoning: Refused,
    pub(crate) budgets: Budgets,
    pub(crate) choice: Choice,
    pub(crate) refused: ResponseFormats,
    pub(crate) only_streams: bool,
    /// The server has recognised a tool call.
    pub(crate) calls_natively: bool,
    /// The first call whose answer did not follow the schema. From then on, the
    /// prompt has the schema as well.
    pub(crate) unenforced: Option<CallId>,
}

/// How far a call can be forced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Choice {
    #[default]
    ByName,
    /// Some call, not which: a name is refused, or ignored, and another tool was called.
    Any,
    /// Refused, or ignored: the answer was text.
    Free,
}

impl Quirks {
    pub(crate) fn leaves_out(self, part: Part) -> bool {
        self.left_out.contains(part)
    }

    /// A limit on tokens within the bounds that are known.
    pub(crate) fn limited(self, limit: u32) -> u32 {
        let most = self.most_tokens.map_or(limit, |most| limit.min(most));
        self.least_tokens.map_or(most, |least| most.max(least))
    }

    /// Beliefs add up: bounds become narrower, sets larger.
    pub(crate) fn add(&mut self, fact: &Fact, situation: Situation<'_>) {
        match fact {
            Fact::LeaveOut(part) => self.left_out = self.left_out.with(*part),
            Fact::OlderLimit => self.max_completion_tokens = true,
            Fact::MostTokens(most) => {
                self.most_tokens = Some(self.most_tokens.unwrap_or(*most).min(*most))
            }
            Fact::LeastTokens(least) => {
                self.least_tokens = Some(self.least_tokens.unwrap_or(*least).max(*least));
            }
            Fact::Efforts(refused) => self.reasoning = self.reasoning.union(*refused),
            Fact::Budget { least, most } => self.budgets.narrow(*least, *most),
            Fact::NamedChoice => self.choice = self.choice.max(Choice::Any),
            Fact::ForcedChoice if situation.tools => self.choice = Choice::Free,
            // The function for the answer is all that could be forced: the next
            // format asks without it.
            Fact::ForcedChoice => {
                self.refused = self
                    .refused
                    .union(ResponseFormats::of(&[ResponseFormat::Tool]));
            }
            Fact::Formats(formats) => self.refused = self.refused.union(*formats),
            Fact::Schema(name, formats) => {
                if situation.schema == Some(name) {
                    self.refused = self.refused.union(*formats);
                }
            }
            Fact::OnlyStreams => self.only_streams = true,
        }
    }
}
