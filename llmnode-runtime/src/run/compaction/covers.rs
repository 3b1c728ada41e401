//! What a store of conversations keeps of compactions, so that the next turn
//! neither makes nor pays them again.
//!
//! In and out: [`Compaction`]s of the conversation with its opening, and [`Covers`]
//! of the stored history, which has no opening: the next turn's node may have other
//! instructions. A `Covers` says, too, which messages it is about, by their numbers
//! in the history.
//!
//! Each row stands on the row before it, since its edits count in what that one has
//! left. A row that cannot be used (another program has written it, or it was
//! damaged) is never changed: a fork may share it. The next row that is written
//! says which one it stands on instead, so that what is missing costs one summary,
//! and not one in each turn. A turn that goes on may have what such a row said,
//! from before: it writes that anew, behind all rows that there are.
//!
//! A turn without an answer writes no rows: what it kept is offered to the next
//! turn, which does it, or passes it on (`passed_on.rs`).

use serde::{Deserialize, Serialize};

use crate::conversation::Covers;
use crate::ledger::{Compaction, Edit};
use crate::pause::CompactedSoFar;

/// A row's body.
#[derive(Serialize, Deserialize)]
struct Row {
    #[serde(flatten)]
    compaction: Compaction,
    /// The number of the row that it stands on, from 1 on; 0: it stands on none.
    /// `None`: the row before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    on: Option<usize>,
}

/// Rows that stand on each other, from the first one on.
#[derive(Default)]
pub(super) struct Chain {
    /// Of the conversation without an opening.
    pub(super) done: Vec<Compaction>,
    /// The number of the newest one. 0: there is none.
    newest: usize,
    /// Why newer rows than these cannot be used.
    pub(super) unusable: Option<String>,
}

/// The newest rows that can be used, for a history of so many messages.
pub(super) fn read(covers: &[Covers], messages: usize) -> Chain {
    let rows: Vec<Result<Row, String>> = covers.iter().map(row).collect();
    let mut unusable = None;
    for newest in (1..=rows.len()).rev() {
        match chain(&rows, newest, messages) {
            Ok(done) => {
                return Chain {
                    done,
                    newest,
                    unusable,
                };
            }
            Err(why) => {
                unusable.get_or_insert(why);
            }
        }
    }
    Chain {
        unusable,
        ..Chain::default()
    }
}

fn row(covers: &Covers) -> Result<Row, String> {
    serde_json::from_str(&covers.body)
        .map_err(|fault| format!("messages {} to {}: {fault}", covers.first, covers.last))
}

/// `Err`: why this row cannot be used.
fn chain(
    rows: &[Result<Row, String>],
    newest: usize,
    messages: usize,
) -> Result<Vec<Compaction>, String> {
    let mut done = Vec::new();
    let mut number = newest;
    while let Some(before) = number.checked_sub(1) {
        let row = rows[before].as_ref().map_err(String::clone)?;
        done.push(row.compaction.clone());
        number = row.on.unwrap_or(before);
        if number > before {
            return Err(format!("row {} stands on row {number}", before + 1));
        }
    }
    done.reverse();
    let mut sent = Sent::default();
    for compaction in &done {
        if compaction.length > messages || sent.compact(compaction).is_none() {
            return Err(format!("row {newest} is about messages that are not there"));
        }
    }
    Ok(done)
}

/// What a store keeps of compactions of which it has the first ones, as a chain
/// among these rows, for a history of so many messages. From the first one on that
/// cannot be kept, none is.
fn written(done: &[Compaction], earlier: &Chain, rows: usize, history: usize) -> Vec<Covers> {
    let mut covers = Vec::with_capacity(done.len());
    // Behind all rows of the history, since rows are known by their places, and a
    // store has no two at one place.
    let first = history as u64 + 1;
    let mut sent = Sent::default();
    for (at, compaction) in done.iter().enumerate() {
        let Some(numbers) = sent.compact(compaction) else {
            break;
        };
        let Some(place) = at.checked_sub(earlier.done.len()) else {
            continue;
        };
        let row = Row {
            compaction: compaction.clone(),
            on: (place == 0 && earlier.newest < rows).then_some(earlier.newest),
        };
        let Ok(body) = serde_json::to_string(&row) else {
            break;
        };
        covers.push(Covers {
            messages: first.max(compaction.length as u64),
            first: numbers.first,
            last: numbers.last,
            body,
        });
    }
    covers
}

