//! Coerces JSON of another kind to what its type takes, where nothing is lost and nothing guessed. Each change is noted.
//!
//! A value that was parsed comes in, with the rules of its type; the value that serde is to read goes out. It runs between parsing
//! and serde, as serde accepts only what fits exactly. From the outside in, at each place:
//!
//! 1. A union is narrowed to the forms that the value could be (`union.rs`). If several take it after different changes, none is
//!    chosen: to guess which one is meant would be a wrong answer that nobody sees.
//! 2. A value of another kind is changed if the other kind can hold exactly this value: `"7"` for a number, one item for a list of it,
//!    a name of a choice in other letters (`scalar.rs`, `coerce_enum`).
//! 3. Members get the names of the type, where case and separators alone differ, and only if one name is meant by one member.
//!
//! A change is tried and taken back if the result does not fit (`Checker::fits`): a place that cannot be mended stays as it was, so
//! that the violation quotes what the model wrote.
//!
//! No string is ever taken for a list of one: it may hold all of the items.

mod kind;
mod scalar;
mod union;

use std::borrow::Cow;
use std::collections::HashSet;

use super::check::{CheckMode, Checker, Location, Property, Rule, Rules};
use super::json::Json;
use crate::flag::{Flag, Repair};
use crate::text::same_letters;

/// A value as its type takes it, as far as that is possible.
pub(super) struct Coerced<'j> {
    pub(super) json: Json<'j>,
    pub(super) notes: Vec<Repair>,
    /// Also for a removed `null` of an absent member, which is not noted.
    pub(super) changed: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct CoerceOptions {
    /// If not set, only such `null`s are removed.
    pub(super) changes: bool,
    /// Whether the whole value may become a list of one item, or the item of such a list.
    pub(super) lists: bool,
}

/// Coerces a value that was found in a text.
pub(super) fn coerce<'j>(
    rules: &Rules,
    mode: CheckMode,
    json: Json<'j>,
    options: CoerceOptions,
) -> Coerced<'j> {
    #[cfg(test)]
    super::counts::add(|counts| counts.coerced += 1);
    let mut coerce = Coercer::new(Checker::new(rules, mode, json.value_count()), options);
    let mut json = json;
    coerce.value(rules.own(), &mut json, &Location::ROOT, 0);
    Coerced {
        json,
        notes: coerce.notes,
        changed: coerce.changed,
    }
}

/// Text without JSON may name a value that the schema knows: `Red`, `True`, `7`.
pub(super) fn coerce_text<'j>(rules: &Rules, words: &'j str) -> Option<Coerced<'j>> {
    let words = without_markup(words);
    if !words.contains(char::is_alphanumeric) {
        return None;
    }
    let mut json = Json::String(Cow::Borrowed(words));
    let options = CoerceOptions {
        changes: true,
        lists: false,
    };
    let mut coerce = Coercer {
        bare: true,
        ..Coercer::new(
            Checker::new(rules, CheckMode::Type, json.value_count()),
            options,
        )
    };
    coerce.value(rules.own(), &mut json, &Location::ROOT, 0);
    let taken = coerce.changed
        || matches!(&json, Json::String(text) if coerce.is_listed(rules.own(), text));
    let fits = taken && coerce.check.fits(rules.own(), &json);
    if coerce.notes.is_empty() {
        coerce.note(kind::CHOICE, &Location::ROOT);
    }
    fits.then_some(Coerced {
        json,
        notes: coerce.notes,
        changed: true,
    })
}

/// What is left without marks of Markdown, quotation marks and the end of a sentence around it.
fn without_markup(words: &str) -> &str {
    let is_markup = |c: char| c.is_whitespace() || "*_`\"'“‘".contains(c);
    let line = words.trim_start_matches(is_markup);
    // `#` and `>` start a Markdown line only before a space: `#1` is a value.
    let behind = line.trim_start_matches(['#', '>']);
    let begin = if behind.starts_with(char::is_whitespace) {
        behind.trim_start_matches(is_markup)
    } else {
        line
    };
    begin.trim_end_matches(|c: char| c.is_whitespace() || "*_`\"'.!”’),;:".contains(c))
}

