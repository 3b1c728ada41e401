//! Coerces JSON of another kind to what its type takes, where nothing is lost and
//! nothing guessed. Each change is noted.
//!
//! A value that was parsed comes in, with the rules of its type; the value that
//! serde is to read goes out. It runs between parsing and serde, as serde accepts
//! only what fits exactly. From the outside in, at each place:
//!
//! 1. A union is narrowed to the forms that the value could be (`union.rs`). If
//!    several take it after different changes, none is chosen: to guess which one
//!    is meant would be a wrong answer that nobody sees.
//! 2. A value of another kind is changed if the other kind can hold exactly this
//!    value: `"7"` for a number, one item for a list of it, a name of a choice in
//!    other letters (`scalar.rs`, `coerce_enum`).
//! 3. Members get the names of the type, where case and separators alone differ,
//!    and only if one name is meant by one member.
//!
//! A change is tried and taken back if the result does not fit (`Checker::fits`): a
//! place that cannot be mended stays as it was, so that the violation quotes what
//! the model wrote.
//!
//! No string is ever taken for a list of one: it may hold all of the items.

mod kind;
mod scalar;
mod union;

use std::borrow::Cow;
use std::collections::HashSet;

use super::check::{CheckMode, Checker, Location, Rule, Rules};
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

/// What may be changed.
#[derive(Clone, Copy, Debug)]
pub(super) struct CoerceOptions {
    /// If not set, only `null`s of absent members are removed, which serde would refuse.
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
    let check = Checker::new(rules, mode, json.value_count());
    let mut coerce = Coercer::new(check, options);
    let mut json = json;
    coerce.value(rules.answer_rule(), &mut json, &Location::ROOT, 0);
    Coerced {
        json,
        notes: coerce.notes,
        changed: coerce.changed,
    }
}

/// Text without JSON may name a value that the schema knows: `Red`, `True`, `7`.
///
/// A string that the type takes as any text is no answer here: then every refusal
/// in words would be one.
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
    let check = Checker::new(rules, CheckMode::Type, json.value_count());
    let mut coerce = Coercer {
        bare: true,
        ..Coercer::new(check, options)
    };
    let rule = rules.answer_rule();
    coerce.value(rule, &mut json, &Location::ROOT, 0);
    let is_named = match &json {
        Json::String(text) => coerce.is_listed(rule, text),
        _ => false,
    };
    if !coerce.changed && !is_named {
        return None;
    }
    if !coerce.check.fits(rule, &json) {
        return None;
    }
    // That words were taken for a value is worth a note even where they are its name.
    if coerce.notes.is_empty() {
        coerce.note(kind::CHOICE, &Location::ROOT);
    }
    Some(Coerced {
        json,
        notes: coerce.notes,
        changed: true,
    })
}

/// What is left without marks of Markdown, quotation marks and the end of a sentence around it.
fn without_markup(words: &str) -> &str {
    let line = words.trim_start_matches(is_markup);
    // `#` and `>` start a Markdown line only before a space: `#1` is a value.
    let behind = line.trim_start_matches(['#', '>']);
    let begin = if behind.starts_with(char::is_whitespace) {
        behind.trim_start_matches(is_markup)
    } else {
        line
    };
    begin.trim_end_matches(is_markup_or_end)
}

fn is_markup(c: char) -> bool {
    c.is_whitespace() || "*_`\"'“‘".contains(c)
}

/// Also what ends a sentence. A closing bracket may be one of the sentence.
fn is_markup_or_end(c: char) -> bool {
    c.is_whitespace() || "*_`\"'.!”’),;:".contains(c)
}

