//! From a model's text to the value: the type picks from what JSON the text has.
//!
//! What is JSON of the type as it stands is read by serde at once. Everything else is walked over once; each candidate is
//! parsed, made to fit, and read by serde. Two that the type takes and that differ are refused, as is one beside what is broken.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::check::{Check, Fault, Judge, Weight, faults, properties, shape, tell, types};
use super::error;
use super::find::{self, Content, Place, Spot, trimmed};
use super::fit::{Allow, Fitted, fit, named};
use super::json::{Json, canonical};
use super::repair::{self, Repairs};
use super::schema::{Node, OutputSchema, WRAPPER};
use super::watch::{Watch, Watched};
use crate::flag::{Flag, Note};
use crate::text::same_letters;
use crate::validate::Violation;

/// The longest text in which JSON is looked for, in bytes. What is JSON as it stands may be longer.
const LONGEST: usize = 16 << 20;

/// How deep JSON may be of which serde may read each level several times: an untagged enum that contains itself.
const DEEPEST: usize = 12;

/// What stands for a text in the form of a type that was not filled in.
const PLACEHOLDER: &str = "\"string\"";

/// What JSON is read into. The type stands behind it, so that all that looks for the JSON is compiled once.
pub(crate) trait Slot {
    /// Keeps what serde makes of strict JSON.
    fn fill(&mut self, json: &str, watch: &Watch) -> Result<(), serde_json::Error>;
}

impl<T: DeserializeOwned> Slot for Option<T> {
    fn fill(&mut self, json: &str, watch: &Watch) -> Result<(), serde_json::Error> {
        let mut inner = serde_json::Deserializer::from_str(json);
        let value = T::deserialize(Watched { inner: &mut inner, watch })?;
        inner.end()?;
        *self = Some(value);
        Ok(())
    }
}

/// How an answer is read.
pub(super) struct Target<'a> {
    /// `None`: any JSON.
    pub(super) schema: Option<&'a OutputSchema>,
    pub(super) judge: Judge,
    /// Nothing is repaired or made to fit.
    pub(super) exact: bool,
    /// The text has to be JSON as a whole.
    pub(super) whole: bool,
    /// What else speaks against a value; `true`: it came as `{"value": ..}`.
    pub(super) objections: &'a dyn Fn(&Json<'_>, bool) -> Vec<Violation>,
}

/// What was done to read a value.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) notes: Vec<Note>,
    /// Whether it came as `{"value": ..}`, so that its paths begin with `value` for the model.
    pub(super) wrapped: bool,
}

type Refused = Vec<Violation>;

/// Reads the value of an answer into `slot`.
///
/// # Errors
/// All that is wrong.
pub(super) fn read(text: &str, target: &Target<'_>, slot: &mut dyn Slot) -> Result<Outcome, Refused> {
    if target.read_at_once(trimmed(text), slot).is_ok() {
        return Ok(Outcome { wrapped: target.is_wrapped(), ..Outcome::default() });
    }
    if text.len() > LONGEST {
        return Err(vec![error::too_long()]);
    }
    if let Some(part) = find::only_fence(text).filter(|_| !target.whole)
        && target.read_at_once(&text[part.clone()], slot).is_ok()
    {
        let notes = Stood { place: Place::Fence, begin: part.start, repairs: Repairs::default() }.noted(text);
        return Ok(Outcome { notes, wrapped: target.is_wrapped() });
    }
    let found = find::walk(text, !target.exact && !target.whole);
    if target.whole
        && !matches!(found.spots[..], [Spot { place: Place::Whole, content: Content::Json(..), .. }])
    {
        return Err(vec![error::not_whole()]);
    }
    let thoughts =
        found.thoughts.map(|at| Note { flag: Flag::AfterThinking, place: error::place(text, at), times: 1 });
    let behind = found.thoughts.is_some();
    let taken = Picker { alone: false, behind, text, target, slot }.pick(found.spots, found.endless)?;
    let mut notes: Vec<Note> = thoughts.into_iter().collect();
    notes.extend(taken.stood.noted(text));
    notes.extend(taken.notes);
    Ok(Outcome { notes, wrapped: taken.wrapped })
}

