//! A compiled schema: keywords are looked up and references resolved once, not per value.

use std::collections::BTreeMap;

use super::text_format::TextFormat;
use crate::json::{Json, Members};

#[derive(Debug)]
pub(crate) struct Rules {
    pub(super) all: Vec<Rule>,
    pub(super) own: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Rule {
    /// For the schemas `true` and `false`.
    pub(super) boolean: Option<bool>,
    pub(super) is_constraining: bool,
    pub(super) types: Option<Vec<String>>,
    pub(crate) lists: bool,
    pub(super) only: Option<Json<'static>>,
    pub(super) choices: Option<Vec<Json<'static>>>,
    pub(crate) ref_target: Option<usize>,
    pub(super) all_of: Vec<usize>,
    pub(crate) any_of: Vec<usize>,
    pub(crate) one_of: Vec<usize>,
    pub(super) not: Option<usize>,
    pub(super) bounds: Vec<(String, String)>,
    pub(super) format: Option<TextFormat>,
    /// What its texts are, if the format says it.
    pub(super) format_in_words: Option<&'static str>,
    /// The same of a pattern.
    pub(super) pattern_in_words: Option<&'static str>,
    pub(super) has_properties: bool,
    pub(super) named: Vec<Property>,
    pub(super) property_index: BTreeMap<String, usize>,
    pub(crate) required: Vec<String>,
    /// As maps have. The flag: whether names may be negative.
    pub(super) numeric_keys: Vec<(bool, usize)>,
    pub(crate) additional: Option<usize>,
    /// Only if no member can match a pattern, since patterns are not matched here.
    pub(super) is_closed: bool,
    pub(crate) prefix: Vec<usize>,
    pub(crate) items: Option<usize>,
    pub(super) is_set: bool,
}

#[derive(Debug)]
pub(crate) struct Property {
    pub(super) name: String,
    pub(crate) rule: usize,
    pub(super) is_required: bool,
}

impl Rules {
    pub(crate) fn own(&self) -> &Rule {
        self.at(self.own)
    }

    pub(crate) fn root_rule(&self) -> &Rule {
        self.at(0)
    }

    pub(crate) fn at(&self, number: usize) -> &Rule {
        &self.all[number]
    }

    /// Through references and nested unions. Other schemas are their own only leaf.
    pub(crate) fn leaves<'s>(&'s self, schema: &'s Rule) -> Vec<&'s Rule> {
        let mut leaves = Vec::new();
        let mut open = vec![schema];
        let mut seen = Vec::new();
        while let Some(rule) = open.pop() {
            if let Some(to) = rule.ref_target {
                if !seen.contains(&to) {
                    seen.push(to);
                    open.push(self.at(to));
                }
            } else if rule.any_of.is_empty() && rule.one_of.is_empty() {
                leaves.extend((rule.boolean.is_none()).then_some(rule));
            } else {
                // Reversed, since the last one is popped first.
                open.extend(
                    rule.any_of
                        .iter()
                        .chain(&rule.one_of)
                        .rev()
                        .map(|form| self.at(*form)),
                );
            }
        }
        leaves
    }

    /// All that a value of this schema may be of: itself, and what it refers to or combines.
    pub(crate) fn forms<'s>(&'s self, schema: &'s Rule) -> Vec<&'s Rule> {
        let mut found: Vec<&Rule> = Vec::new();
        let mut open = vec![schema];
        while let Some(rule) = open.pop() {
            if found.iter().any(|known| std::ptr::eq(*known, rule)) {
                continue;
            }
            found.push(rule);
            let combined = [&rule.all_of, &rule.any_of, &rule.one_of]
                .into_iter()
                .flatten();
            open.extend(
                combined
                    .chain(&rule.ref_target)
                    .map(|number| self.at(*number)),
            );
        }
        found
    }

    pub(crate) fn tag(&self, rule: &Rule, name: &str) -> Option<&Json<'static>> {
        match self.at(rule.named(name)?.rule).values() {
            [only] => Some(only),
            _ => None,
        }
    }

    pub(crate) fn has_another_tag(&self, rule: &Rule, members: &Members<'_>) -> bool {
        members
            .iter()
            .any(|(name, value)| self.tag(rule, name).is_some_and(|tag| tag != value))
    }

