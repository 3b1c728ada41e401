//! Chooses the answer among the candidates: each is coerced and read by serde, and
//! the type decides.
//!
//! In this order:
//!
//! 1. Objects on lines of their own become one list or several candidates, as the
//!    type is a list or not.
//! 2. Each candidate is judged: *accepted* (serde has read it into the slot),
//!    *refused* (with all that is wrong with it), or *broken* (no JSON). All of
//!    them are judged, also behind one that was accepted: another one may be
//!    accepted, too.
//! 3. `choose`: one accepted value is the answer; several are if they are the same
//!    value. Two different ones are an error, and so is an accepted one beside a
//!    broken one, unless a fence says which is meant.
//! 4. If none was accepted, the one with the fewest faults is reported: it is
//!    probably the answer, and the model is to mend that one.
//!
//! Serde has the last word in both directions: it may refuse what the schema
//! allows, and accept what the schema does not describe, such as a member by its
//! alias. So a candidate that the rules refuse is read by serde all the same, if
//! its faults allow that.

use std::borrow::Cow;
use std::ops::Range;

use super::check::{CheckMode, Fault, Severity, faults, into_violations};
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

/// All that is wrong with a candidate.
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

/// What came of one candidate.
enum Verdict<'t> {
    Accepted(Box<Accepted<'t>>),
    Refused(Refused),
    /// The byte where it begins, and what is wrong.
    Broken(usize, repair::SyntaxError),
}

/// What one selection needs. The slot is filled by each candidate that serde reads,
/// and at the end holds the chosen one.
pub(super) struct Selector<'p, 't> {
    /// Then nothing is to be compared, and the slot is filled once.
    pub(super) only_candidate: bool,
    pub(super) after_thinking: bool,
    pub(super) text: &'t str,
    pub(super) target: &'p Target<'p>,
    pub(super) slot: &'p mut dyn Slot,
}