struct Coercer<'s> {
    check: Checker<'s>,
    notes: Vec<Repair>,
    changed: bool,
    options: CoerceOptions,
    /// The value is a text without JSON, which becomes no list.
    bare: bool,
    /// Set while a union's forms are tried without adding or removing lists.
    keeps_lists: bool,
}

impl<'s> Coercer<'s> {
    fn new(check: Checker<'s>, options: CoerceOptions) -> Self {
        Coercer {
            check,
            notes: Vec::new(),
            changed: false,
            options,
            bare: false,
            keeps_lists: false,
        }
    }

    fn note(&mut self, kind: &'static str, place: &Location<'_>) {
        self.changed = true;
        let flag = Flag::Fitted(Cow::Borrowed(kind));
        match self.notes.iter_mut().find(|note| note.flag == flag) {
            Some(note) => note.times = note.times.saturating_add(1),
            None => self.notes.push(Repair {
                flag,
                place: place.path(),
                times: 1,
            }),
        }
    }

    /// Coerces one value. It stops, and leaves the rest as it is, where the budget of the checker is spent.
    fn value(&mut self, rule: &'s Rule, json: &mut Json<'_>, place: &Location<'_>, depth: u32) {
        if !self.check.spend(1, depth) {
            return;
        }
        if let Some(to) = rule.ref_target {
            return self.value(self.check.rules.at(to), json, place, depth + 1);
        }
        if rule.any_of.is_empty() && rule.one_of.is_empty() {
            self.node(rule, json, place, depth);
        } else {
            self.union(rule, json, place, depth);
        }
    }

