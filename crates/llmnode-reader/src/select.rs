//! Chooses the answer among the candidates: each is coerced and read by serde, and the type decides.
//!
//! In this order:
//!
//! 1. Objects on lines of their own become one list or several candidates, as the type is a list or not.
//! 2. Each candidate is judged: *accepted* (serde has read it into the slot), *refused* (with all that is wrong with it), or *broken*
//!    (no JSON). All of them are judged, also behind one that was accepted: another one may be accepted, too.
//! 3. `choose`: one accepted value is the answer; several are if they are the same value. Two different ones are an error, and so is
//!    an accepted one beside a broken one, unless a fence says which is meant.
//! 4. If none was accepted, the one with the fewest faults is reported: it is probably the answer, and the model is to mend that one.
//!
//! Serde has the last word in both directions: it may refuse what the schema allows, and accept what the schema does not describe,
//! such as a member by its alias. So a candidate that the rules refuse is read by serde all the same, if its faults allow that.

use std::borrow::Cow;
use std::ops::Range;

use super::check::{CheckMode, Fault, Rule, Severity, faults, into_violations};
use super::coerce::{CoerceOptions, Coerced, coerce, coerce_text};
use super::error;
use super::find::{self, Candidate, Content, Enclosure, trimmed};
use super::json::{Json, canonical};
use super::repair::{self, Repairs};
use super::serde_error;
use super::serde_observer::Observed;
use super::target::{Slot, Target, wrapped_value};
use super::tree::WRAPPER;
use crate::flag::{Flag, Repair};
use crate::text::same_letters;
use crate::violation::Violation;

/// For types that serde may read several times at each level, in exponential time.
const MAX_REREAD_DEPTH: usize = 12;

type Refused = Vec<Violation>;

/// A candidate that the type takes.
pub(super) struct Accepted<'t> {
    pub(super) origin: Origin,
    /// What serde has read.
    json: Cow<'t, str>,
    /// Equal for candidates that the type reads alike.
    canonical_json: String,
    pub(super) notes: Vec<Repair>,
    pub(super) wrapped: bool,
}

/// A candidate that does not fit the rules of the type, as far as it could be coerced.
struct Mismatch<'t> {
    coerced: Coerced<'t>,
    found: Vec<Fault>,
}

/// Where a value was found, and what was repaired to parse it.
pub(super) struct Origin {
    pub(super) place: Enclosure,
    pub(super) begin: usize,
    pub(super) repairs: Repairs,
}

enum Verdict<'t> {
    Accepted(Box<Accepted<'t>>),
    Refused(Refused),
    Broken(usize, repair::SyntaxError),
}

pub(super) struct Selector<'p, 't> {
    /// Then nothing is to be compared, and the slot is filled once.
    pub(super) only_candidate: bool,
    pub(super) after_thinking: bool,
    pub(super) text: &'t str,
    pub(super) target: &'p Target<'p>,
    pub(super) slot: &'p mut dyn Slot,
}