impl<'t> Selector<'_, 't> {
    /// Judges all candidates, and chooses one. The slot then holds its value.
    pub(super) fn select(
        mut self,
        candidates: Vec<Candidate<'t>>,
        unclosed_thinking: Option<usize>,
    ) -> Result<Accepted<'t>, Refused> {
        let only_words = candidates
            .iter()
            .all(|candidate| matches!(candidate.content, Content::Text));
        let candidates = self.resolve_lines(candidates);
        self.only_candidate = candidates.len() == 1;
        let mut verdicts = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            let verdict = self.evaluate(candidate);
            verdicts.push(verdict);
        }
        // What was found before thinking that never ends may be a draft.
        if let Some(begin) = unclosed_thinking {
            return Err(vec![error::unclosed_thinking(self.text, begin)]);
        }
        let chosen = choose(self.text, &verdicts)?;
        if let Some(index) = chosen
            && let Verdict::Accepted(taken) = verdicts.swap_remove(index)
        {
            // The slot holds the candidate that was read last, which may not be the chosen one.
            if !self.only_candidate {
                self.fill(&taken.json)?;
            }
            return Ok(*taken);
        }
        if only_words {
            return Err(vec![self.nothing()]);
        }
        Err(self.least_wrong(verdicts))
    }

    fn nothing(&self) -> Violation {
        error::nothing(self.text, self.target.expected_answer())
    }

    /// Objects from lines, fences or numbered items become a list if the type wants
    /// one, else each is a candidate.
    fn resolve_lines(&self, mut candidates: Vec<Candidate<'t>>) -> Vec<Candidate<'t>> {
        let rules = self.target.rules();
        let leaves = rules.leaves(rules.answer_rule());
        let has_list = leaves.iter().any(|rule| rule.has_type("array"));
        let has_object = leaves.iter().any(|rule| rule.has_type("object"));
        let wants_list = has_list && !self.target.exact && self.target.schema.is_some();
        // Where the type also takes an object, one of several fences may be it.
        if wants_list && !has_object {
            candidates = find::join_objects(self.text, candidates);
        }
        let mut all = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            match candidate.content {
                Content::Lines(objects, repairs) if wants_list => {
                    all.push(Candidate {
                        place: candidate.place,
                        content: list_of_lines(objects, repairs, candidate.part.start),
                        part: candidate.part,
                    });
                }
                Content::Lines(objects, repairs) => {
                    for (part, object) in objects {
                        all.push(Candidate {
                            place: Enclosure::Prose,
                            part,
                            content: Content::Json(object, repairs.clone()),
                        });
                    }
                }
                _ => all.push(candidate),
            }
        }
        all
    }

    /// The faults of the candidate with the fewest of them; of several, the last
    /// one. Broken JSON only if there is no other.
    fn least_wrong(&self, verdicts: Vec<Verdict<'t>>) -> Refused {
        let mut broken = None;
        let mut least: Option<Refused> = None;
        for verdict in verdicts {
            match verdict {
                Verdict::Refused(found) => {
                    let is_least = match &least {
                        Some(least) => found.len() <= least.len(),
                        None => true,
                    };
                    if is_least {
                        least = Some(found);
                    }
                }
                Verdict::Broken(begin, fault) if broken.is_none() => broken = Some((begin, fault)),
                Verdict::Broken(..) | Verdict::Accepted(_) => {}
            }
        }
        match (least, broken) {
            (Some(least), _) => least,
            (None, Some((begin, fault))) => vec![error::broken(self.text, begin, &fault)],
            (None, None) => vec![self.nothing()],
        }
    }

    /// Whether the type takes a candidate.
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

    /// Words without JSON. They may name an allowed value of an enum.
    fn bare_text(&mut self, place: Enclosure, part: Range<usize>) -> Result<Accepted<'t>, Refused> {
        let text = self.text;
        let words = &text[part.clone()];
        let coerced = if self.target.exact || self.target.schema.is_none() {
            None
        } else {
            coerce_text(self.target.rules(), words)
        };
        let Some(coerced) = coerced else {
            return Err(vec![self.nothing()]);
        };
        let origin = Origin {
            place,
            begin: part.start,
            repairs: Repairs::default(),
        };
        self.take(origin, coerced, false, None)
    }

    /// Reads a candidate that was parsed.
    ///
    /// In this order: its text as it is, by serde alone; coerced; what is inside
    /// it, coerced; and at last serde once more, as the type may take what its
    /// schema refuses. The first that fits is taken.
    fn json(
        &mut self,
        place: Enclosure,
        part: Range<usize>,
        json: Json<'t>,
        repairs: &Repairs,
    ) -> Result<Accepted<'t>, Refused> {
        let (json, wrapped) = match json {
            Json::Object(members) if self.target.is_wrapped() => unwrapped(members),
            json => (json, false),
        };
        let origin = Origin {
            place,
            begin: part.start,
            repairs: repairs.clone(),
        };
        let plain = self.plain_text(part, repairs, wrapped);
        let mut accepted = Accepted {
            origin,
            json: Cow::Borrowed(""),
            canonical_json: String::new(),
            notes: Vec::new(),
            wrapped,
        };
        if let Some(plain) = plain
            && self.may_try_fast_path(place)
            && self.target.try_fast_path(plain, self.slot)
        {
            accepted.json = Cow::Borrowed(plain);
            return Ok(accepted);
        }
        let inner = self.inner(&json, place, wrapped);
        let mismatch = match self.coerced(place, json, wrapped) {
            Ok(coerced) => return self.take(accepted.origin, coerced, wrapped, plain),
            Err(mismatch) => mismatch,
        };
        if let Some((inner_json, kind)) = inner {
            match self.coerced(place, inner_json, false) {
                Ok(coerced) => {
                    let coerced = with_note_of_inner(coerced, kind);
                    return self.take(accepted.origin, coerced, false, None);
                }
                Err(within) if self.is_value(&within.coerced.json) => {
                    return Err(into_violations(within.found));
                }
                Err(_) => {}
            }
        }
        self.retry_with_serde(mismatch, plain, accepted)
    }

    /// The text of the value, if serde may read it as it is: nothing was repaired.
    fn plain_text(&self, part: Range<usize>, repairs: &Repairs, wrapped: bool) -> Option<&'t str> {
        if !repairs.is_empty() {
            return None;
        }
        let text = self.text;
        let plain = &text[part];
        if wrapped {
            wrapped_value(plain)
        } else {
            Some(plain)
        }
    }

    /// With one candidate, what serde takes is the answer. The whole text alone was
    /// tried before the search.
    fn may_try_fast_path(&self, place: Enclosure) -> bool {
        self.only_candidate && (self.after_thinking || place != Enclosure::WholeText)
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
            Json::Object(members) => {
                let [(name, inner)] = &members[..] else {
                    return None;
                };
                let is_empty = matches!(inner, Json::Object(inner) if inner.is_empty());
                if is_empty || is_error(name) || self.is_known(name) {
                    return None;
                }
                Some((inner.clone(), "wrapper"))
            }
            Json::String(text) if place != Enclosure::Prose => {
                let inner = trimmed(text);
                if !inner.starts_with(['{', '[']) {
                    return None;
                }
                let json = repair::parse_strict(inner)?;
                Some((json.into_owned(), "quoted"))
            }
            _ => None,
        }
    }

    /// Whether it has a member of the type, so that its faults tell more than those
    /// of what is around it.
    fn is_value(&self, json: &Json<'_>) -> bool {
        matches!(json, Json::Object(members) if members.iter().any(|(name, _)| self.is_known(name)))
    }

    /// Whether the type has a member of this name, in whatever letters, or takes any member.
    fn is_known(&self, name: &str) -> bool {
        let rules = self.target.rules();
        for rule in rules.leaves(rules.answer_rule()) {
            let takes_any = rule.additional.is_some();
            if takes_any || rule.names().any(|property| same_letters(property, name)) {
                return true;
            }
        }
        false
    }

    /// Coerces a value, and checks what has come of it by the rules of the type.
    fn coerced(
        &self,
        place: Enclosure,
        json: Json<'t>,
        wrapped: bool,
    ) -> Result<Coerced<'t>, Mismatch<'t>> {
        let rules = self.target.rules();
        let options = CoerceOptions {
            changes: !self.target.exact,
            lists: place != Enclosure::Prose,
        };
        let coerced = coerce(rules, self.target.mode, json, options);
        let mut found = faults(
            rules,
            rules.answer_rule(),
            CheckMode::Type,
            &coerced.json,
            wrapped,
        );
        // Then the extra check has all that the schema says, and these would be said twice.
        if self.target.mode == CheckMode::Schema {
            found.retain(|fault| fault.severity == Severity::Lossy);
        }
        for violation in (self.target.extra_check)(&coerced.json, wrapped) {
            found.push(Fault::from_extra_check(violation));
        }
        if found.is_empty() {
            Ok(coerced)
        } else {
            Err(Mismatch { coerced, found })
        }
    }

    /// The type may accept what its schema refuses, such as a member by its alias.
    ///
    /// Not with a fault that serde knows nothing of: what would be lost, or is out
    /// of bounds. If serde refuses the value as well, what it says is added, where
    /// the rules have said nothing of that place.
    fn retry_with_serde(
        &mut self,
        mismatch: Mismatch<'t>,
        plain: Option<&'t str>,
        mut accepted: Accepted<'t>,
    ) -> Result<Accepted<'t>, Refused> {
        let Mismatch { coerced, found } = mismatch;
        let is_too_deep = found
            .iter()
            .any(|fault| fault.severity == Severity::TooDeep);
        if self.target.mode == CheckMode::Schema || is_too_deep {
            return Err(into_violations(found));
        }
        let json = text_for_serde(&coerced, plain);
        if let Err(from_serde) = self.fill(&json) {
            let mut violations = into_violations(found);
            let mut additional = Vec::new();
            for violation in from_serde {
                if !is_reported(&violations, &violation) && !is_list_for_struct(&violation) {
                    additional.push(violation);
                }
            }
            violations.extend(additional);
            return Err(violations);
        }
        let are_of_serde = found.iter().all(|fault| fault.severity == Severity::Type);
        if !are_of_serde {
            return Err(into_violations(found));
        }
        accepted.notes.extend(coerced.notes);
        accepted.json = json;
        accepted.canonical_json = canonical(coerced.json);
        Ok(accepted)
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
        let may_read_again = match self.target.schema {
            Some(schema) => schema.may_read_again,
            None => false,
        };
        if may_read_again && depth(json) > MAX_REREAD_DEPTH {
            let message = "is nested too deeply in forms that have members in common";
            return Err(vec![Violation {
                remedy: "write it with fewer levels".into(),
                ..Violation::new("", message)
            }]);
        }
        let observed = Observed::default();
        if let Err(error) = self.slot.fill(json, &observed) {
            let violation = serde_error::violation(json, &error, self.target.rules());
            return Err(vec![violation]);
        }
        if observed.rounded.get() {
            let message = "has a whole number that its type cannot hold exactly";
            return Err(vec![Violation::new("", message)]);
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

/// The list that objects on lines of their own are.
fn list_of_lines<'t>(
    objects: Vec<(Range<usize>, Json<'t>)>,
    mut repairs: Repairs,
    begin: usize,
) -> Content<'t> {
    repairs.add(repair::kind::LINES, begin);
    let mut items = Vec::with_capacity(objects.len());
    for (_, object) in objects {
        items.push(object);
    }
    Content::Json(Json::Array(items), repairs)
}

