//! What a call has come to so far, for what is done about its next response.

use std::sync::Arc;

use super::compaction::{Compacting, PassedOn, Sources};
use super::named_bounds::NamedBounds;
use super::narrowed::Narrowed;

/// So many rounds in a row without a tool that exists end an agent's turns.
pub(super) const MAX_UNKNOWN_ROUNDS: u32 = 2;

/// The past of one call.
pub(super) struct History {
    pub(super) turns: TurnCount,
    /// Rounds in a row in which no tool was called that exists.
    pub(super) unknown_tool_rounds: u32,
    /// A response was cut, and the model was asked to write less.
    pub(super) was_asked_for_less: bool,
    /// A tool was called in a text, as by servers that know no calls.
    pub(super) has_called_in_text: bool,
    /// The schema of the corrections of this turn.
    pub(super) narrowed: Option<Box<Narrowed>>,
    /// The bounds that the complaints of this turn name.
    pub(super) bounds: NamedBounds,
    /// How the conversation is kept short. `None`: it is sent as it is.
    pub(super) compacting: Option<Box<Compacting>>,
    /// What earlier calls did to it that kept it short, if this one does not. `None`: nothing.
    pub(super) passed_on: Option<Box<PassedOn>>,
    /// What an answer may quote, if it is a summary of a conversation.
    pub(super) sources: Option<Arc<Sources>>,
}

/// The responses of an agent's model.
pub(super) struct TurnCount {
    /// How many there are at most, the answer included.
    pub(super) limit: u32,
    pub(super) used: u32,
}

impl History {
    pub(super) fn new(turns: u32) -> Self {
        History {
            turns: TurnCount {
                limit: turns,
                used: 0,
            },
            unknown_tool_rounds: 0,
            was_asked_for_less: false,
            has_called_in_text: false,
            narrowed: None,
            bounds: NamedBounds::default(),
            compacting: None,
            passed_on: None,
            sources: None,
        }
    }

    /// Whether only an answer is left.
    pub(super) fn is_last_turn(&self) -> bool {
        self.turns.used.saturating_add(1) >= self.turns.limit
            || self.unknown_tool_rounds >= MAX_UNKNOWN_ROUNDS
    }

    pub(super) fn take_turn(&mut self) {
        self.turns.used = self.turns.used.saturating_add(1);
    }

    /// A round of tools has ended. `is_unknown`: none of its tools exists.
    pub(super) fn end_round(&mut self, is_unknown: bool) {
        self.unknown_tool_rounds = match is_unknown {
            true => self.unknown_tool_rounds.saturating_add(1),
            false => 0,
        };
        self.take_turn();
    }
}