impl<'t> Selector<'_, 't> {
    pub(super) fn select(
        mut self,
        candidates: Vec<Candidate<'t>>,
        unclosed_thinking: Option<usize>,
    ) -> Result<Accepted<'t>, Refused> {
        let only_words = candidates
            .iter()
            .all(|candidate| matches!(candidate.content, Content::Text));
        let mut verdicts = Vec::with_capacity(candidates.len());
        let candidates = self.resolve_lines(candidates);
        self.only_candidate = candidates.len() == 1;
        for candidate in candidates {
            verdicts.push(self.evaluate(candidate));
        }
        if let Some(begin) = unclosed_thinking {
            return Err(vec![error::unclosed_thinking(self.text, begin)]);
        }
        let chosen = choose(self.text, &verdicts)?;
        if let Some(Verdict::Accepted(taken)) = chosen.map(|chosen| verdicts.swap_remove(chosen)) {
            // The slot holds the candidate that was read last, which may not be the chosen one.
            if !self.only_candidate {
                self.fill(&taken.json)?;
            }
            return Ok(*taken);
        }
        Err(if only_words {
            vec![error::nothing(self.text, self.target.expected_answer())]
        } else {
            self.least_wrong(verdicts)
        })
    }

    /// Objects from lines, fences or numbered items become a list if the type wants one, else each is a candidate.
    fn resolve_lines(&self, mut candidates: Vec<Candidate<'t>>) -> Vec<Candidate<'t>> {
        let rules = self.target.rules();
        let leaves = rules.leaves(rules.own());
        let wants_list = !self.target.exact
            && self.target.schema.is_some()
            && leaves.iter().any(|rule| rule.has_type("array"));
        if wants_list && !leaves.iter().any(|rule| rule.has_type("object")) {
            candidates = find::join_objects(self.text, candidates);
        }
        let mut all = Vec::with_capacity(candidates.len());
        for Candidate {
            place,
            part,
            content,
        } in candidates
        {
            match content {
                Content::Lines(objects, mut repairs) if wants_list => {
                    repairs.add(repair::kind::LINES, part.start);
                    let objects = objects.into_iter().map(|(_, object)| object).collect();
                    all.push(Candidate {
                        place,
                        part,
                        content: Content::Json(Json::Array(objects), repairs),
                    });
                }
                Content::Lines(objects, repairs) => {
                    all.extend(objects.into_iter().map(|(part, object)| Candidate {
                        place: Enclosure::Prose,
                        part,
                        content: Content::Json(object, repairs.clone()),
                    }))
                }
                content => all.push(Candidate {
                    place,
                    part,
                    content,
                }),
            }
        }
        all
    }

    /// The faults of the candidate with the fewest of them; of several, the last one.
    fn least_wrong(&self, verdicts: Vec<Verdict<'t>>) -> Refused {
        let mut broken = None;
        let mut least: Option<Refused> = None;
        for one in verdicts {
            match one {
                Verdict::Refused(found)
                    if least
                        .as_ref()
                        .is_none_or(|least| found.len() <= least.len()) =>
                {
                    least = Some(found);
                }
                Verdict::Broken(begin, fault) => drop(broken.get_or_insert((begin, fault))),
                _ => {}
            }
        }
        least
            .or_else(|| broken.map(|(begin, fault)| vec![error::broken(self.text, begin, &fault)]))
            .unwrap_or_else(|| vec![error::nothing(self.text, self.target.expected_answer())])
    }

    fn evaluate(&mut self, candidate: Candidate<'t>) -> Verdict<'t> {
        let Candidate {
            place,
            part,
            content,
        } = candidate;
        let outcome = match content {
            Content::Broken(fault) => return Verdict::Broken(part.start, fault),
            Content::Text | Content::Lines(..) => self.bare_text(place, part),
            Content::Json(json, repairs) => self.json(place, part, json, &repairs),
        };
        match outcome {
            Ok(taken) => Verdict::Accepted(Box::new(taken)),
            Err(violations) => Verdict::Refused(violations),
        }
    }

    /// It may name an allowed value of an enum.
    fn bare_text(&mut self, place: Enclosure, part: Range<usize>) -> Result<Accepted<'t>, Refused> {
        let text = self.text;
        let bare_text = &text[part.clone()];
        let may_be = !self.target.exact && self.target.schema.is_some();
        let coerced = may_be
            .then(|| coerce_text(self.target.rules(), bare_text))
            .flatten();
        let Some(coerced) = coerced else {
            return Err(vec![error::nothing(text, self.target.expected_answer())]);
        };
        let origin = Origin {
            place,
            begin: part.start,
            repairs: Repairs::default(),
        };
        self.take(origin, coerced, false, None)
    }

    /// Reads a candidate that was parsed: as it is, coerced, or what is inside it.
    fn json(
        &mut self,
        place: Enclosure,
        part: Range<usize>,
        json: Json<'t>,
        repairs: &Repairs,
    ) -> Result<Accepted<'t>, Refused> {
        let origin = Origin {
            place,
            begin: part.start,
            repairs: repairs.clone(),
        };
        let plain = repairs.is_empty().then(|| &self.text[part.clone()]);
        let (json, wrapped) = match json {
            Json::Object(members) if self.target.is_wrapped() => unwrapped(members),
            json => (json, false),
        };
        let plain = plain.and_then(|plain| {
            if wrapped {
                wrapped_value(plain)
            } else {
                Some(plain)
            }
        });
        if let Some(plain) = plain.filter(|_| {
            self.only_candidate && (self.after_thinking || place != Enclosure::WholeText)
        }) && self.target.try_fast_path(plain, self.slot)
        {
            let json = Cow::Borrowed(plain);
            return Ok(Accepted {
                origin,
                json,
                canonical_json: String::new(),
                notes: Vec::new(),
                wrapped,
            });
        }
        let inner = self.inner(&json, place, wrapped);
        let refused = match self.coerced(place, json, wrapped) {
            Ok(coerced) => return self.take(origin, coerced, wrapped, plain),
            Err(mismatch) => mismatch,
        };
        if let Some((within, kind)) = inner {
            match self.coerced(place, within, false) {
                Ok(mut coerced) => {
                    let note = Repair {
                        flag: Flag::Fitted(Cow::Borrowed(kind)),
                        place: String::new(),
                        times: 1,
                    };
                    coerced.notes.insert(0, note);
                    coerced.changed = true;
                    return self.take(origin, coerced, false, None);
                }
                Err(within) if self.is_value(&within.coerced.json) => {
                    return Err(into_violations(within.found));
                }
                Err(_) => {}
            }
        }
        self.retry_with_serde(
            refused,
            plain,
            Accepted {
                origin,
                json: Cow::Borrowed(""),
                canonical_json: String::new(),
                notes: Vec::new(),
                wrapped,
            },
        )
    }

    /// Models wrap a value in an object with one member of any name, or write the JSON as a string.
    fn inner(
        &self,
        json: &Json<'t>,
        place: Enclosure,
        wrapped: bool,
    ) -> Option<(Json<'t>, &'static str)> {
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
            Json::String(text) if place != Enclosure::Prose => {
                let inner = trimmed(text);
                let tree = inner
                    .starts_with(['{', '['])
                    .then(|| repair::parse_strict(inner))
                    .flatten();
                tree.map(|tree| (tree.into_owned(), "quoted"))
            }
            _ => None,
        }
    }

    /// Whether it has a member of the type, so that its faults tell more than those of what is around it.
    fn is_value(&self, json: &Json<'_>) -> bool {
        matches!(json, Json::Object(members) if members.iter().any(|(name, _)| self.is_known(name)))
    }

    fn is_known(&self, name: &str) -> bool {
        let rules = self.target.rules();
        rules.leaves(rules.own()).iter().any(|rule: &&Rule| {
            rule.additional.is_some() || rule.names().any(|own_name| same_letters(own_name, name))
        })
    }

    /// Coerces a value, and checks what has come of it by the rules of the type.
    fn coerced(
        &self,
        place: Enclosure,
        json: Json<'t>,
        wrapped: bool,
    ) -> Result<Coerced<'t>, Mismatch<'t>> {
        let rules = self.target.rules();
        let allow = CoerceOptions {
            changes: !self.target.exact,
            lists: place != Enclosure::Prose,
        };
        let coerced = coerce(rules, self.target.mode, json, allow);
        let mut found = faults(rules, rules.own(), CheckMode::Type, &coerced.json, wrapped);
        if self.target.mode == CheckMode::Schema {
            found.retain(|fault| fault.severity == Severity::Lossy);
        }
        let extra_check = (self.target.extra_check)(&coerced.json, wrapped);
        found.extend(extra_check.into_iter().map(Fault::from_extra_check));
        if found.is_empty() {
            Ok(coerced)
        } else {
            Err(Mismatch { coerced, found })
        }
    }

    /// The type may accept what its schema refuses, such as a member by its alias.
    fn retry_with_serde(
        &mut self,
        mismatch: Mismatch<'t>,
        plain: Option<&'t str>,
        mut taken: Accepted<'t>,
    ) -> Result<Accepted<'t>, Refused> {
        let Mismatch { coerced, found } = mismatch;
        let json = text_for_serde(&coerced, plain);
        if self.target.mode == CheckMode::Schema
            || found
                .iter()
                .any(|fault| fault.severity == Severity::TooDeep)
        {
            return Err(into_violations(found));
        }
        match self.fill(&json) {
            Ok(()) if found.iter().all(|fault| fault.severity == Severity::Type) => {}
            Ok(()) => return Err(into_violations(found)),
            Err(more) => {
                let mut found = into_violations(found);
                let is_new: Vec<_> = more
                    .into_iter()
                    .filter(|one| !is_reported(&found, one) && !is_list_for_struct(one))
                    .collect();
                found.extend(is_new);
                return Err(found);
            }
        }
        taken.notes.extend(coerced.notes);
        Ok(Accepted {
            json,
            canonical_json: canonical(coerced.json),
            ..taken
        })
    }

    /// serde has the last word, even if the schema accepts the value.
    fn take(
        &mut self,
        origin: Origin,
        coerced: Coerced<'t>,
        wrapped: bool,
        plain: Option<&'t str>,
    ) -> Result<Accepted<'t>, Refused> {
        let json = text_for_serde(&coerced, plain);
        self.fill(&json)?;
        let canonical_json = if self.only_candidate {
            String::new()
        } else {
            canonical(coerced.json)
        };
        Ok(Accepted {
            origin,
            json,
            canonical_json,
            notes: coerced.notes,
            wrapped,
        })
    }

    /// Has serde read the JSON into the slot.
    ///
    /// # Errors
    /// What serde refuses, and a number that serde has rounded without a word.
    fn fill(&mut self, json: &str) -> Result<(), Refused> {
        #[cfg(test)]
        super::counts::add(|counts| counts.read += 1);
        let schema = self.target.schema;
        let may_read_again = schema.is_some_and(|schema| schema.may_read_again);
        if may_read_again && depth(json) > MAX_REREAD_DEPTH {
            let message = "is nested too deeply in forms that have members in common";
            return Err(vec![Violation {
                remedy: "write it with fewer levels".into(),
                ..Violation::new("", message)
            }]);
        }
        let observed = Observed::default();
        self.slot
            .fill(json, &observed)
            .map_err(|error| vec![serde_error::violation(json, &error, self.target.rules())])?;
        if observed.rounded.get() {
            return Err(vec![Violation::new(
                "",
                "has a whole number that its type cannot hold exactly",
            )]);
        }
        if observed.overflowed.get() {
            let message = format!(
                "has a number that is too large for its type; must be within ±{:e}",
                f32::MAX
            );
            return Err(vec![Violation::new("", message)]);
        }
        Ok(())
    }
}

