//! A whole answer read once more, with coercion: which of the values in it can be made the type that is wanted.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::Value;

use super::fit::two;
use super::{Coerced, Misfit, coerce};
use crate::flag::{Coercion, Flag, Note};
use crate::output::OutputSchema;
use crate::output::check::{Check, Judge, Place, inside, list, member_schema};
use crate::output::reader::{Effort, Found, Json, find_every, parse, without_thoughts};
use crate::output::schema::{Node, WRAPPER};
use crate::validate::Violation;

/// What came of an answer.
#[derive(Debug)]
pub(in crate::output) struct Reread {
    /// JSON that conforms to the schema of the type, not wrapped.
    pub(in crate::output) json: String,
    /// What was done to come by it.
    pub(in crate::output) notes: Vec<Note>,
    /// The model wrote `{"value": ..}`.
    pub(in crate::output) wrapped: bool,
}

/// Reads an answer that was refused as it stands.
///
/// # Errors
/// No value in it can be made the type, or several can; what is known about that.
pub(in crate::output) fn reread(
    text: &str,
    schema: &OutputSchema,
    judge: Judge,
    effort: Effort,
) -> Result<Reread, Misfit> {
    let found = find_every(text, effort).map_err(|_| Misfit(None))?;
    let candidates: Option<Vec<Candidate<'_>>> = found.iter().map(|found| candidate(schema, found)).collect();
    let candidates = candidates.ok_or(Misfit(None))?;
    let check = Check::new(&schema.tree, judge, candidates.iter().map(|one| &one.json));
    let read = Rereading { schema, check };
    if candidates.is_empty() {
        return read.name(text);
    }
    let outcomes: Vec<_> = candidates.iter().map(|one| read.coerced(one)).collect();
    let is_list =
        |outcome: &Result<Coerced<'_>, Misfit>| outcome.as_ref().is_ok_and(|fit| !was_put_in_list(fit));
    if candidates.len() > 1 && !outcomes.iter().any(is_list) {
        let choice = chooses(text, &found);
        return if choice {
            Err(Misfit(Some(Violation::new("", CHOICE))))
        } else {
            read.side_by_side(&candidates)
        };
    }
    read.only(&candidates, outcomes)
}

/// A value found in the answer.
struct Candidate<'t> {
    json: Json<'t>,
    notes: &'t [Note],
    wrapped: bool,
}

/// `None`: it has a member twice with different values.
fn candidate<'t>(schema: &OutputSchema, found: &'t Found<'_>) -> Option<Candidate<'t>> {
    let notes = found.notes.as_slice();
    Some(match parse(&found.json)? {
        Json::Object(mut members)
            if schema.is_wrapped() && matches!(members.as_slice(), [(name, _)] if name == WRAPPER) =>
        {
            let json = members.pop().map_or(Json::Null, |(_, value)| value);
            Candidate { json, notes, wrapped: true }
        }
        json => Candidate { json, notes, wrapped: false },
    })
}

struct Rereading<'s> {
    schema: &'s OutputSchema,
    check: Check<'s>,
}

