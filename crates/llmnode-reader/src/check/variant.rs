//! Externally tagged enums, serde's default: a variant without content is its name, one with content is an object whose only
//! member has that name.

use super::describe::{describe, excerpt, join_some};
use super::fault::name_as_object;
use super::{Fault, Location, Rule, Rules};
use crate::json::{Json, Members};

pub(super) struct Variants<'s> {
    bare: Vec<&'s str>,
    full: Vec<(&'s str, usize)>,
}

impl<'s> Variants<'s> {
    /// `None` unless it is an enum with content in some variant. A `null` among the forms is not a variant.
    pub(super) fn of(forms: &[&'s Rule]) -> Option<Variants<'s>> {
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
        Some(all).filter(|all| !all.full.is_empty())
    }

    pub(super) fn fault(
        &self,
        rules: &Rules,
        value: &Json<'_>,
        place: &Location<'_>,
    ) -> Option<Fault> {
        let message = match value {
            Json::String(name) => match self.full.iter().find(|(full, _)| full == name) {
                Some((name, content)) => {
                    let sketch = sketch(rules, *content);
                    format!("is {name:?}, which needs its content; write {{{name:?}: {sketch}}}")
                }
                None => return Some(self.unknown(format!("is {}", describe(value)), name, place)),
            },
            Json::Object(members) => return self.object(members, place),
            value => format!("is {}; write one of {}", describe(value), self.all()),
        };
        Some(Fault::at(place, message))
    }

    fn object(&self, members: &Members<'_>, place: &Location<'_>) -> Option<Fault> {
        let is_full = |name: &str| self.full.iter().any(|(full, _)| *full == name);
        let given: Vec<String> = members
            .iter()
            .filter(|(name, _)| is_full(name))
            .map(|(name, _)| format!("`{name}`"))
            .collect();
        match (given.as_slice(), members) {
            ([], [(name, _)]) if self.bare.contains(&&**name) => Some(name_as_object(name, place)),
            ([], [(name, _)]) => {
                Some(self.unknown(format!("has the member `{}`", excerpt(name)), name, place))
            }
            ([], _) => Some(Fault::at(
                place,
                format!(
                    "is an object with none of the allowed names; write one of {}",
                    self.all()
                ),
            )),
            ([_], _) => None,
            (several_given, _) => {
                let given = join_some(several_given.iter().cloned(), " and ");
                let message = format!("has {given}; only one of them is allowed");
                Some(Fault::at(place, message))
            }
        }
    }

    fn unknown(&self, what: String, name: &str, place: &Location<'_>) -> Fault {
        let names = self
            .bare
            .iter()
            .copied()
            .chain(self.full.iter().map(|(name, _)| *name));
        let meant = crate::text::misspelling_of(&excerpt(name), names.take(100));
        let hint = meant
            .map(|meant| format!(" (did you mean {meant:?}?)"))
            .unwrap_or_default();
        Fault::at(place, format!("{what}{hint}; write one of {}", self.all()))
    }

    pub(super) fn all(&self) -> String {
        let bare = self.bare.iter().map(|name| format!("{name:?}"));
        join_some(
            bare.chain(
                self.full
                    .iter()
                    .map(|(name, _)| format!("{{{name:?}: ..}}")),
            ),
            ", ",
        )
    }
}

fn with_content(rule: &Rule) -> Option<(&str, usize)> {
    let mut names = rule.names();
    let name = names
        .next()
        .filter(|_| names.next().is_none() && rule.is_closed)?;
    rule.required
        .iter()
        .any(|required| required == name)
        .then_some((name, rule.named(name)?.rule))
}

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