/// Whether there is a violation at the same place, within it or around it.
fn is_reported(found: &[Violation], one: &Violation) -> bool {
    found.iter().any(|reported| {
        is_within(&reported.path, &one.path) || is_within(&one.path, &reported.path)
    })
}

/// serde reports a list in place of a struct at the previous value, which is misleading.
fn is_list_for_struct(one: &Violation) -> bool {
    let message = "invalid type: sequence, expected struct";
    one.message.starts_with(message)
}

/// How many brackets are open at most.
fn depth(json: &str) -> usize {
    let mut depth = 0_usize;
    let mut most = 0;
    for (_, opens) in find::brackets(json) {
        depth = if opens {
            depth + 1
        } else {
            depth.saturating_sub(1)
        };
        most = most.max(depth);
    }
    most
}

/// Returns the index of the answer. `None`: nothing was accepted.
fn choose(text: &str, verdicts: &[Verdict<'_>]) -> Result<Option<usize>, Refused> {
    let Some((first, one)) = accepted(verdicts).next() else {
        return Ok(None);
    };
    let broken = verdicts
        .iter()
        .find(|one| matches!(one, Verdict::Broken(..)));
    let other = accepted(verdicts).find(|(_, other)| other.canonical_json != one.canonical_json);
    if broken.is_none() && other.is_none() {
        return Ok(Some(first));
    }
    // A single accepted fence wins over everything before it.
    let mut fences = accepted(verdicts).filter(|(_, taken)| {
        taken.origin.place == Enclosure::Fence && taken.json.starts_with(['{', '['])
    });
    if let (Some((fence, _)), None) = (fences.next(), fences.next()) {
        let behind = verdicts[fence + 1..].iter();
        if behind
            .into_iter()
            .all(|one| matches!(one, Verdict::Refused(_)))
        {
            return Ok(Some(fence));
        }
    }
    match (other, broken) {
        (Some((_, other)), _) => Err(vec![error::two(text, one.origin.begin, other.origin.begin)]),
        (None, Some(Verdict::Broken(begin, fault))) => {
            Err(vec![error::broken(text, *begin, fault)])
        }
        (None, _) => Ok(Some(first)),
    }
}

fn accepted<'v, 't>(
    verdicts: &'v [Verdict<'t>],
) -> impl Iterator<Item = (usize, &'v Accepted<'t>)> {
    let with_index = verdicts.iter().enumerate();
    with_index.filter_map(|(index, verdict)| match verdict {
        Verdict::Accepted(accepted) => Some((index, &**accepted)),
        _ => None,
    })
}