/// What a store keeps of compactions for a history of so many messages, behind the
/// rows that it has: of `messages` that it gets, with those.
pub(super) fn added(
    done: &[Compaction],
    before: &[Covers],
    history: usize,
    messages: usize,
) -> Vec<Covers> {
    let earlier = read(before, history);
    // A call may go on after one of another chat, whose compactions are not about
    // these messages.
    if behind(done, &earlier.done).is_none_or(<[_]>::is_empty) {
        return Vec::new();
    }
    let mut covers = written(done, &earlier, before.len(), history);
    covers.retain(|one| one.messages <= messages as u64);
    covers
}

/// What a turn without an answer did to a history of so many messages, behind what
/// earlier turns did.
pub(super) fn offered(
    of_unfinished: &CompactedSoFar,
    earlier: &[Compaction],
    messages: usize,
) -> Vec<Compaction> {
    let Some(done) = of_unfinished.without_opening() else {
        return Vec::new();
    };
    match behind(&done, earlier) {
        Some(_) => of_history(&done, earlier.len(), messages),
        None => Vec::new(),
    }
}

/// Those at the beginning of which others are. `None`: they are of another conversation.
fn behind<'c>(done: &'c [Compaction], earlier: &[Compaction]) -> Option<&'c [Compaction]> {
    let begin = done.get(..earlier.len())?;
    let mut pairs = begin.iter().zip(earlier);
    pairs
        .all(|(one, other)| is_same(one, other))
        .then(|| &done[earlier.len()..])
}

fn is_same(one: &Compaction, other: &Compaction) -> bool {
    let [one, other] = [one, other].map(|it| serde_json::to_string(it).ok());
    one.is_some() && one == other
}

/// Those behind others that are about the first messages alone, so many: they hold
/// whatever follows these.
fn of_history(all: &[Compaction], earlier: usize, messages: usize) -> Vec<Compaction> {
    let mut sent = Sent::default();
    let mut of_history = Vec::new();
    for (at, compaction) in all.iter().enumerate() {
        let Some(numbers) = sent.compact(compaction) else {
            break;
        };
        if at < earlier {
            continue;
        }
        if numbers.last > messages as u64 {
            break;
        }
        let mut of_messages = compaction.clone();
        of_messages.length = messages;
        of_history.push(of_messages);
    }
    of_history
}

/// Numbers of messages in a history: the first and the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// Which messages of a history each message stands for that is sent.
#[derive(Default)]
struct Sent {
    numbers: Vec<Numbers>,
    /// How many messages the history had at the last compaction.
    counted: u64,
}

impl Sent {
    /// Returns what all edits are about. `None`: they are about messages that are not there.
    fn compact(&mut self, compaction: &Compaction) -> Option<Numbers> {
        let messages = compaction.length as u64;
        if messages < self.counted {
            return None;
        }
        let newer = self.counted + 1..=messages;
        self.numbers.extend(newer.map(|number| Numbers {
            first: number,
            last: number,
        }));
        self.counted = messages;
        if !compaction.fits(0, self.numbers.len()) {
            return None;
        }
        let stood_for = self.stood_for(&compaction.edits);
        // From the end, so that places stay what they are.
        for (edit, numbers) in compaction.edits.iter().zip(&stood_for).rev() {
            let by = std::iter::repeat_n(*numbers, edit.by.len());
            self.numbers.splice(edit.at..edit.at + edit.count, by);
        }
        stood_for.into_iter().reduce(Numbers::with)
    }

    /// What each edit's messages stand for: a summary is in the last of several
    /// places, and stands for the others, too.
    fn stood_for(&self, edits: &[Edit]) -> Vec<Numbers> {
        let mut stood_for = Vec::with_capacity(edits.len());
        let mut elsewhere: Option<Numbers> = None;
        for edit in edits {
            let gone = self.numbers[edit.at..edit.at + edit.count].iter().copied();
            let Some(numbers) = gone.chain(elsewhere).reduce(Numbers::with) else {
                continue;
            };
            elsewhere = edit.by.is_empty().then_some(numbers);
            stood_for.push(numbers);
        }
        stood_for
    }
}

#[cfg(test)]
mod tests {
    use llmnode_model::Message;

    use super::*;
    use crate::ledger::{CompactionCause, CompactionStep};

    fn edit(at: usize, count: usize, by: &[&str]) -> Edit {
        let by = by.iter().map(|text| Message::user(*text)).collect();
        Edit { at, count, by }
    }

    fn summary(length: usize, edits: Vec<Edit>) -> Compaction {
        Compaction {
            step: CompactionStep::Summary,
            cause: CompactionCause::Refused,
            length,
            edits,
        }
    }

    /// Messages 2, 3 and 5 to 8 of ten are summed up, then these with 9, 10 and 11 of twelve.
    fn nested() -> Vec<Compaction> {
        vec![
            summary(10, vec![edit(1, 2, &[]), edit(4, 4, &["one"])]),
            summary(12, vec![edit(2, 4, &["two"])]),
        ]
    }

