//! `choices(..)` of a node: values from the state that places of an answer may have.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet, VecDeque};
use std::fmt::{self, Display};
use std::sync::Arc;

use llmnode_model::Category;
use llmnode_reader::ask::{ChoiceList, ChoicesError, close, not_listed, with_choices};
use llmnode_reader::ext::in_json_names;
use llmnode_reader::text::same_letters;
use llmnode_reader::{OutputSchema, Violation};
use serde_json::{Map, Value};

use super::hints::Hinted;
use crate::error::NodeError;

const MOST: usize = 256;

/// The lists of a node. They know no types, so that what is done with them is
/// compiled once; the way to the values of an answer is a function of the node.
#[derive(Default)]
pub struct Choices(Vec<ChoiceList>);

impl Choices {
    /// Adds a list. `path` and `source` are texts of the program.
    pub fn add(
        &mut self,
        path: impl Into<Cow<'static, str>>,
        source: impl Into<Cow<'static, str>>,
        values: BTreeSet<String>,
    ) {
        self.0.push(ChoiceList {
            path: path.into(),
            source: source.into(),
            values,
        });
    }

    pub(in crate::run) fn sent(
        self,
        schema: Option<&Arc<OutputSchema>>,
    ) -> Result<Option<Arc<OutputSchema>>, NodeError> {
        let Some(schema) = schema.filter(|_| !self.0.is_empty()) else {
            return Ok(schema.cloned());
        };
        let fault = |fault| match fault {
            ChoicesError::Path(message) => NodeError::new(Category::ConfigError, message),
            ChoicesError::Values(message) => NodeError::new(Category::PrepError, message),
        };
        let schema = with_choices(schema, self.0).map_err(fault)?;
        Ok(Some(schema))
    }

    /// `walk` visits the values of the answer that belong to the list with this index.
    pub(in crate::run) fn violations(
        &self,
        schema: Option<&OutputSchema>,
        wrapped: bool,
        walk: &mut dyn FnMut(usize, &mut ChosenValues),
    ) -> Vec<Violation> {
        let mut violations = Vec::new();
        for (index, list) in self.0.iter().enumerate() {
            let mut chosen = ChosenValues {
                path: list.path.clone(),
                indexes: Vec::new(),
                values: Vec::new(),
            };
            walk(index, &mut chosen);
            let before = violations.len();
            for (path, value) in chosen.values {
                if violations.len() >= MOST {
                    return violations;
                }
                if list.values.contains(&value) {
                    continue;
                }
                let path = match schema {
                    Some(schema) => in_json_names(path, schema, wrapped),
                    None => path,
                };
                let mut violation = not_listed(path, &value, &list.values);
                // One violation of a list narrows the next schema for all values of it.
                if violations.len() == before {
                    close(&mut violation, list);
                }
                violations.push(violation);
            }
        }
        violations
    }
}

impl fmt::Debug for Choices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.0.iter().map(|one| (&one.path, &one.source)))
            .finish()
    }
}

/// The values of an answer at one path.
#[derive(Debug)]
pub struct ChosenValues {
    path: Cow<'static, str>,
    indexes: Vec<usize>,
    values: Vec<(String, String)>,
}

impl ChosenValues {
    /// Visits the items of a list.
    pub fn each<L: ListOfItems + ?Sized>(
        &mut self,
        list: &L,
        mut visit: impl FnMut(&L::Item, &mut Self),
    ) {
        let mut index = 0;
        list.each(&mut |item| {
            self.indexes.push(index);
            visit(item, self);
            self.indexes.pop();
            index += 1;
        });
    }

    /// Takes a value.
    pub fn take<V: ChosenValue + ?Sized>(&mut self, value: &V) {
        let mut indexes = self.indexes.iter();
        let mut path = String::new();
        for (at, part) in self.path.split("[]").enumerate() {
            if at > 0 {
                let index = indexes.next().copied().unwrap_or_default();
                path += &format!("[{index}]");
            }
            path += part;
        }
        // A member may be named `selfie`.
        if let Some(rest) = path.strip_prefix("self")
            && (rest.is_empty() || rest.starts_with(['[', '.']))
        {
            let rest = rest.strip_prefix('.').unwrap_or(rest);
            path = rest.to_owned();
        }
        // `Action::Use`: the paths in answers have the variant's name only.
        if path.contains("::") {
            let mut parts = Vec::new();
            for part in path.split('.') {
                parts.push(part.rsplit("::").next().unwrap_or(part));
            }
            path = parts.join(".");
        }
        self.values.push((path, value.chosen()));
    }
}