    pub(crate) fn absent_as_null(&self) -> Vec<String> {
        let mut names = BTreeMap::new();
        for named in self.all.iter().flat_map(|rule| &rule.named) {
            let leaves = self.leaves(self.at(named.rule));
            let is_absent = !named.is_required
                && !leaves.is_empty()
                && !leaves.iter().any(|rule: &&Rule| {
                    let lists_it = rule.values().is_empty() || rule.values().contains(&Json::Null);
                    rule.is_type(|name| name == "null") && lists_it
                        || !rule.all_of.is_empty()
                        || rule.not.is_some()
                });
            *names.entry(&named.name).or_insert(true) &= is_absent;
        }
        names
            .into_iter()
            .filter(|(_, always)| *always)
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// Untagged enums that contain themselves in several variants: serde reads shared content again for each, at every
    /// level.
    pub(crate) fn may_read_again(&self) -> bool {
        let contains_itself = |union: &Rule| {
            let leads_back = |form: &usize| self.reaches(*form, union);
            union
                .any_of
                .iter()
                .filter(|form| leads_back(form))
                .nth(1)
                .is_some()
        };
        self.all.iter().any(contains_itself)
    }

    fn reaches(&self, from: usize, to: &Rule) -> bool {
        let mut open = vec![from];
        let mut seen = vec![false; self.all.len()];
        while let Some(number) = open.pop() {
            if std::ptr::eq(self.at(number), to) {
                return true;
            }
            if !std::mem::replace(&mut seen[number], true) {
                open.extend(self.at(number).inner());
            }
        }
        false
    }
}

impl Rule {
    pub(crate) fn types(&self) -> &[String] {
        self.types.as_deref().unwrap_or_default()
    }

    pub(crate) fn has_type(&self, name: &str) -> bool {
        self.types().iter().any(|one| one == name)
    }

    pub(crate) fn is_type(&self, is_one: impl Fn(&str) -> bool) -> bool {
        self.types
            .as_ref()
            .is_none_or(|types| types.iter().any(|name| is_one(name)))
    }

    pub(crate) fn values(&self) -> &[Json<'static>] {
        self.only.as_ref().map_or(
            self.choices.as_deref().unwrap_or_default(),
            std::slice::from_ref,
        )
    }

    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> + Clone {
        self.values().iter().filter_map(Json::as_text)
    }

    pub(crate) fn kinds(&self) -> impl Iterator<Item = &str> {
        let listed = self
            .values()
            .iter()
            .filter(|_| self.types().is_empty())
            .map(|value| value.kind());
        self.types().iter().map(String::as_str).chain(listed)
    }

    pub(crate) fn text_in_words(&self) -> Option<&'static str> {
        self.format_in_words.or(self.pattern_in_words)
    }

    pub(super) fn bound(&self, keyword: &str) -> Option<&str> {
        self.bounds
            .iter()
            .find(|(known, _)| known == keyword)
            .map(|(_, bound)| bound.as_str())
    }

    pub(super) fn count(&self, keyword: &str) -> Option<u64> {
        self.bound(keyword)?.parse().ok()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.named.iter().map(|named| named.name.as_str())
    }

    pub(crate) fn has_property(&self, name: &str) -> bool {
        self.named(name).is_some()
    }

    pub(crate) fn named(&self, name: &str) -> Option<&Property> {
        Some(&self.named[*self.property_index.get(name)?])
    }

    pub(crate) fn member(&self, name: &str) -> Option<usize> {
        self.named(name)
            .map(|named| named.rule)
            .or_else(|| {
                self.numeric_keys
                    .iter()
                    .find(|(signed, _)| is_number(*signed, name))
                    .map(|(_, rule)| *rule)
            })
            .or(self.additional)
    }

    pub(crate) fn item(&self, index: usize) -> Option<usize> {
        self.prefix.get(index).copied().or(self.items)
    }

    fn inner(&self) -> impl Iterator<Item = usize> {
        let lists = [&self.all_of, &self.any_of, &self.one_of, &self.prefix]
            .into_iter()
            .flatten()
            .copied();
        let single = [self.ref_target, self.not, self.additional, self.items]
            .into_iter()
            .flatten();
        let members = self.named.iter().map(|named| named.rule);
        lists
            .chain(single)
            .chain(members)
            .chain(self.numeric_keys.iter().map(|(_, rule)| *rule))
    }
}

fn is_number(signed: bool, name: &str) -> bool {
    let digits = if signed {
        name.strip_prefix('-').unwrap_or(name)
    } else {
        name
    };
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
