//! A compiled schema: keywords are looked up and references resolved once, not per value.
//!
//! Rules refer to each other by number, so that a schema may contain itself. What
//! follows references here (`leaves`, `forms`, `reaches`) keeps a list of what it
//! has seen, and ends however they go round.

use std::collections::BTreeMap;

use super::text_format::TextFormat;
use crate::json::{Json, Members};

/// The rules of one schema. The first is of all of it; `own` is that of the
/// answer's type, which a wrapper may be around.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(super) all: Vec<Rule>,
    pub(super) answer: usize,
}

/// What one part of a schema says. Numbers are those of other rules.
#[derive(Debug, Default)]
pub(crate) struct Rule {
    /// For the schemas `true` and `false`.
    pub(super) boolean: Option<bool>,
    /// It says more than annotations do, so that some values may not be of it.
    pub(super) is_constraining: bool,
    pub(super) types: Option<Vec<String>>,
    /// It has `const` or `enum`.
    pub(crate) lists: bool,
    /// The value of `const`.
    pub(super) only: Option<Json<'static>>,
    /// The values of `enum`.
    pub(super) choices: Option<Vec<Json<'static>>>,
    /// Where its `$ref` leads.
    pub(crate) ref_target: Option<usize>,
    pub(super) all_of: Vec<usize>,
    pub(crate) any_of: Vec<usize>,
    pub(crate) one_of: Vec<usize>,
    pub(super) not: Option<usize>,
    /// Keywords whose values are numbers, with the digits of those.
    pub(super) bounds: Vec<(String, String)>,
    pub(super) format: Option<TextFormat>,
    /// What its texts are, if the format says it.
    pub(super) format_in_words: Option<&'static str>,
    /// The same of a pattern.
    pub(super) pattern_in_words: Option<&'static str>,
    pub(super) has_properties: bool,
    /// Its properties, in the order of the schema.
    pub(super) named: Vec<Property>,
    /// Where in `named` a name is: types have up to hundreds of properties, and
    /// each member is looked up.
    pub(super) property_index: BTreeMap<String, usize>,
    pub(crate) required: Vec<String>,
    /// As maps have. The flag: whether names may be negative.
    pub(super) numeric_keys: Vec<(bool, usize)>,
    /// What members without a name in the schema are of.
    pub(crate) additional: Option<usize>,
    /// Only if no member can match a pattern, since patterns are not matched here.
    pub(super) is_closed: bool,
    /// What the first items are of, one after the other.
    pub(crate) prefix: Vec<usize>,
    /// What the items behind those are of.
    pub(crate) items: Option<usize>,
    /// No item may be there twice.
    pub(super) is_set: bool,
}

/// A member that the schema names.
#[derive(Debug)]
pub(crate) struct Property {
    pub(super) name: String,
    pub(crate) rule: usize,
    pub(super) is_required: bool,
}

impl Rules {
    /// The rule of the answer's type.
    pub(crate) fn answer_rule(&self) -> &Rule {
        self.at(self.answer)
    }

    /// The rule of all of the schema, with the wrapper where there is one.
    pub(crate) fn root_rule(&self) -> &Rule {
        self.at(0)
    }

    pub(crate) fn at(&self, number: usize) -> &Rule {
        &self.all[number]
    }

    /// The forms that a value may have: through references and nested unions. Other
    /// schemas are their own only leaf.
    pub(crate) fn leaves<'s>(&'s self, schema: &'s Rule) -> Vec<&'s Rule> {
        let mut leaves = Vec::new();
        let mut open = vec![schema];
        let mut seen = Vec::new();
        while let Some(rule) = open.pop() {
            if let Some(number) = rule.ref_target {
                if !seen.contains(&number) {
                    seen.push(number);
                    open.push(self.at(number));
                }
                continue;
            }
            let is_union = !rule.any_of.is_empty() || !rule.one_of.is_empty();
            if is_union {
                // Reversed, since the last one is popped first.
                let forms = rule.any_of.iter().chain(&rule.one_of);
                open.extend(forms.rev().map(|form| self.at(*form)));
            } else if rule.boolean.is_none() {
                leaves.push(rule);
            }
        }
        leaves
    }

    /// All that a value of this schema may be of: itself, and what it refers to or combines.
    pub(crate) fn forms<'s>(&'s self, schema: &'s Rule) -> Vec<&'s Rule> {
        let mut found: Vec<&Rule> = Vec::new();
        let mut open = vec![schema];
        while let Some(rule) = open.pop() {
            if found.iter().any(|other| std::ptr::eq(*other, rule)) {
                continue;
            }
            found.push(rule);
            for numbers in [&rule.all_of, &rule.any_of, &rule.one_of] {
                for number in numbers {
                    open.push(self.at(*number));
                }
            }
            if let Some(number) = rule.ref_target {
                open.push(self.at(number));
            }
        }
        found
    }

    /// The only value that a property may have, which tells the forms of a union apart.
    pub(crate) fn tag(&self, rule: &Rule, name: &str) -> Option<&Json<'static>> {
        let property = rule.named(name)?;
        match self.at(property.rule).values() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Whether a member has another value than the only one that its property may have.
    pub(crate) fn has_another_tag(&self, rule: &Rule, members: &Members<'_>) -> bool {
        for (name, value) in members {
            if let Some(tag) = self.tag(rule, name)
                && tag != value
            {
                return true;
            }
        }
        false
    }