pub(crate) fn walk_json(value: &Value, to: &mut ChosenValues) {
    let path = to.path.clone();
    walk_steps(value, &path, to);
}

fn walk_steps(value: &Value, path: &str, to: &mut ChosenValues) {
    let (step, rest) = path.split_once('.').unwrap_or((path, ""));
    let name = step.trim_end_matches("[]");
    let lists = (step.len() - name.len()) / 2;
    if name == "self" {
        return walk_lists(value, lists, rest, to);
    }
    let Some(members) = value.as_object() else {
        return;
    };
    for member in members_of(members, name) {
        walk_lists(member, lists, rest, to);
    }
}

/// As the schema finds a list's place: the member of this name, or else those with
/// the same letters.
fn members_of<'v>(
    members: &'v Map<String, Value>,
    name: &'v str,
) -> impl Iterator<Item = &'v Value> {
    let named = members.get(name);
    let near = members
        .iter()
        .filter(move |(member, _)| named.is_none() && same_letters(member, name));
    named.into_iter().chain(near.map(|(_, member)| member))
}

fn walk_lists(value: &Value, lists: usize, rest: &str, to: &mut ChosenValues) {
    match (lists.checked_sub(1), value) {
        (Some(lists), Value::Array(items)) => {
            to.each(items, |item, to| walk_lists(item, lists, rest, to))
        }
        (None, value) if !rest.is_empty() => walk_steps(value, rest, to),
        (None, Value::String(text)) => to.take(text),
        (None, Value::Number(number)) => to.take(&number.to_string()),
        _ => {}
    }
}

/// A value that can be chosen from a list.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be chosen from a list",
    label = "`choices` needs a text or a whole number here",
    note = "go on to a field of it (`action.item`), or into a list (`items[]`); of a type of your own, list its names by an enum"
)]
pub trait ChosenValue {
    /// As text.
    fn chosen(&self) -> String;
}

macro_rules! chosen {
    ($($type:ty),*) => {$(
        #[diagnostic::do_not_recommend]
        impl ChosenValue for $type {
            fn chosen(&self) -> String {
                self.to_string()
            }
        }
    )*};
}
chosen!(
    String,
    str,
    Box<str>,
    Arc<str>,
    u8,
    u16,
    u32,
    u64,
    usize,
    i8,
    i16,
    i32,
    i64,
    isize
);

#[diagnostic::do_not_recommend]
impl<V: ChosenValue + ?Sized> ChosenValue for &V {
    fn chosen(&self) -> String {
        (**self).chosen()
    }
}

/// A list, whose items a path leads to by `[]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no list, so `[]` does not lead into it",
    label = "drop the brackets",
    note = "lists are `Vec`, `VecDeque`, `HashSet`, `BTreeSet` and arrays; no path leads into maps"
)]
pub trait ListOfItems {
    /// The type of the items.
    type Item;
    /// Visits each.
    fn each(&self, visit: &mut dyn FnMut(&Self::Item));
}

macro_rules! list_of_items {
    ($([$($parameters:tt)*] $list:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T, $($parameters)*> ListOfItems for $list {
            type Item = T;
            fn each(&self, visit: &mut dyn FnMut(&T)) {
                self.iter().for_each(visit);
            }
        }
    )*};
}
list_of_items! {
    [] Vec<T>; [] VecDeque<T>; [H] HashSet<T, H>; [] BTreeSet<T>; [const N: usize] [T; N]; [] [T];
}

/// Finds what a step of a path leads through. The methods of the type win over those of the traits.
#[derive(Debug)]
pub struct PathValue<'a, T: ?Sized>(pub &'a T);

impl<'a, T> PathValue<'a, Option<T>> {
    /// The value, if there is one.
    pub fn __passed(self) -> std::option::Iter<'a, T> {
        self.0.iter()
    }

    /// The list, if there is one.
    pub fn __opened(self) -> std::option::Iter<'a, T> {
        self.0.iter()
    }
}

impl<'a, T: ?Sized> PathValue<'a, Box<T>> {
    /// What the box holds.
    pub fn __unboxed(self) -> &'a T {
        self.0
    }
}

