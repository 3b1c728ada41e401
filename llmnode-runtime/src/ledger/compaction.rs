//! What was replaced in a conversation that had become too long: as a record of a
//! journal and a pause keep it, and as a report has it.
//!
//! A [`Compaction`] is a list of edits of the messages as they were sent until
//! then. Whoever has the same messages and does the same edits comes to the same
//! conversation, so a replay asks nobody when to compact and what.

use std::fmt;

use llmnode_model::Message;
use serde::{Deserialize, Serialize};

/// What became of a part of a conversation that had become too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CompactionStep {
    /// Results of tools were left out.
    Results,
    /// Rounds and answers were summed up.
    Summary,
}

impl CompactionStep {
    /// Returns its name, such as `"results"`.
    pub const fn as_str(self) -> &'static str {
        match self {
            CompactionStep::Results => "results",
            CompactionStep::Summary => "summary",
        }
    }
}

impl fmt::Display for CompactionStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a conversation was compacted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CompactionCause {
    /// It was over the mark of [`Compact::at`](crate::Compact::at).
    Full {
        /// The tokens that it had, about.
        tokens: u64,
    },
    /// The model refused it as too long.
    Refused,
}

/// A compaction of a conversation, of
/// [`CallReport::compacted`](crate::CallReport::compacted). Its `Debug` form shows
/// no content.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compacted {
    /// What was done.
    pub step: CompactionStep,
    /// Why.
    pub cause: CompactionCause,
    /// What was replaced, in the order of the conversation.
    pub replaced: Vec<Replaced>,
}

/// Messages of a conversation that others took the place of.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Replaced {
    /// The messages as they were.
    pub messages: Vec<Message>,
    /// The messages that are sent in their place. Empty: what stands elsewhere is for them, too.
    pub by: Vec<Message>,
}

/// A compaction as data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Compaction {
    /// What is done.
    pub step: CompactionStep,
    /// Why.
    pub cause: CompactionCause,
    /// How many messages the conversation has, with all that was replaced before.
    pub length: usize,
    /// In the order of the conversation.
    pub edits: Vec<Edit>,
}

/// Messages in the place of others. Places count in the conversation as it is sent
/// before the compaction.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Edit {
    /// The first message that goes.
    pub at: usize,
    /// How many go.
    pub count: usize,
    /// What comes in their place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by: Vec<Message>,
}

impl Edit {
    /// One message in the place of another.
    pub(crate) fn of_one(at: usize, by: Message) -> Self {
        Edit {
            at,
            count: 1,
            by: vec![by],
        }
    }

    fn end(&self) -> usize {
        self.at.saturating_add(self.count)
    }
}

impl Compaction {
    /// Replaces what is to be replaced, from `opening` on. `None`: it is of another
    /// conversation, and nothing is done.
    pub(crate) fn apply(&self, opening: usize, messages: &mut Vec<Message>) -> Option<Compacted> {
        if !self.fits(opening, messages.len()) {
            return None;
        }
        let mut replaced = Vec::with_capacity(self.edits.len());
        // From the end, so that places stay what they are.
        for edit in self.edits.iter().rev() {
            let by = kept_marks(&messages[edit.at..edit.end()], &edit.by);
            let gone = messages.splice(edit.at..edit.end(), by.iter().cloned());
            let gone: Vec<Message> = gone.collect();
            replaced.push(Replaced { messages: gone, by });
        }
        replaced.reverse();
        // They count a conversation that was longer.
        let first = self.edits.first().map_or(messages.len(), |edit| edit.at);
        for message in &mut messages[first..] {
            if message.tokens().is_some() {
                *message = message.clone().counted(None);
            }
        }
        Some(Compacted {
            step: self.step,
            cause: self.cause,
            replaced,
        })
    }

    /// The same in the conversation without its first messages. `None`: it is about them.
    pub(crate) fn without_opening(&self, opening: usize) -> Option<Compaction> {
        let mut moved = self.clone();
        moved.length = moved.length.checked_sub(opening)?;
        for edit in &mut moved.edits {
            edit.at = edit.at.checked_sub(opening)?;
        }
        Some(moved)
    }

    /// The same behind so many messages.
    pub(crate) fn behind_opening(mut self, opening: usize) -> Compaction {
        self.length = self.length.saturating_add(opening);
        for edit in &mut self.edits {
            edit.at = edit.at.saturating_add(opening);
        }
        self
    }

    /// Whether a conversation of so many messages has all that is replaced, behind its
    /// opening.
    pub(crate) fn fits(&self, opening: usize, length: usize) -> bool {
        let mut free = opening;
        for edit in &self.edits {
            if edit.at < free || edit.count == 0 || edit.end() > length {
                return false;
            }
            free = edit.end();
        }
        true
    }

    /// Where the message at a place is afterwards. `None`: it is gone, or the edits
    /// are of no conversation.
    pub(crate) fn moved(&self, place: usize) -> Option<usize> {
        let mut to = place;
        for edit in &self.edits {
            if edit.at > place {
                break;
            }
            if edit.end() > place {
                return None;
            }
            to = to.saturating_add(edit.by.len()).checked_sub(edit.count)?;
        }
        Some(to)
    }
}

/// A result in the place of another one of the same call failed as that did, and
/// has the tools that it found.
fn kept_marks(gone: &[Message], by: &[Message]) -> Vec<Message> {
    let mut by = by.to_vec();
    if let ([gone], [by]) = (gone, &mut *by)
        && gone.answers().is_some()
        && gone.answers() == by.answers()
    {
        *by = by.clone().finding(gone.found().cloned());
        if gone.is_failure() {
            *by = by.clone().failed();
        }
    }
    by
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compaction(edits: Vec<Edit>) -> Compaction {
        Compaction {
            step: CompactionStep::Results,
            cause: CompactionCause::Refused,
            length: 4,
            edits,
        }
    }

    fn conversation() -> Vec<Message> {
        vec![
            Message::system("s"),
            Message::user("u"),
            Message::tool("1", "long").failed(),
            Message::assistant("a").counted(Some(9)),
        ]
    }

    #[test]
    fn edits_replace_from_the_opening_on_and_move_the_rest() {
        let mut messages = conversation();
        let one = compaction(vec![
            Edit {
                at: 1,
                count: 1,
                by: Vec::new(),
            },
            Edit::of_one(2, Message::tool("1", "short")),
        ]);
        let done = one.apply(1, &mut messages).unwrap();
        assert_eq!(
            messages,
            [
                Message::system("s"),
                Message::tool("1", "short").failed(),
                Message::assistant("a")
            ]
        );
        assert_eq!(messages[2].tokens(), None, "it counted more");
        assert_eq!(done.replaced[1].messages, [conversation()[2].clone()]);
        assert_eq!(
            [0, 1, 2, 3].map(|place| one.moved(place)),
            [Some(0), None, None, Some(2)]
        );
    }

    #[test]
    fn edits_of_another_conversation_do_nothing() {
        let edit = |at, count| Edit {
            at,
            count,
            by: Vec::new(),
        };
        for edits in [
            vec![edit(0, 1)],
            vec![edit(3, 2)],
            vec![edit(usize::MAX, 2)],
            vec![edit(2, 0)],
            vec![edit(2, 1), edit(1, 1)],
        ] {
            let mut messages = conversation();
            assert!(compaction(edits).apply(1, &mut messages).is_none());
            assert_eq!(messages, conversation());
        }
        // As a file may have them that somebody has changed.
        let twice = compaction(vec![edit(0, 5), edit(0, 5)]);
        assert_eq!(twice.moved(6), None);
    }
}