impl Target<'_> {
    fn is_wrapped(&self) -> bool {
        self.schema.is_some_and(OutputSchema::is_wrapped)
    }

    /// The schema of all, and that of the type itself.
    fn schemas(&self) -> (&Value, &Value) {
        const ANY: &Value = &Value::Bool(true);
        self.schema.map_or((ANY, ANY), |schema| (&schema.tree, schema.own()))
    }

    /// Reads a text that is JSON of the type as it stands; else tells what serde saw of it.
    fn read_at_once(&self, text: &str, slot: &mut dyn Slot) -> Result<(), Watch> {
        let watch = Watch::strict();
        if self.judge == Judge::Schema || self.schema.is_some_and(|schema| schema.states_bounds) {
            watch.unsure.set(true);
            return Err(watch);
        }
        let json = if self.is_wrapped() { wrapped_value(text) } else { Some(text) };
        let read = json.is_some_and(|json| {
            !has_control_escape(json) && !is_form(json) && slot.fill(json, &watch).is_ok()
        });
        if read && watch.is_clean() { Ok(()) } else { Err(watch) }
    }

    fn shape(&self) -> Option<String> {
        self.schema.and_then(shape)
    }
}

/// What stands between `{"value":` and `}`, if the text begins and ends so: JSON, unless there is more in it.
fn wrapped_value(text: &str) -> Option<&str> {
    let key = text.strip_prefix('{')?.trim_ascii_start().strip_prefix('"')?.strip_prefix(WRAPPER)?;
    let value = key.strip_prefix('"')?.trim_ascii_start().strip_prefix(':')?.trim_ascii_start();
    Some(value.strip_suffix('}')?.trim_ascii_end())
}

/// Whether it may be the form of a type that was not filled in, which is short.
fn is_form(json: &str) -> bool {
    const SHORT: usize = 512;
    json.len() < SHORT && json.contains(PLACEHOLDER)
}

/// Whether a string may hold a backspace or a form feed, which no text has: `"\frac"`.
fn has_control_escape(json: &str) -> bool {
    let mut rest = json.as_bytes();
    if !rest.contains(&b'\\') {
        return false;
    }
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        match rest.get(at + 1) {
            Some(b'b' | b'f') if rest.get(at + 2).is_some_and(u8::is_ascii_alphabetic) => return true,
            _ => rest = rest.get(at + 2..).unwrap_or(&[]),
        }
    }
    false
}

/// A candidate that the type takes.
struct Taken<'t> {
    stood: Stood,
    /// What serde reads.
    json: Cow<'t, str>,
    /// The same for all that the type reads alike.
    same: String,
    notes: Vec<Note>,
    wrapped: bool,
}

/// A value that does not fit the type, changed as far as it could be, and why.
struct Misfit<'t> {
    fitted: Fitted<'t>,
    found: Vec<Fault>,
}

/// Where the JSON stood, and how it was repaired.
struct Stood {
    place: Place,
    begin: usize,
    repairs: Repairs,
}

/// What became of a spot.
enum Judged<'t> {
    Taken(Box<Taken<'t>>),
    Refused(Refused),
    Broken(usize, repair::Fault),
}

struct Picker<'p, 't> {
    /// Nothing stands beside the only candidate.
    alone: bool,
    /// Thoughts were passed over.
    behind: bool,
    text: &'t str,
    target: &'p Target<'p>,
    slot: &'p mut dyn Slot,
}

