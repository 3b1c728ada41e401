//! Which candidate is the answer: each is made to fit and read by serde, and the type picks.

use std::borrow::Cow;
use std::ops::Range;

use super::check::{Fault, Judge, Rule, Weight, faults, tell};
use super::error;
use super::find::{self, Content, Place, Spot, trimmed};
use super::fit::{Allow, Fitted, fit, named};
use super::json::{Json, canonical};
use super::repair::{self, Repairs};
use super::schema::WRAPPER;
use super::serde_error;
use super::target::{Slot, Target, wrapped_value};
use super::watch::Watch;
use crate::flag::{Flag, Note};
use crate::text::same_letters;
use crate::validate::Violation;

/// How deep JSON may be of which serde may read each level several times: an untagged enum that contains itself.
const DEEPEST: usize = 12;

type Refused = Vec<Violation>;

/// A candidate that the type takes.
pub(super) struct Taken<'t> {
    pub(super) stood: Stood,
    /// What serde reads.
    json: Cow<'t, str>,
    /// The same for all that the type reads alike.
    same: String,
    pub(super) notes: Vec<Note>,
    pub(super) wrapped: bool,
}

/// A value that does not fit the type, changed as far as it could be, and why.
struct Misfit<'t> {
    fitted: Fitted<'t>,
    found: Vec<Fault>,
}

/// Where the JSON stood, and how it was repaired.
pub(super) struct Stood {
    pub(super) place: Place,
    pub(super) begin: usize,
    pub(super) repairs: Repairs,
}

/// What became of a spot.
enum Judged<'t> {
    Taken(Box<Taken<'t>>),
    Refused(Refused),
    Broken(usize, repair::Fault),
}

pub(super) struct Picker<'p, 't> {
    /// Nothing stands beside the only candidate.
    pub(super) alone: bool,
    /// Thoughts were passed over.
    pub(super) behind: bool,
    pub(super) text: &'t str,
    pub(super) target: &'p Target<'p>,
    pub(super) slot: &'p mut dyn Slot,
}