/// Unchanged text is not serialized again.
fn text_for_serde<'t>(coerced: &Coerced<'_>, plain: Option<&'t str>) -> Cow<'t, str> {
    match plain {
        Some(plain) if !coerced.changed => Cow::Borrowed(plain),
        _ => Cow::Owned(coerced.json.to_string()),
    }
}

fn is_within(inner: &str, outer: &str) -> bool {
    let rest = inner.strip_prefix(outer);
    rest.is_some_and(|rest| outer.is_empty() || rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Such a member explains why there is no value, so it does not wrap one.
fn is_error(name: &str) -> bool {
    ["error", "errors", "refusal"]
        .iter()
        .any(|one| name.eq_ignore_ascii_case(one))
}

/// The value in `{"value": ..}`; `false`: there is no such object around it.
fn unwrapped<'t>(mut members: Vec<(Cow<'t, str>, Json<'t>)>) -> (Json<'t>, bool) {
    if let [(name, _)] = &members[..]
        && name == WRAPPER
        && let Some((_, value)) = members.pop()
    {
        return (value, true);
    }
    (Json::Object(members), false)
}

impl Origin {
    /// Where it was found and what was repaired, as the reading shows it.
    pub(super) fn notes_for(&self, text: &str) -> Vec<Repair> {
        let enclosure = match self.place {
            Enclosure::WholeText => None,
            Enclosure::Fence => Some(Flag::Fenced),
            Enclosure::Tag | Enclosure::Prose => Some(Flag::InProse),
        };
        let mut notes = Vec::new();
        notes.extend(enclosure.map(|flag| Repair {
            flag,
            place: error::line_and_column(text, self.begin),
            times: 1,
        }));
        notes.extend(self.repairs.iter().map(|repaired| Repair {
            flag: Flag::Repaired(Cow::Borrowed(repaired.kind)),
            place: error::line_and_column(text, repaired.at),
            times: repaired.times,
        }));
        notes
    }
}