/// Says first that the value was inside another one, which is the larger change.
fn with_note_of_inner<'t>(mut coerced: Coerced<'t>, kind: &'static str) -> Coerced<'t> {
    let note = Repair {
        flag: Flag::Fitted(Cow::Borrowed(kind)),
        place: String::new(),
        times: 1,
    };
    coerced.notes.insert(0, note);
    // Then serde reads the value and not the text around it.
    coerced.changed = true;
    coerced
}

/// Whether there is a violation at the same place, within it or around it.
fn is_reported(violations: &[Violation], violation: &Violation) -> bool {
    violations.iter().any(|reported| {
        is_within(&reported.path, &violation.path) || is_within(&violation.path, &reported.path)
    })
}

/// serde reports a list in place of a struct at the previous value, which is misleading.
fn is_list_for_struct(violation: &Violation) -> bool {
    violation
        .message
        .starts_with("invalid type: sequence, expected struct")
}

/// How many brackets are open at most.
fn depth(json: &str) -> usize {
    let mut depth = 0_usize;
    let mut most = 0;
    for (_, opens) in find::brackets(json) {
        if opens {
            depth += 1;
        } else {
            depth = depth.saturating_sub(1);
        }
        most = most.max(depth);
    }
    most
}

/// Returns the index of the answer. `None`: nothing was accepted.
///
/// Accepted candidates that are read as the same value are one answer. Anything
/// else that could be meant as well is an error.
fn choose(text: &str, verdicts: &[Verdict<'_>]) -> Result<Option<usize>, Refused> {
    let Some((first_index, first)) = accepted(verdicts).next() else {
        return Ok(None);
    };
    let other = accepted(verdicts).find(|(_, other)| other.canonical_json != first.canonical_json);
    let broken = verdicts
        .iter()
        .find(|verdict| matches!(verdict, Verdict::Broken(..)));
    if broken.is_none() && other.is_none() {
        return Ok(Some(first_index));
    }
    if let Some(fence) = last_word(verdicts) {
        return Ok(Some(fence));
    }
    match (other, broken) {
        (Some((_, other)), _) => Err(vec![error::two(
            text,
            first.origin.begin,
            other.origin.begin,
        )]),
        (None, Some(Verdict::Broken(begin, fault))) => {
            Err(vec![error::broken(text, *begin, fault)])
        }
        (None, _) => Ok(Some(first_index)),
    }
}

/// The only accepted fence, if nothing behind it could be meant: it wins over everything before it.
fn last_word(verdicts: &[Verdict<'_>]) -> Option<usize> {
    let mut fence = None;
    for (index, taken) in accepted(verdicts) {
        let is_fence = taken.origin.place == Enclosure::Fence;
        if !is_fence || !taken.json.starts_with(['{', '[']) {
            continue;
        }
        if fence.is_some() {
            return None;
        }
        fence = Some(index);
    }
    let fence = fence?;
    let behind = &verdicts[fence + 1..];
    let is_last = behind
        .iter()
        .all(|verdict| matches!(verdict, Verdict::Refused(_)));
    is_last.then_some(fence)
}

/// The accepted candidates with their indexes.
fn accepted<'v, 't>(
    verdicts: &'v [Verdict<'t>],
) -> impl Iterator<Item = (usize, &'v Accepted<'t>)> {
    verdicts
        .iter()
        .enumerate()
        .filter_map(|(index, verdict)| match verdict {
            Verdict::Accepted(accepted) => Some((index, &**accepted)),
            _ => None,
        })
}

/// The text that serde reads. Unchanged text is not serialized again.
fn text_for_serde<'t>(coerced: &Coerced<'_>, plain: Option<&'t str>) -> Cow<'t, str> {
    match plain {
        Some(plain) if !coerced.changed => Cow::Borrowed(plain),
        _ => Cow::Owned(coerced.json.to_string()),
    }
}

/// Whether the path `inner` leads into the value at `outer`, or to it.
fn is_within(inner: &str, outer: &str) -> bool {
    match inner.strip_prefix(outer) {
        Some(rest) => outer.is_empty() || rest.is_empty() || rest.starts_with(['.', '[']),
        None => false,
    }
}

/// Such a member explains why there is no value, so it does not wrap one.
fn is_error(name: &str) -> bool {
    const NAMES: [&str; 3] = ["error", "errors", "refusal"];
    NAMES.iter().any(|error| name.eq_ignore_ascii_case(error))
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
        if let Some(flag) = enclosure {
            notes.push(Repair {
                flag,
                place: error::line_and_column(text, self.begin),
                times: 1,
            });
        }
        for repaired in self.repairs.iter() {
            notes.push(Repair {
                flag: Flag::Repaired(Cow::Borrowed(repaired.kind)),
                place: error::line_and_column(text, repaired.at),
                times: repaired.times,
            });
        }
        notes
    }
}