/// One coercion, with what it has changed so far. What is tried and taken back
/// restores `notes` and `changed`.
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

    /// Notes a change. Changes of one kind are one note, at the first of their places.
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

    /// Coerces one value. It stops, and leaves the rest as it is, where the budget
    /// of the checker is spent.
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
            Json::Array(items) => self.items(rule, items, place, depth),
            _ => {}
        }
    }

    /// Items that the rule says nothing of stay as they are.
    fn items(&mut self, rule: &'s Rule, items: &mut [Json<'_>], place: &Location<'_>, depth: u32) {
        for (index, item) in items.iter_mut().enumerate() {
            let Some(number) = rule.item(index) else {
                continue;
            };
            let item_rule = self.check.rules.at(number);
            self.value(item_rule, item, &place.item(index), depth + 1);
        }
    }

    /// Changes a value of another kind than the rule's: a scalar, or one item for a
    /// list of it, or such a list for its item.
    fn kind(&mut self, rule: &'s Rule, json: &mut Json<'_>, place: &Location<'_>, depth: u32) {
        if let Some((changed, kind)) = scalar::changed(rule, json) {
            *json = changed;
            return self.note(kind, place);
        }
        if !self.may_change_list(place) || self.bare || self.keeps_lists {
            return;
        }
        // `null` is no list of nothing: the type may mean its absence.
        if rule.has_type("array") && !matches!(json, Json::Null) {
            if rule.prefix.is_empty()
                && let Some(items) = rule.items
            {
                self.wrap_in_list(self.check.rules.at(items), json, place, depth);
            }
            return;
        }
        self.unwrap_list(rule, json, place, depth);
    }

    /// Takes the only item out of a list, if it fits in place of the list.
    fn unwrap_list(
        &mut self,
        rule: &'s Rule,
        json: &mut Json<'_>,
        place: &Location<'_>,
        depth: u32,
    ) {
        let Json::Array(items) = json else {
            return;
        };
        if items.len() != 1 {
            return;
        }
        let Some(mut only) = items.pop() else {
            return;
        };
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

    /// Of a member, its schema says that it is a list. Of an item nobody knows in
    /// which of the lists it was meant to be.
    fn may_change_list(&self, place: &Location<'_>) -> bool {
        place.is_member() || (self.options.lists && !place.is_inner())
    }

    /// Makes a list of one item. Not of a string, which may hold all of the items,
    /// unless it is one of listed values.
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
        let may_be_item = match &item {
            Json::String(text) => self.is_listed(items, text),
            Json::Null => false,
            _ => true,
        };
        if may_be_item && self.check.fits(items, &item) {
            *json = Json::Array(vec![item]);
            return self.note(kind::LIST, place);
        }
        self.notes.truncate(notes);
        self.changed = changed;
    }

    /// Whether the type lists this text among its values.
    fn is_listed(&self, rule: &Rule, text: &str) -> bool {
        for leaf in self.check.rules.leaves(rule) {
            if leaf.texts().any(|listed| listed == text) {
                return true;
            }
        }
        false
    }

    /// Gives a choice the name that the type has for it, in its letters. A list of
    /// one choice becomes it.
    fn coerce_enum(&mut self, rule: &Rule, json: &mut Json<'_>, place: &Location<'_>) {
        if rule.values().iter().any(|listed| listed == json) {
            return;
        }
        let (text, kind) = match json {
            Json::String(text) => (text.clone(), kind::CHOICE),
            Json::Array(items) if self.may_change_list(place) => match &items[..] {
                [Json::String(text)] => (text.clone(), kind::SINGLE),
                _ => return,
            },
            _ => return,
        };
        // Names may differ in case alone. Then only the exact one is meant.
        let exact = rule.texts().find(|name| *name == text);
        let name = match exact {
            Some(name) => Some(name),
            None => only(rule.texts().filter(|name| same_letters(name, &text))),
        };
        if let Some(name) = name {
            *json = Json::String(Cow::Owned(name.to_owned()));
            self.note(kind, place);
        }
    }

    /// Names come first, since the other changes look members up by them.
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
        members.retain(|(name, value)| !self.is_absent(rule, name, value));
        self.changed |= members.len() < before;
        for (name, value) in members.iter_mut() {
            let Some(number) = rule.member(name) else {
                continue;
            };
            let member_rule = self.check.rules.at(number);
            self.value(member_rule, value, &place.member(name), depth + 1);
        }
    }

    /// Whether this is a `null` for a member that may be left out and that takes no `null`.
    fn is_absent(&self, rule: &'s Rule, name: &str, value: &Json<'_>) -> bool {
        if !self.check.is_null_for_absent(rule, name, value) {
            return false;
        }
        match rule.named(name) {
            Some(property) => {
                let member_rule = self.check.rules.at(property.rule);
                !self.check.fits(member_rule, value)
            }
            None => true,
        }
    }

    /// Gives members the names of the type. Ignores case and separators: `firstName`, `First Name`.
    ///
    /// A name of the type that is there already is never given to another member,
    /// and of two members or two names with the same letters neither is chosen.
    fn rename(
        &mut self,
        rule: &Rule,
        members: &mut [(Cow<'_, str>, Json<'_>)],
        place: &Location<'_>,
    ) {
        let mut unknown = Vec::new();
        for (index, (name, _)) in members.iter().enumerate() {
            if rule.member(name).is_none() {
                unknown.push(index);
            }
        }
        if unknown.is_empty() {
            return;
        }
        let mut present: HashSet<Cow<'_, str>> = HashSet::new();
        for (name, _) in members.iter() {
            if rule.has_property(name) {
                present.insert(name.clone());
            }
        }
        for name in rule.names().filter(|name| !present.contains(*name)) {
            let mut same = unknown
                .iter()
                .filter(|index| same_letters(&members[**index].0, name));
            let Some(&index) = same.next() else {
                continue;
            };
            let has_rival = same.next().is_some();
            let is_ambiguous = rule
                .names()
                .any(|other| other != name && same_letters(other, name));
            if has_rival || is_ambiguous {
                continue;
            }
            members[index].0 = Cow::Owned(name.to_owned());
            unknown.retain(|other| *other != index);
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
    for name in &rule.required {
        let is_there = members
            .iter()
            .any(|(member, _)| member == name || same_letters(member, name));
        if !is_there {
            return false;
        }
    }
    true
}