impl<'t> Picker<'_, 't> {
    fn pick(mut self, spots: Vec<Spot<'t>>, endless: Option<usize>) -> Result<Taken<'t>, Refused> {
        let is_words = |spot: &Spot<'_>| matches!(spot.content, Content::Text);
        let only_words = spots.iter().all(is_words);
        let mut judged = Vec::with_capacity(spots.len());
        let spots = self.listed(spots);
        self.alone = spots.len() == 1;
        for spot in spots {
            judged.push(((spot.place, spot.part.clone()), self.judge(spot)));
        }
        if let Some(begin) = endless {
            return Err(vec![error::endless(self.text, begin)]);
        }
        let chosen = choose(self.text, &judged)?;
        match chosen {
            Some(chosen) => {
                let Some((_, Judged::Taken(taken))) = judged.into_iter().nth(chosen) else {
                    return Err(vec![error::nothing(self.text, self.target.shape())]);
                };
                // The slot holds what was read last.
                if !self.alone {
                    self.fill(&taken.json)?;
                }
                Ok(*taken)
            }
            None if only_words => Err(vec![error::nothing(self.text, self.target.shape())]),
            None => Err(self.least_wrong(judged)),
        }
    }

    /// Objects one a line are a list where one is wanted, else each by itself.
    fn listed(&self, spots: Vec<Spot<'t>>) -> Vec<Spot<'t>> {
        let (root, own) = self.target.schemas();
        let check = Check::new(root, Judge::Type, []);
        let wants_list = check.leaves(own).iter().any(|node| types(node).contains(&"array"));
        let mut all = Vec::with_capacity(spots.len());
        for Spot { place, part, content } in spots {
            match content {
                Content::Lines(objects, mut repairs)
                    if wants_list && !self.target.exact && self.target.schema.is_some() =>
                {
                    repairs.add(repair::kind::LINES, part.start);
                    let objects = objects.into_iter().map(|(_, object)| object).collect();
                    all.push(Spot { place, part, content: Content::Json(Json::Array(objects), repairs) });
                }
                Content::Lines(objects, repairs) => all.extend(objects.into_iter().map(|(part, object)| {
                    Spot { place: Place::Prose, part, content: Content::Json(object, repairs.clone()) }
                })),
                content => all.push(Spot { place, part, content }),
            }
        }
        all
    }

    /// What is wrong with the candidate of which the least is wrong, the last of equals.
    fn least_wrong(&self, judged: Vec<((Place, Range<usize>), Judged<'t>)>) -> Refused {
        let mut broken = None;
        let mut least: Option<Refused> = None;
        for (_, one) in judged {
            match one {
                Judged::Refused(found) if least.as_ref().is_none_or(|least| found.len() <= least.len()) => {
                    least = Some(found);
                }
                Judged::Broken(begin, fault) => drop(broken.get_or_insert((begin, fault))),
                _ => {}
            }
        }
        least
            .or_else(|| broken.map(|(begin, fault)| vec![error::broken(self.text, begin, &fault)]))
            .unwrap_or_else(|| vec![error::nothing(self.text, self.target.shape())])
    }

    fn judge(&mut self, spot: Spot<'t>) -> Judged<'t> {
        let Spot { place, part, content } = spot;
        let outcome = match content {
            Content::Broken(fault) => return Judged::Broken(part.start, fault),
            Content::Text | Content::Lines(..) => self.words(place, part),
            Content::Json(json, repairs) => self.json(place, part, json, &repairs),
        };
        match outcome {
            Ok(taken) => Judged::Taken(Box::new(taken)),
            Err(violations) => Judged::Refused(violations),
        }
    }

    /// A text that is no JSON, but names a value that the schema lists.
    fn words(&mut self, place: Place, part: Range<usize>) -> Result<Taken<'t>, Refused> {
        let (root, own) = self.target.schemas();
        let text = self.text;
        let words = &text[part.clone()];
        let fitted =
            (!self.target.exact && self.target.schema.is_some()).then(|| named(root, own, words)).flatten();
        let Some(fitted) = fitted else {
            return Err(vec![error::nothing(text, self.target.shape())]);
        };
        let stood = Stood { place, begin: part.start, repairs: Repairs::default() };
        self.take(stood, fitted, false, None)
    }

    fn json(
        &mut self,
        place: Place,
        part: Range<usize>,
        json: Json<'t>,
        repairs: &Repairs,
    ) -> Result<Taken<'t>, Refused> {
        let stood = Stood { place, begin: part.start, repairs: repairs.clone() };
        let plain = repairs.is_empty().then(|| &self.text[part.clone()]);
        let (json, wrapped) = match json {
            Json::Object(members) if self.target.is_wrapped() => unwrapped(members),
            json => (json, false),
        };
        let plain = plain.and_then(|plain| if wrapped { wrapped_value(plain) } else { Some(plain) });
        if let Some(plain) = plain.filter(|_| self.alone && (self.behind || place != Place::Whole))
            && self.target.read_at_once(plain, self.slot).is_ok()
        {
            let json = Cow::Borrowed(plain);
            return Ok(Taken { stood, json, same: String::new(), notes: Vec::new(), wrapped });
        }
        let inner = self.inner(&json, place, wrapped);
        let refused = match self.fitted(place, json, wrapped) {
            Ok(fitted) => return self.take(stood, fitted, wrapped, plain),
            Err(misfit) => misfit,
        };
        if let Some((within, kind)) = inner {
            match self.fitted(place, within, false) {
                Ok(mut fitted) => {
                    let note =
                        Note { flag: Flag::Fitted(Cow::Borrowed(kind)), place: String::new(), times: 1 };
                    fitted.notes.insert(0, note);
                    fitted.changed = true;
                    return self.take(stood, fitted, false, None);
                }
                Err(within) if self.is_value(&within.fitted.json) => return Err(tell(within.found)),
                Err(_) => {}
            }
        }
        self.by_serde(
            refused,
            plain,
            Taken { stood, json: Cow::Borrowed(""), same: String::new(), notes: Vec::new(), wrapped },
        )
    }

    /// What a value may hold as a whole: in one member of any name, or in a string.
    fn inner(&self, json: &Json<'t>, place: Place, wrapped: bool) -> Option<(Json<'t>, &'static str)> {
        if self.target.exact || self.target.schema.is_none() || wrapped {
            return None;
        }
        match json {
            Json::Object(members) => match &members[..] {
                [(_, Json::Object(inner))] if inner.is_empty() => None,
                [(name, inner)] if name != "error" && !self.is_known(name) => {
                    Some((inner.clone(), "wrapper"))
                }
                _ => None,
            },
            Json::String(text) if place != Place::Prose => {
                let inner = trimmed(text);
                let tree = inner.starts_with(['{', '[']).then(|| repair::tree(inner)).flatten();
                tree.map(|tree| (tree.into_owned(), "quoted"))
            }
            _ => None,
        }
    }

    /// Whether an object has a member that some form of the type has.
    fn is_value(&self, json: &Json<'_>) -> bool {
        matches!(json, Json::Object(members) if members.iter().any(|(name, _)| self.is_known(name)))
    }

    /// Whether some form of the type has such a member.
    fn is_known(&self, name: &str) -> bool {
        let (root, own) = self.target.schemas();
        let check = Check::new(root, Judge::Type, []);
        let has = |node: &&Node| {
            let is_map = node.get("additionalProperties").is_some_and(|of| *of != Value::Bool(false));
            is_map
                || properties(node).is_some_and(|named| named.keys().any(|known| same_letters(known, name)))
        };
        check.leaves(own).iter().any(has)
    }

    /// Makes a value fit, and says what is wrong with it all the same.
    fn fitted(&self, place: Place, json: Json<'t>, wrapped: bool) -> Result<Fitted<'t>, Misfit<'t>> {
        let (root, own) = self.target.schemas();
        let allow = Allow { changes: !self.target.exact, lists: place != Place::Prose };
        let fitted = fit(root, own, self.target.judge, json, allow);
        let mut found = faults(root, own, Judge::Type, &fitted.json, wrapped);
        if self.target.judge == Judge::Schema {
            found.retain(|fault| fault.weight == Weight::Firm);
        }
        let objections = (self.target.objections)(&fitted.json, wrapped);
        found.extend(objections.into_iter().map(Fault::objection));
        if found.is_empty() { Ok(fitted) } else { Err(Misfit { fitted, found }) }
    }

    /// What the schema refuses may be what the type takes: a member by an alias.
    fn by_serde(
        &mut self,
        misfit: Misfit<'t>,
        plain: Option<&'t str>,
        mut taken: Taken<'t>,
    ) -> Result<Taken<'t>, Refused> {
        let Misfit { fitted, found } = misfit;
        let json = match plain {
            Some(plain) if !fitted.changed => Cow::Borrowed(plain),
            _ => Cow::Owned(fitted.json.to_string()),
        };
        if self.target.judge == Judge::Schema || found.iter().any(|fault| fault.weight == Weight::Endless) {
            return Err(tell(found));
        }
        match self.fill(&json) {
            Ok(()) if found.iter().all(|fault| fault.weight == Weight::Type) => {}
            Ok(()) => return Err(tell(found)),
            Err(more) => {
                let mut found = tell(found);
                let is_told = |one: &Violation| {
                    found
                        .iter()
                        .any(|told| is_within(&told.path, &one.path) || is_within(&one.path, &told.path))
                };
                let more: Vec<_> = more.into_iter().filter(|one| !is_told(one)).collect();
                found.extend(more);
                return Err(found);
            }
        }
        taken.notes.extend(fitted.notes);
        Ok(Taken { json, same: canonical(fitted.json), ..taken })
    }

    /// Reads what fits by serde, which has the last word.
    fn take(
        &mut self,
        stood: Stood,
        fitted: Fitted<'t>,
        wrapped: bool,
        plain: Option<&'t str>,
    ) -> Result<Taken<'t>, Refused> {
        let json = match plain {
            Some(plain) if !fitted.changed => Cow::Borrowed(plain),
            _ => Cow::Owned(fitted.json.to_string()),
        };
        self.fill(&json)?;
        let same = if self.alone { String::new() } else { canonical(fitted.json) };
        Ok(Taken { stood, json, same, notes: fitted.notes, wrapped })
    }

    fn fill(&mut self, json: &str) -> Result<(), Refused> {
        #[cfg(test)]
        super::counts::add(|counts| counts.read += 1);
        if self.target.schema.is_some_and(|schema| schema.may_read_again) && depth(json) > DEEPEST {
            let message = "is nested too deeply in forms that have members in common";
            return Err(vec![Violation {
                ask: "write it with fewer levels".into(),
                ..Violation::new("", message)
            }]);
        }
        let watch = Watch::default();
        self.slot.fill(json, &watch).map_err(|error| vec![super::serde_error::violation(json, &error)])?;
        if watch.rounded.get() {
            return Err(vec![Violation::new("", "has a whole number that its type would not hold exactly")]);
        }
        Ok(())
    }
}