impl Rereading<'_> {
    fn coerced<'t>(&self, one: &Candidate<'t>) -> Result<Coerced<'t>, Misfit> {
        coerce(&self.check, self.schema.own(), &one.json, &inside(one.wrapped))
    }

    /// The value of the one candidate that fits. One that was meant as the type and does not fit leaves no choice.
    fn only(
        &self,
        candidates: &[Candidate<'_>],
        outcomes: Vec<Result<Coerced<'_>, Misfit>>,
    ) -> Result<Reread, Misfit> {
        let mut kept: Option<(&Candidate<'_>, Coerced<'_>)> = None;
        for (candidate, outcome) in candidates.iter().zip(outcomes) {
            match (outcome, &kept) {
                (Ok(fit), None) => kept = Some((candidate, fit)),
                (Ok(fit), Some((_, first))) if first.json == fit.json => {}
                (Ok(fit), Some((_, first))) => return Err(two(&first.json, &fit.json, &Place::WHOLE)),
                (Err(misfit), _) if candidates.len() == 1 || self.was_meant(&candidate.json) => {
                    return Err(misfit);
                }
                (Err(_), _) => {}
            }
        }
        let (candidate, fit) = kept.ok_or(Misfit(None))?;
        let notes = candidate.notes.iter().cloned().chain(fit.notes).collect();
        Ok(Reread { json: fit.json.to_string(), notes, wrapped: candidate.wrapped })
    }

    /// Several values, each of which is an item of the list that is wanted.
    fn side_by_side(&self, candidates: &[Candidate<'_>]) -> Result<Reread, Misfit> {
        let lists = self
            .check
            .leaves(self.schema.own())
            .into_iter()
            .filter(|node| list(node, "prefixItems").is_empty());
        let items: Vec<&Value> = lists.filter_map(|node| node.get("items")).collect();
        let [items] = items.as_slice() else { return Err(Misfit(None)) };
        let mut notes = Vec::new();
        let mut all: Vec<Json<'_>> = Vec::new();
        let mut known = HashSet::new();
        for (index, one) in candidates.iter().enumerate() {
            let place = Place::WHOLE.item(index);
            let item = coerce(&self.check, items, &one.json, &place)?;
            // The same value twice is one that was repeated, or two items.
            if !known.insert(item.json.to_string()) || one.wrapped {
                return Err(Misfit(None));
            }
            all.push(item.json);
            merge(&mut notes, one.notes.iter().cloned().chain(item.notes));
        }
        let listed = Note { flag: Flag::Coerced(Coercion::Listed), place: String::new(), times: 1 };
        merge(&mut notes, [listed]);
        let json = Json::Array(all);
        if !self.check.fits(self.schema.own(), &json) {
            return Err(Misfit(None));
        }
        Ok(Reread { json: json.to_string(), notes, wrapped: false })
    }

    /// The name that a text without any JSON is, or mentions.
    fn name(&self, text: &str) -> Result<Reread, Misfit> {
        if !wants_name(&self.check, self.schema.own(), true) {
            return Err(Misfit(None));
        }
        let (said, thought) = without_thoughts(text).map_err(|_| Misfit(None))?;
        let json = Json::String(Cow::Borrowed(said.trim()));
        let unclear = "no value is named as the answer";
        let fit = coerce(&self.check, self.schema.own(), &json, &Place::WHOLE)
            .map_err(|misfit| Misfit(misfit.0.or_else(|| Some(Violation::new("", unclear)))))?;
        let mut notes: Vec<Note> = thought.into_iter().collect();
        merge(&mut notes, fit.notes);
        Ok(Reread { json: fit.json.to_string(), notes, wrapped: false })
    }

    /// Whether a value that does not fit was meant as the type all the same: it has one of its members, or is a list as
    /// it is.
    fn was_meant(&self, json: &Json<'_>) -> bool {
        let check = &self.check;
        let leaves = check.leaves(self.schema.own());
        let items = leaves.iter().filter_map(|node| node.get("items")).flat_map(|items| check.leaves(items));
        let mut forms = items.chain(leaves.iter().copied());
        match json {
            Json::Object(members) => {
                let knows = |node: &Node| members.iter().any(|(name, _)| member_schema(node, name).is_some());
                forms.any(knows)
            }
            Json::Array(items) => !items.is_empty() && leaves.iter().any(|node| check.is_kind(node, json)),
            _ => leaves.iter().any(|node| check.is_kind(node, json)),
        }
    }
}

const CHOICE: &str =
    "several values, and words that may say which of them is meant; answer with one list of all that are";

/// Words that set one value against another, or say that it is none of the answer: `Draft: {..} Final: {..}`.
const CHOOSES: &str = "or either not no never don't doesn't isn't wrong incorrect invalid false bad but however instead rather \
    actually wait correction corrected correct right fixed revised updated changed final draft attempt version before after old \
    new was were became becomes previous previously original originally earlier later now should would example sample e.g \
    instance schema format template input output expected vs versus alternatively alternative option than without except unlike \
    ignore discard skip remove removed delete deleted replace replaced";

/// Whether the words between values, or on the lines of the first and the last, may say which of them are meant.
fn chooses(text: &str, found: &[Found<'_>]) -> bool {
    let (Some(first), Some(last)) = (found.first(), found.last()) else { return false };
    let before = text.get(..first.part.start).unwrap_or("");
    // The line before it counts where it leads to this one.
    let line = before.trim_end();
    let leads = line.ends_with(':') || !before[line.len()..].contains('\n');
    let mut lead = line.rsplit('\n').take(usize::from(leads));
    let behind = text.get(last.part.end..).and_then(|behind| behind.split('\n').next());
    let gap = |pair: &[Found<'_>]| text.get(pair[0].part.end..pair[1].part.start);
    let said = lead.next().into_iter().chain(behind).any(may_choose);
    said || found.windows(2).filter_map(gap).any(may_choose)
}

fn may_choose(words: &str) -> bool {
    const LONGEST: usize = 16;
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '’' | '.');
    let words_of = words.split(|c: char| !is_part(c)).map(|word| word.trim_matches('.'));
    let is_one = |word: &str| {
        let word = word.replace('’', "'");
        CHOOSES.split_whitespace().any(|one| word.eq_ignore_ascii_case(one))
    };
    words.contains("->")
        || words.contains(['→', '⇒', '❌', '✗'])
        || words_of.filter(|word| (2..LONGEST).contains(&word.len())).any(is_one)
}

/// Whether the value was one for a list, which it is not by itself.
fn was_put_in_list(fit: &Coerced<'_>) -> bool {
    let is_list = |note: &Note| {
        note.flag == Flag::Coerced(Coercion::List) && matches!(note.place.as_str(), "" | WRAPPER)
    };
    fit.notes.iter().any(is_list)
}

/// Whether a schema wants a Boolean or one of the names that it lists, or (`lists`) a list of these.
fn wants_name(check: &Check<'_>, schema: &Value, lists: bool) -> bool {
    let is_name = |value: &Value| value.is_string() || value.is_boolean() || value.is_null();
    let leaves = check.leaves(schema);
    let wanted = |node: &&Node| {
        let kind = node.get("type").and_then(Value::as_str);
        if let Some(only) = node.get("const") {
            return is_name(only);
        }
        match node.get("enum").and_then(Value::as_array) {
            Some(values) => values.iter().all(is_name),
            None if kind == Some("array") && lists => {
                node.get("items").is_some_and(|items| wants_name(check, items, false))
            }
            None => matches!(kind, Some("boolean" | "null")),
        }
    };
    !leaves.is_empty() && leaves.iter().all(wanted)
}

/// Adds notes to those that are there, each kind once.
pub(super) fn merge(notes: &mut Vec<Note>, more: impl IntoIterator<Item = Note>) {
    for note in more {
        match notes.iter_mut().find(|known| known.flag == note.flag) {
            Some(known) => known.times = known.times.saturating_add(note.times),
            None => notes.push(note),
        }
    }
}

/// What is told of an answer that was refused both ways: what no coercion mends, and between which values it could not
/// choose.
pub(in crate::output) fn told(
    plain: Vec<Violation>,
    misfit: Misfit,
    unmended: Option<Unmended>,
) -> Vec<Violation> {
    let ask = plain.first().map(|first| first.ask.clone()).unwrap_or_default();
    let mut told = match unmended {
        Some(Unmended { all, left }) => {
            let others = plain.iter().filter(|one| !all.iter().any(|known| is_same(one, known)));
            let left: Vec<Violation> = left.into_iter().chain(others.cloned()).collect();
            if left.is_empty() { plain } else { left }
        }
        None => plain,
    };
    if let Some(known) = misfit.0 {
        told.retain(|one| one.path != known.path);
        told.insert(0, known);
    }
    if let Some(first) = told.first_mut() {
        first.ask = ask;
    }
    told
}

fn is_same(one: &Violation, other: &Violation) -> bool {
    one.path == other.path && one.message == other.message
}

/// What is wrong with an answer by its schema, and what of it coercion does not mend.
pub(in crate::output) struct Unmended {
    all: Vec<Violation>,
    left: Vec<Violation>,
}

/// Looks at an answer of one value; of several it is not known which one was meant.
pub(in crate::output) fn unmended(
    text: &str,
    schema: &OutputSchema,
    judge: Judge,
    effort: Effort,
) -> Option<Unmended> {
    let found = find_every(text, effort).ok()?;
    let [only] = found.as_slice() else { return None };
    let Candidate { json, wrapped, .. } = candidate(schema, only)?;
    let check = || Check::new(&schema.tree, judge, [&json]);
    let all = check().violations(schema.own(), &json, wrapped)?;
    let work = check();
    let mends = |schema: &Value, value: &Json<'_>, place: &Place<'_>| {
        coerce(&work, schema, value, place).map(|_| ()).map_err(|misfit| misfit.0)
    };
    let left = check().mending(&mends).violations(schema.own(), &json, wrapped)?;
    Some(Unmended { all, left })
}