    /// The same for a rule that is no union.
    fn node(&mut self, rule: &'s Rule, json: &mut Json<'_>, place: &Location<'_>, depth: u32) {
        if self.options.changes {
            if rule.lists {
                self.coerce_enum(rule, json, place);
            } else if !rule.is_type(|name| self.check.is_type(name, json)) {
                self.kind(rule, json, place, depth);
            }
        }
        match json {
            Json::Object(members) => self.members(rule, members, place, depth),
            Json::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    if let Some(number) = rule.item(index) {
                        self.value(
                            self.check.rules.at(number),
                            item,
                            &place.item(index),
                            depth + 1,
                        );
                    }
                }
            }
            _ => {}
        }
    }

    /// Changes a value of another kind than the rule's.
    fn kind(&mut self, rule: &'s Rule, json: &mut Json<'_>, place: &Location<'_>, depth: u32) {
        if let Some((changed, kind)) = scalar::changed(rule, json) {
            *json = changed;
            return self.note(kind, place);
        }
        if !self.may_change_list(place) || self.bare || self.keeps_lists {
            return;
        }
        if rule.has_type("array") && !matches!(json, Json::Null) {
            if let Some(items) = rule.items.filter(|_| rule.prefix.is_empty()) {
                self.wrap_in_list(self.check.rules.at(items), json, place, depth);
            }
        } else if let Json::Array(items) = json
            && let [_] = items[..]
            && let Some(mut only) = items.pop()
        {
            let notes = self.notes.len();
            let changed = self.changed;
            self.node(rule, &mut only, place, depth + 1);
            if self.check.fits(rule, &only) {
                *json = only;
                return self.note(kind::SINGLE, place);
            }
            self.notes.truncate(notes);
            self.changed = changed;
            items.push(only);
        }
    }

    fn may_change_list(&self, place: &Location<'_>) -> bool {
        place.is_member() || (self.options.lists && !place.is_inner())
    }

    /// Not for strings: one may hold all of the items.
    fn wrap_in_list(
        &mut self,
        items: &'s Rule,
        json: &mut Json<'_>,
        place: &Location<'_>,
        depth: u32,
    ) {
        let mut item = json.clone();
        let notes = self.notes.len();
        let changed = self.changed;
        self.value(items, &mut item, place, depth + 1);
        let is_free = matches!(&item, Json::String(text) if !self.is_listed(items, text));
        if !is_free && !matches!(item, Json::Null) && self.check.fits(items, &item) {
            *json = Json::Array(vec![std::mem::replace(&mut item, Json::Null)]);
            return self.note(kind::LIST, place);
        }
        self.notes.truncate(notes);
        self.changed = changed;
    }

    fn is_listed(&self, rule: &Rule, text: &str) -> bool {
        self.check
            .rules
            .leaves(rule)
            .iter()
            .any(|rule| rule.texts().any(|one| one == text))
    }

    /// Gives a choice the name that the type has for it.
    fn coerce_enum(&mut self, rule: &Rule, json: &mut Json<'_>, place: &Location<'_>) {
        if rule.values().iter().any(|one| one == json) {
            return;
        }
        let text = match json {
            Json::String(text) => text.clone(),
            Json::Array(items) if items.len() == 1 && self.may_change_list(place) => {
                match items.first() {
                    Some(Json::String(text)) => text.clone(),
                    _ => return,
                }
            }
            _ => return,
        };
        let exactly = rule.texts().find(|name| *name == text);
        let name = exactly.or_else(|| only(rule.texts().filter(|name| same_letters(name, &text))));
        if let Some(name) = name {
            let kind = match json {
                Json::Array(_) => kind::SINGLE,
                _ => kind::CHOICE,
            };
            *json = Json::String(Cow::Owned(name.to_owned()));
            self.note(kind, place);
        }
    }

    fn members(
        &mut self,
        rule: &'s Rule,
        members: &mut Vec<(Cow<'_, str>, Json<'_>)>,
        place: &Location<'_>,
        depth: u32,
    ) {
        if self.options.changes {
            self.rename(rule, members, place);
        }
        let before = members.len();
        members.retain(|(name, value)| {
            !self.check.is_null_for_absent(rule, name, value)
                || rule.named(name).is_some_and(|named: &Property| {
                    self.check.fits(self.check.rules.at(named.rule), value)
                })
        });
        self.changed |= members.len() < before;
        for (name, value) in members.iter_mut() {
            if let Some(number) = rule.member(name) {
                self.value(
                    self.check.rules.at(number),
                    value,
                    &place.member(name),
                    depth + 1,
                );
            }
        }
    }

    /// Gives members the names of the type. Ignores case and separators: `firstName`, `First Name`.
    fn rename(
        &mut self,
        rule: &Rule,
        members: &mut [(Cow<'_, str>, Json<'_>)],
        place: &Location<'_>,
    ) {
        let mut unknown: Vec<usize> = (0..members.len())
            .filter(|at| rule.member(&members[*at].0).is_none())
            .collect();
        if unknown.is_empty() {
            return;
        }
        let present: HashSet<Cow<'_, str>> = members
            .iter()
            .filter(|(name, _)| rule.has_property(name))
            .map(|(name, _)| name.clone())
            .collect();
        for name in rule.names().filter(|name| !present.contains(*name)) {
            let mut same = unknown
                .iter()
                .filter(|at| same_letters(&members[**at].0, name));
            let Some(&at) = same.next() else {
                continue;
            };
            let has_rival = same.next().is_some();
            let is_ambiguous = rule
                .names()
                .any(|other| other != name && same_letters(other, name));
            if has_rival || is_ambiguous {
                continue;
            }
            members[at].0 = Cow::Owned(name.to_owned());
            unknown.retain(|one| *one != at);
            self.note(kind::NAME, place);
        }
    }
}

/// The one text that all of them are.
fn only<'a>(mut all: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

/// Whether all required members are there, in whatever letters.
fn has_required(rule: &Rule, members: &[(Cow<'_, str>, Json<'_>)]) -> bool {
    rule.required.iter().all(|name| {
        let mut members = members.iter();
        members.any(|(member, _)| member == name || same_letters(member, name))
    })
}