/// How deep lists and objects stand within each other.
fn depth(json: &str) -> usize {
    let (mut depth, mut most, mut quoted, mut escaped) = (0_usize, 0, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = quoted,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => {
                depth += 1;
                most = most.max(depth);
            }
            b'}' | b']' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    most
}

/// Which of the spots is the answer; `None`: the type takes none of them.
fn choose(text: &str, judged: &[((Place, Range<usize>), Judged<'_>)]) -> Result<Option<usize>, Refused> {
    let taken = || {
        judged.iter().enumerate().filter_map(|(at, (_, one))| match one {
            Judged::Taken(taken) => Some((at, taken)),
            _ => None,
        })
    };
    let Some((first, one)) = taken().next() else { return Ok(None) };
    let broken = judged.iter().position(|(_, one)| matches!(one, Judged::Broken(..)));
    let other = taken().find(|(_, other)| other.same != one.same);
    if broken.is_none() && other.is_none() {
        return Ok(Some(first));
    }
    // The only fence that the type takes wins over all that stands before it.
    let mut fences =
        taken().filter(|(_, taken)| taken.stood.place == Place::Fence && taken.json.starts_with(['{', '[']));
    if let (Some((fence, _)), None) = (fences.next(), fences.next()) {
        let behind = judged[fence + 1..].iter();
        if behind.into_iter().all(|(_, one)| matches!(one, Judged::Refused(_))) {
            return Ok(Some(fence));
        }
    }
    match (other, broken.map(|at| &judged[at].1)) {
        (Some((_, other)), _) => Err(vec![error::two(text, one.stood.begin, other.stood.begin)]),
        (None, Some(Judged::Broken(begin, fault))) => Err(vec![error::broken(text, *begin, fault)]),
        (None, _) => Ok(Some(first)),
    }
}

/// Whether one path leads to a place in or at that of the other.
fn is_within(inner: &str, outer: &str) -> bool {
    let rest = inner.strip_prefix(outer);
    rest.is_some_and(|rest| outer.is_empty() || rest.is_empty() || rest.starts_with(['.', '[']))
}

/// What `{"value": ..}` wraps.
fn unwrapped<'t>(mut members: Vec<(Cow<'t, str>, Json<'t>)>) -> (Json<'t>, bool) {
    if let [(name, _)] = &members[..]
        && name == WRAPPER
        && let Some((_, value)) = members.pop()
    {
        return (value, true);
    }
    (Json::Object(members), false)
}

impl Stood {
    fn noted(&self, text: &str) -> Vec<Note> {
        let at = |at| error::place(text, at);
        let stood = match self.place {
            Place::Whole => None,
            Place::Fence => Some(Flag::Fenced),
            Place::Prose => Some(Flag::InProse),
        };
        let stood = stood.map(|flag| Note { flag, place: at(self.begin), times: 1 });
        let repairs = self.repairs.iter().map(|one| Note {
            flag: Flag::Repaired(Cow::Borrowed(one.kind)),
            place: at(one.at),
            times: one.times,
        });
        stood.into_iter().chain(repairs).collect()
    }
}