impl<'t> Picker<'_, 't> {
    pub(super) fn pick(mut self, spots: Vec<Spot<'t>>, endless: Option<usize>) -> Result<Taken<'t>, Refused> {
        let only_words = spots.iter().all(|spot| matches!(spot.content, Content::Text));
        let mut judged = Vec::with_capacity(spots.len());
        let spots = self.listed(spots);
        self.alone = spots.len() == 1;
        for spot in spots {
            judged.push(self.judge(spot));
        }
        if let Some(begin) = endless {
            return Err(vec![error::endless(self.text, begin)]);
        }
        let chosen = choose(self.text, &judged)?;
        if let Some(Judged::Taken(taken)) = chosen.map(|chosen| judged.swap_remove(chosen)) {
            // The slot holds what was read last.
            if !self.alone {
                self.fill(&taken.json)?;
            }
            return Ok(*taken);
        }
        Err(if only_words {
            vec![error::nothing(self.text, self.target.shape())]
        } else {
            self.least_wrong(judged)
        })
    }

    /// Objects one a line, or each in a fence or a numbered item, are a list where one is wanted, else each by itself.
    fn listed(&self, mut spots: Vec<Spot<'t>>) -> Vec<Spot<'t>> {
        let rules = self.target.rules();
        let leaves = rules.leaves(rules.own());
        let wants_list = !self.target.exact
            && self.target.schema.is_some()
            && leaves.iter().any(|rule| rule.has_type("array"));
        if wants_list && !leaves.iter().any(|rule| rule.has_type("object")) {
            spots = find::joined(self.text, spots);
        }
        let mut all = Vec::with_capacity(spots.len());
        for Spot { place, part, content } in spots {
            match content {
                Content::Lines(objects, mut repairs) if wants_list => {
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
    fn least_wrong(&self, judged: Vec<Judged<'t>>) -> Refused {
        let mut broken = None;
        let mut least: Option<Refused> = None;
        for one in judged {
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
        let text = self.text;
        let words = &text[part.clone()];
        let may_be = !self.target.exact && self.target.schema.is_some();
        let fitted = may_be.then(|| named(self.target.rules(), words)).flatten();
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
            && self.target.read_at_once(plain, self.slot)
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
                [(name, inner)] if !is_error(name) && !self.is_known(name) => {
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
        let rules = self.target.rules();
        let has = |rule: &&Rule| rule.others.is_some() || rule.names().any(|known| same_letters(known, name));
        rules.leaves(rules.own()).iter().any(has)
    }

    /// Makes a value fit, and says what is wrong with it all the same.
    fn fitted(&self, place: Place, json: Json<'t>, wrapped: bool) -> Result<Fitted<'t>, Misfit<'t>> {
        let rules = self.target.rules();
        let allow = Allow { changes: !self.target.exact, lists: place != Place::Prose };
        let fitted = fit(rules, self.target.judge, json, allow);
        let mut found = faults(rules, rules.own(), Judge::Type, &fitted.json, wrapped);
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
        let json = written(&fitted, plain);
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
                // serde says of a list where a struct is wanted that it stands in the value before.
                let is_list =
                    |one: &Violation| one.message.starts_with("invalid type: sequence, expected struct");
                let more: Vec<_> = more.into_iter().filter(|one| !is_told(one) && !is_list(one)).collect();
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
        let json = written(&fitted, plain);
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
        self.slot.fill(json, &watch).map_err(|error| vec![serde_error::violation(json, &error)])?;
        if watch.rounded.get() {
            return Err(vec![Violation::new("", "has a whole number that its type cannot hold exactly")]);
        }
        Ok(())
    }
}

/// How deep lists and objects stand within each other.
fn depth(json: &str) -> usize {
    let (mut depth, mut most) = (0_usize, 0);
    for (_, opens) in find::brackets(json) {
        depth = if opens { depth + 1 } else { depth.saturating_sub(1) };
        most = most.max(depth);
    }
    most
}

/// Which of the spots is the answer; `None`: the type takes none of them.
fn choose(text: &str, judged: &[Judged<'_>]) -> Result<Option<usize>, Refused> {
    let taken = || {
        judged.iter().enumerate().filter_map(|(at, one)| match one {
            Judged::Taken(taken) => Some((at, taken)),
            _ => None,
        })
    };
    let Some((first, one)) = taken().next() else { return Ok(None) };
    let broken = judged.iter().find(|one| matches!(one, Judged::Broken(..)));
    let other = taken().find(|(_, other)| other.same != one.same);
    if broken.is_none() && other.is_none() {
        return Ok(Some(first));
    }
    // The only fence that the type takes wins over all that stands before it.
    let mut fences =
        taken().filter(|(_, taken)| taken.stood.place == Place::Fence && taken.json.starts_with(['{', '[']));
    if let (Some((fence, _)), None) = (fences.next(), fences.next()) {
        let behind = judged[fence + 1..].iter();
        if behind.into_iter().all(|one| matches!(one, Judged::Refused(_))) {
            return Ok(Some(fence));
        }
    }
    match (other, broken) {
        (Some((_, other)), _) => Err(vec![error::two(text, one.stood.begin, other.stood.begin)]),
        (None, Some(Judged::Broken(begin, fault))) => Err(vec![error::broken(text, *begin, fault)]),
        (None, _) => Ok(Some(first)),
    }
}

/// What serde reads: the text itself, where nothing of it was changed.
fn written<'t>(fitted: &Fitted<'_>, plain: Option<&'t str>) -> Cow<'t, str> {
    match plain {
        Some(plain) if !fitted.changed => Cow::Borrowed(plain),
        _ => Cow::Owned(fitted.json.to_string()),
    }
}

/// Whether one path leads to a place in or at that of the other.
fn is_within(inner: &str, outer: &str) -> bool {
    let rest = inner.strip_prefix(outer);
    rest.is_some_and(|rest| outer.is_empty() || rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Whether a member of this name says why there is no value.
fn is_error(name: &str) -> bool {
    ["error", "errors", "refusal"].iter().any(|one| name.eq_ignore_ascii_case(one))
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
    pub(super) fn noted(&self, text: &str) -> Vec<Note> {
        let at = |at| error::place(text, at);
        let stood = match self.place {
            Place::Whole => None,
            Place::Fence => Some(Flag::Fenced),
            Place::Tag | Place::Prose => Some(Flag::InProse),
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