/// A list without brackets behind it.
pub trait PassList<'a> {
    /// The type of the items.
    type Item: 'a;
    /// Does not compile: brackets are missing. With the type of the items, so that
    /// it is the only error.
    fn __passed(self) -> std::iter::Empty<&'a Self::Item>
    where
        Hinted<Self::Item>: InBrackets;
}

/// Not implemented for any type: it is there for its message.
#[diagnostic::on_unimplemented(
    message = "`choices` goes into a list by brackets, which stand for all of its items",
    label = "this is a list; write `[]` behind it, as in `steps[].tool`"
)]
pub trait InBrackets {}

impl<'a, T> PassList<'a> for PathValue<'a, Vec<T>> {
    type Item = T;
    fn __passed(self) -> std::iter::Empty<&'a T>
    where
        Hinted<T>: InBrackets,
    {
        std::iter::empty()
    }
}

/// Anything but `Option` and `Vec`.
pub trait PassValue<'a> {
    /// The value's type.
    type Value: ?Sized;
    /// The value itself.
    fn __passed(self) -> std::iter::Once<&'a Self::Value>;
    /// The value itself, as a list.
    fn __opened(self) -> std::iter::Once<&'a Self::Value>;
}

impl<'a, T> PassValue<'a> for &PathValue<'a, T> {
    type Value = T;
    fn __passed(self) -> std::iter::Once<&'a T> {
        std::iter::once(self.0)
    }

    fn __opened(self) -> std::iter::Once<&'a T> {
        std::iter::once(self.0)
    }
}

/// Anything but `Box`.
pub trait UnboxValue<'a> {
    /// The value's type.
    type Value: ?Sized;
    /// The value itself.
    fn __unboxed(self) -> &'a Self::Value;
}

impl<'a, T: ?Sized> UnboxValue<'a> for PathValue<'a, T> {
    type Value = T;
    fn __unboxed(self) -> &'a T {
        self.0
    }
}

/// A value that a list of choices lends.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no value that a model can choose",
    label = "`choices` needs a list of texts, numbers or names (`Display`)",
    note = "of a map, list the keys: `state.prices.keys()`; of a list of structs, a field: `state.tools.iter().map(|tool| &tool.name)`"
)]
pub trait ListedValue {
    /// As text.
    fn listed(&self) -> String;
}

#[diagnostic::do_not_recommend]
impl<V: Display + ?Sized> ListedValue for V {
    fn listed(&self) -> String {
        self.to_string()
    }
}

/// The values of a list, each once.
pub fn listed<L: IntoIterator>(list: L) -> BTreeSet<String>
where
    L::Item: ListedValue,
{
    list.into_iter().map(|value| value.listed()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn violations(path: &'static str, value: &Value) -> Vec<String> {
        let mut choices = Choices::default();
        choices.add(path, "x", ["key".to_owned()].into());
        let found = choices.violations(None, false, &mut |_, to| walk_json(value, to));
        found.into_iter().map(|one| one.path).collect()
    }

    #[test]
    fn a_path_in_another_spelling_is_checked() {
        let value = json!({"firstStep": [{"theTool": "key"}, {"theTool": "axe"}]});
        assert_eq!(
            violations("first_step[].the_tool", &value),
            ["first_step[1].the_tool"]
        );
        assert_eq!(
            violations("firstStep[].theTool", &value),
            ["firstStep[1].theTool"]
        );
        assert!(violations("second_step[].the_tool", &value).is_empty());
        assert_eq!(
            violations("item", &json!({"item": "key", "Item": "axe"})),
            Vec::<String>::new()
        );
    }

    #[test]
    fn self_is_the_answer_and_no_beginning_of_a_name() {
        assert_eq!(violations("selfie", &json!({"selfie": "axe"})), ["selfie"]);
        assert_eq!(violations("self.item", &json!({"item": "axe"})), ["item"]);
        assert_eq!(
            (
                violations("self", &json!("axe")),
                violations("self[]", &json!(["axe"]))
            ),
            (vec![String::new()], vec!["[0]".to_owned()])
        );
    }

    #[test]
    fn a_long_list_has_no_more_violations_than_are_told() {
        assert_eq!(
            violations("self[]", &json!(vec!["axe"; 10_000])).len(),
            MOST
        );
    }
}