    fn all_written(done: &[Compaction]) -> Vec<Covers> {
        written(done, &Chain::default(), 0, 0)
    }

    #[test]
    fn a_summary_of_a_summary_begins_where_that_one_begins() {
        let covers = all_written(&nested());
        let numbers: Vec<[u64; 3]> = covers
            .iter()
            .map(|one| [one.messages, one.first, one.last])
            .collect();
        assert_eq!(numbers, [[10, 2, 8], [12, 2, 11]]);
    }

    #[test]
    fn rows_are_read_as_they_were_written_and_only_newer_ones_are_written() {
        let done = nested();
        let covers = all_written(&done);
        let earlier = read(&covers, 12);
        assert_eq!((earlier.done.len(), earlier.newest), (2, 2));
        assert!(behind(&done, &earlier.done).is_some_and(<[_]>::is_empty));
        assert!(written(&done, &earlier, 2, 12).is_empty());
        // A fork has the first one alone.
        let earlier = read(&covers[..1], 10);
        assert_eq!(written(&done, &earlier, 1, 10), covers[1..]);
    }

    #[test]
    fn a_row_that_cannot_be_used_is_passed_over_by_the_next_one() {
        let done = nested();
        let good = all_written(&done);
        for damage in [
            "{}",
            "",
            "{\"step\":\"summary\",\"cause\":\"refused\",\"length\":12,\"edits\":[{\"at\":40,\"count\":1}]}",
        ] {
            let mut covers = good.clone();
            covers[1].body = damage.to_owned();
            let earlier = read(&covers, 12);
            assert_eq!((earlier.done.len(), earlier.newest), (1, 1), "{damage}");
            assert!(earlier.unusable.is_some());
            // What the next turn does in its place stands on the first row, and is
            // found by the turn behind it.
            let mut next = earlier.done.clone();
            next.push(summary(14, vec![edit(2, 5, &["three"])]));
            covers.extend(written(&next, &earlier, 2, 12));
            let earlier = read(&covers, 14);
            assert_eq!((earlier.done.len(), earlier.newest), (2, 3), "{damage}");
            assert_eq!(earlier.unusable, None, "it is said once");
            next.push(summary(20, vec![edit(0, 1, &["four"])]));
            covers.extend(written(&next, &earlier, 3, 14));
            assert_eq!(read(&covers, 20).done.len(), 3);
        }
    }

    /// A turn that began before the rows were damaged has what they said, and its own.
    #[test]
    fn what_a_damaged_row_said_is_written_behind_all_rows() {
        let done = nested();
        let mut whole = done.clone();
        whole.push(summary(20, vec![edit(0, 1, &["three"])]));
        for damaged in [0, 1] {
            let mut covers = all_written(&done);
            covers[damaged].body = "{".to_owned();
            let earlier = read(&covers, 12);
            assert_eq!(earlier.done.len(), damaged);
            covers.extend(written(&whole, &earlier, 2, 12));
            assert!(covers[2..].iter().all(|one| one.messages > 12));
            assert!(covers.is_sorted_by_key(|one| one.messages));
            let read = read(&covers, 20);
            assert_eq!(read.unusable, None);
            assert!(behind(&whole, &read.done).is_some_and(<[_]>::is_empty));
            assert_eq!(read.done.len(), whole.len());
        }
    }

    #[test]
    fn no_row_is_used_without_the_one_that_it_stands_on() {
        let mut covers = all_written(&nested());
        covers[0].body = "{".to_owned();
        let earlier = read(&covers, 12);
        assert_eq!((earlier.done.len(), earlier.newest), (0, 0));
        // A row that stands on itself stands on nothing.
        let mut covers = all_written(&nested());
        covers[1].body = covers[1].body.replacen('{', "{\"on\":2,", 1);
        assert_eq!(read(&covers, 12).newest, 1);
    }

    #[test]
    fn a_row_in_other_json_is_the_same_row() {
        let done = nested();
        let mut covers = all_written(&done);
        for one in &mut covers {
            let json: serde_json::Value = serde_json::from_str(&one.body).unwrap();
            one.body = serde_json::to_string_pretty(&json).unwrap();
        }
        let earlier = read(&covers, 12);
        assert!(behind(&done, &earlier.done).is_some_and(<[_]>::is_empty));
    }

    #[test]
    fn what_is_about_a_history_holds_for_another_question() {
        let done = nested();
        for (earlier, messages, count) in
            [(0, 11, 2), (0, 10, 1), (1, 11, 1), (0, 7, 0), (2, 11, 0)]
        {
            assert_eq!(of_history(&done, earlier, messages).len(), count);
        }
    }
}