    /// The properties for which a model may write `null` where the member should be
    /// left out, by name. A name that takes `null` anywhere in the schema is not
    /// among them, since the fast path looks at names alone.
    pub(crate) fn absent_as_null(&self) -> Vec<String> {
        let mut names = BTreeMap::new();
        for property in self.all.iter().flat_map(|rule| &rule.named) {
            let is_absent = !property.is_required && self.refuses_null(property.rule);
            *names.entry(&property.name).or_insert(true) &= is_absent;
        }
        let mut always_absent = Vec::new();
        for (name, is_always) in names {
            if is_always {
                always_absent.push(name.clone());
            }
        }
        always_absent
    }

    /// Whether no form of the rule takes `null`. One that combines others may,
    /// whatever it says itself.
    fn refuses_null(&self, number: usize) -> bool {
        let leaves = self.leaves(self.at(number));
        if leaves.is_empty() {
            return false;
        }
        for rule in leaves {
            let values = rule.values();
            let lists_null = values.is_empty() || values.contains(&Json::Null);
            let takes_null = rule.is_type(|name| name == "null") && lists_null;
            if takes_null || !rule.all_of.is_empty() || rule.not.is_some() {
                return false;
            }
        }
        true
    }

    /// Untagged enums that contain themselves in several variants: serde reads
    /// shared content again for each, at every level.
    pub(crate) fn may_read_again(&self) -> bool {
        self.all.iter().any(|rule| self.contains_itself_twice(rule))
    }

    /// With one form that leads back, each level is read once.
    fn contains_itself_twice(&self, union: &Rule) -> bool {
        let mut forms = 0;
        for form in &union.any_of {
            if self.reaches(*form, union) {
                forms += 1;
            }
            if forms == 2 {
                return true;
            }
        }
        false
    }

    /// Whether a value of one rule may have a value of the other in it.
    fn reaches(&self, from: usize, to: &Rule) -> bool {
        let mut open = vec![from];
        let mut seen = vec![false; self.all.len()];
        while let Some(number) = open.pop() {
            let rule = self.at(number);
            if std::ptr::eq(rule, to) {
                return true;
            }
            if !seen[number] {
                seen[number] = true;
                open.extend(rule.inner());
            }
        }
        false
    }
}

impl Rule {
    /// Empty if the schema names none, and then any may be.
    pub(crate) fn types(&self) -> &[String] {
        self.types.as_deref().unwrap_or_default()
    }

    /// Whether the schema names this type.
    pub(crate) fn has_type(&self, name: &str) -> bool {
        self.types().iter().any(|other| other == name)
    }

    /// Whether `is_one` holds for a type that the rule takes, which it does for a
    /// rule that names none.
    pub(crate) fn is_type(&self, is_one: impl Fn(&str) -> bool) -> bool {
        match &self.types {
            Some(types) => types.iter().any(|name| is_one(name)),
            None => true,
        }
    }

    /// The listed values; empty if others are allowed. `const` allows less than an
    /// `enum` beside it.
    pub(crate) fn values(&self) -> &[Json<'static>] {
        match (&self.only, &self.choices) {
            (Some(only), _) => std::slice::from_ref(only),
            (None, Some(choices)) => choices,
            (None, None) => &[],
        }
    }

    /// The listed values that are texts.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> + Clone {
        self.values().iter().filter_map(Json::as_text)
    }

    /// The types of its values, by their names or, if it names none, by the listed values.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = &str> {
        let listed = if self.types().is_empty() {
            self.values()
        } else {
            &[]
        };
        let types = self.types().iter().map(String::as_str);
        types.chain(listed.iter().map(|value| value.kind()))
    }

    /// What its texts are, in words, if their format or pattern has any.
    pub(crate) fn text_in_words(&self) -> Option<&'static str> {
        self.format_in_words.or(self.pattern_in_words)
    }

    /// The digits of a bound.
    pub(super) fn bound(&self, keyword: &str) -> Option<&str> {
        let (_, bound) = self.bounds.iter().find(|(name, _)| name == keyword)?;
        Some(bound)
    }

    /// A bound of a length. A negative one or a fraction bounds nothing.
    pub(super) fn count(&self, keyword: &str) -> Option<u64> {
        self.bound(keyword)?.parse().ok()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.named.iter().map(|named| named.name.as_str())
    }

    pub(crate) fn has_property(&self, name: &str) -> bool {
        self.named(name).is_some()
    }

    /// What the schema says of a member by its name.
    pub(crate) fn named(&self, name: &str) -> Option<&Property> {
        let index = *self.property_index.get(name)?;
        Some(&self.named[index])
    }

    /// What a member of this name is of. `None`: the schema says nothing of it, or forbids it.
    pub(crate) fn member(&self, name: &str) -> Option<usize> {
        if let Some(property) = self.named(name) {
            return Some(property.rule);
        }
        for (signed, rule) in &self.numeric_keys {
            if is_number(*signed, name) {
                return Some(*rule);
            }
        }
        self.additional
    }

    /// What the item at this place is of.
    pub(crate) fn item(&self, index: usize) -> Option<usize> {
        self.prefix.get(index).copied().or(self.items)
    }

    /// The rules of all that may be in a value, and of the value itself in other words.
    fn inner(&self) -> Vec<usize> {
        let mut inner = Vec::new();
        for list in [&self.all_of, &self.any_of, &self.one_of, &self.prefix] {
            inner.extend(list);
        }
        for single in [self.ref_target, self.not, self.additional, self.items] {
            inner.extend(single);
        }
        for property in &self.named {
            inner.push(property.rule);
        }
        for (_, rule) in &self.numeric_keys {
            inner.push(*rule);
        }
        inner
    }
}

/// Whether the name is the digits of an integer. `signed`: it may be negative.
fn is_number(signed: bool, name: &str) -> bool {
    let digits = match name.strip_prefix('-') {
        Some(digits) if signed => digits,
        _ => name,
    };
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
