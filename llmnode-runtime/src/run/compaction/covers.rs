//! What a store of conversations keeps of compactions, so that the next turn neither makes nor pays them again.
//!
//! In and out: [`Compaction`]s of the conversation with its opening, and [`Covers`] of the stored history, which has no opening: the
//! next turn's node may have other instructions. A `Covers` says, too, which messages it is about, by their numbers in the history.

use crate::conversation::Covers;
use crate::ledger::{Compaction, Edit};

/// Numbers of messages in a history: the first and the last.
#[derive(Clone, Copy)]
struct Numbers {
    first: u64,
    last: u64,
}

impl Numbers {
    fn with(self, other: Numbers) -> Numbers {
        Numbers {
            first: self.first.min(other.first),
            last: self.last.max(other.last),
        }
    }
}

/// All compactions of a conversation, as a store keeps them. From the first one on that cannot be kept, none is.
pub(super) fn written(done: &[Compaction], opening: usize) -> Vec<Covers> {
    let mut covers = Vec::with_capacity(done.len());
    // What each message that is sent stands for.
    let mut sent: Vec<Numbers> = Vec::new();
    let mut counted = 0;
    for compaction in done {
        let Some(compaction) = compaction.without_opening(opening) else {
            break;
        };
        let messages = compaction.length as u64;
        let newer = counted + 1..=messages;
        sent.extend(newer.map(|number| Numbers {
            first: number,
            last: number,
        }));
        counted = counted.max(messages);
        let Some(numbers) = replace(&compaction.edits, &mut sent) else {
            break;
        };
        let Ok(body) = serde_json::to_string(&compaction) else {
            break;
        };
        covers.push(Covers {
            messages,
            first: numbers.first,
            last: numbers.last,
            body,
        });
    }
    covers
}

/// Does edits to what messages stand for. Returns what all of them are about.
fn replace(edits: &[Edit], sent: &mut Vec<Numbers>) -> Option<Numbers> {
    let mut all: Option<Numbers> = None;
    for edit in edits.iter().rev() {
        let end = edit.at.checked_add(edit.count)?;
        let gone = sent.get(edit.at..end)?;
        let numbers = gone.iter().copied().reduce(Numbers::with)?;
        all = Some(all.map_or(numbers, |all| all.with(numbers)));
        let by = std::iter::repeat_n(numbers, edit.by.len());
        sent.splice(edit.at..end, by);
    }
    all
}

/// Back from a store. `Err`: what cannot be read, since something else has written it; those before it are there.
pub(super) fn read(covers: &[Covers], opening: usize) -> Result<Vec<Compaction>, Unread> {
    let mut done = Vec::with_capacity(covers.len());
    for one in covers {
        match serde_json::from_str::<Compaction>(&one.body) {
            Ok(compaction) => done.push(compaction.behind_opening(opening)),
            Err(fault) => {
                let why = format!("{} to {}: {fault}", one.first, one.last);
                return Err(Unread { done, why });
            }
        }
    }
    Ok(done)
}

/// A list of compactions that ends too early.
pub(super) struct Unread {
    pub(super) done: Vec<Compaction>,
    pub(super) why: String,
}
