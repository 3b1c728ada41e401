//! Externally tagged enums, serde's default: a variant without content is its name,
//! one with content is an object whose only member has that name.
//!
//! Models mix the two up more than anything else, so such enums get messages of
//! their own, which show what to write.

use super::describe::{describe, excerpt, join_some};
use super::fault::name_as_object;
use super::{Fault, Location, Rule, Rules};
use crate::json::{Json, Members};

/// The variants of such an enum.
pub(super) struct Variants<'s> {
    /// The names of those without content.
    bare: Vec<&'s str>,
    full: Vec<FullVariant<'s>>,
}

/// A variant with content.
#[derive(Clone, Copy)]
struct FullVariant<'s> {
    name: &'s str,
    /// The rule of its content.
    content: usize,
}

impl<'s> Variants<'s> {
    /// `None` unless it is an enum with content in some variant. A `null` among the
    /// forms is not a variant.
    pub(super) fn from_forms(forms: &[&'s Rule]) -> Option<Variants<'s>> {
        let mut all = Variants {
            bare: Vec::new(),
            full: Vec::new(),
        };
        for rule in forms {
            if let Some(variant) = with_content(rule) {
                all.full.push(variant);
                continue;
            }
            let names: Option<Vec<&str>> = rule.values().iter().map(Json::as_text).collect();
            match names {
                Some(names) if !names.is_empty() => all.bare.extend(names),
                _ if rule.kinds().eq(["null"]) => {}
                _ => return None,
            }
        }
        (!all.full.is_empty()).then_some(all)
    }

    /// What is wrong with a value that is of none. `None`: it is one with content,
    /// and the content is wrong.
    pub(super) fn fault(
        &self,
        rules: &Rules,
        value: &Json<'_>,
        place: &Location<'_>,
    ) -> Option<Fault> {
        let message = match value {
            Json::String(name) => {
                let Some(variant) = self.full.iter().find(|full| full.name == name) else {
                    let what = format!("is {}", describe(value));
                    return Some(self.unknown(what, name, place));
                };
                let sketch = sketch(rules, variant.content);
                format!("is {name:?}, which needs its content; write {{{name:?}: {sketch}}}")
            }
            Json::Object(members) => return self.object(members, place),
            value => format!("is {}; write one of {}", describe(value), self.all()),
        };
        Some(Fault::at(place, message))
    }

    /// Of an object: none of its members is a variant's name, or several are.
    fn object(&self, members: &Members<'_>, place: &Location<'_>) -> Option<Fault> {
        let mut variants = Vec::new();
        for (name, _) in members {
            if self.full.iter().any(|full| full.name == name) {
                variants.push(format!("`{name}`"));
            }
        }
        if variants.len() > 1 {
            let names = join_some(variants.into_iter(), " and ");
            let message = format!("has {names}; only one of them is allowed");
            return Some(Fault::at(place, message));
        }
        if variants.len() == 1 {
            return None;
        }
        let [(name, _)] = members else {
            let message = format!(
                "is an object with none of the allowed names; write one of {}",
                self.all()
            );
            return Some(Fault::at(place, message));
        };
        if self.bare.contains(&&**name) {
            return Some(name_as_object(name, place));
        }
        let what = format!("has the member `{}`", excerpt(name));
        Some(self.unknown(what, name, place))
    }

    /// A name that is no variant's. The misspelt one is looked for among the first
    /// hundred: an enum may be of a state's values.
    fn unknown(&self, what: String, name: &str, place: &Location<'_>) -> Fault {
        let bare = self.bare.iter().copied();
        let full = self.full.iter().map(|full| full.name);
        let names = bare.chain(full).take(100);
        let hint = match crate::text::misspelling_of(&excerpt(name), names) {
            Some(nearest) => format!(" (did you mean {nearest:?}?)"),
            None => String::new(),
        };
        Fault::at(place, format!("{what}{hint}; write one of {}", self.all()))
    }

    /// The variants, as they are written.
    pub(super) fn all(&self) -> String {
        let bare = self.bare.iter().map(|name| format!("{name:?}"));
        let full = self
            .full
            .iter()
            .map(|full| format!("{{{:?}: ..}}", full.name));
        join_some(bare.chain(full), ", ")
    }
}

/// An object that has one member, and needs it, is a variant with content.
fn with_content(rule: &Rule) -> Option<FullVariant<'_>> {
    let mut names = rule.names();
    let name = names.next()?;
    let is_only = names.next().is_none() && rule.is_closed;
    let is_required = rule.required.iter().any(|required| required == name);
    if !is_only || !is_required {
        return None;
    }
    Some(FullVariant {
        name,
        content: rule.named(name)?.rule,
    })
}

/// The content in outline: a model fills in more than it would invent.
fn sketch(rules: &Rules, content: usize) -> String {
    let leaves = rules.leaves(rules.at(content));
    let [rule] = leaves.as_slice() else {
        return "..".to_owned();
    };
    match rule.types() {
        [kind] if kind == "object" => {
            let names = rule.required.iter().map(|name| format!("{name:?}: .."));
            format!("{{{}}}", join_some(names, ", "))
        }
        [kind] if kind == "array" => "[..]".to_owned(),
        _ => "..".to_owned(),
    }
}
