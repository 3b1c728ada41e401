//! The values that the state allows at a place of an answer, put into a copy of the type's schema.
//!
//! A place is named as Rust names it (`steps[].tool`), so the way to it goes
//! through references, which are copied, and through unions, of which one form must
//! be meant (`Walk`). The values go to two copies: into the schema, if they are few
//! enough, and as a mark into the form, which shows them elsewhere. What the schema
//! cannot take, the prompt lists.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::{Value, json};

use crate::text::{nearest, one_line, same_letters};
use crate::tree::{Node, WRAPPER, def_name};
use crate::violation::ChoiceList;

/// OpenAI's limit for one place in strict mode; the prompt names longer lists.
const MAX_IN_SCHEMA: usize = 500;
/// How many values a prompt lists, and bytes of each.
const MAX_LISTED: usize = 40;
const MAX_LISTED_BYTES: usize = 200;

/// Marks places in a form's schema whose values are listed elsewhere.
pub(crate) const MARK: &str = "x-llmnode-listed";

/// Why a list cannot be used.
#[derive(Debug)]
pub enum ChoicesError {
    /// The schema has no such place, or several.
    Path(String),
    /// The values do not fit the place.
    Values(String),
}

/// A list, and where it is.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    list: ChoiceList,
    /// In the names of the JSON.
    path: String,
    values: Vec<Value>,
    in_schema: bool,
}

/// All lists of a schema.
#[derive(Debug)]
pub(crate) struct Lists {
    /// With marks in place of the lists' values.
    pub(crate) form: Value,
    listed: Vec<Listed>,
}

/// A schema with its lists.
pub(crate) struct WithLists {
    pub(crate) tree: Value,
    pub(crate) lists: Lists,
}

/// Whether a schema may have the list.
pub(crate) fn fits_in_schema(list: &ChoiceList) -> bool {
    list.values.len() <= MAX_IN_SCHEMA
}

/// Puts lists into a schema. The flag of a list: its values may be part of the schema.
pub(crate) fn with_lists(
    tree: &Value,
    wrapped: bool,
    lists: Vec<(ChoiceList, bool)>,
) -> Result<WithLists, ChoicesError> {
    let mut with_values = tree.clone();
    let mut form = tree.clone();
    let mut listed = Vec::new();
    let defs = tree.get("$defs").and_then(Value::as_object);
    for (list, may_be_in_schema) in lists {
        // The form has each list, so that a wrong place is found whatever becomes of the values.
        let (path, values) = set(defs, wrapped, &mut form, &list, &set_mark)?;
        let in_schema = may_be_in_schema && fits_in_schema(&list);
        if in_schema {
            set(defs, wrapped, &mut with_values, &list, &set_enum)?;
        }
        listed.push(Listed {
            list,
            path,
            values,
            in_schema,
        });
    }
    Ok(WithLists {
        tree: with_values,
        lists: Lists { form, listed },
    })
}

/// Changes the place of a list. Returns its path in the JSON, and the values as the
/// place takes them.
fn set(
    defs: Option<&Node>,
    wrapped: bool,
    tree: &mut Value,
    list: &ChoiceList,
    set: &dyn Fn(&[Value], &mut Node),
) -> Result<(String, Vec<Value>), ChoicesError> {
    let mut walk = Walk {
        defs,
        list,
        json_path: String::new(),
        set,
    };
    let steps = steps(&list.path);
    let wrapper = if wrapped {
        tree.get_mut("properties")
    } else {
        None
    };
    let root = match wrapper {
        Some(wrapper) => wrapper.get_mut(WRAPPER),
        None => Some(tree),
    };
    let Some(root) = root else {
        return Err(walk.no_place("is not there"));
    };
    let values = walk.at(root, &steps)?;
    if values.is_empty() {
        let ChoiceList { path, source, .. } = list;
        return Err(ChoicesError::Values(format!(
            "`choices({path} = {source})`: the list is empty"
        )));
    }
    Ok((walk.json_path, values))
}

impl Lists {
    /// Beyond strict mode's limits, the prompt names the lists.
    pub(crate) fn leave_schema(&mut self) {
        for listed in &mut self.listed {
            listed.in_schema = false;
        }
    }

    /// Whether the list that was added last is in the schema.
    pub(crate) fn has_last_in_schema(&self) -> bool {
        self.listed.last().is_some_and(|listed| listed.in_schema)
    }

    /// The lists of other places. `None`: the schema already has this list.
    pub(crate) fn besides(&self, list: &ChoiceList) -> Option<Vec<(ChoiceList, bool)>> {
        let mut others = Vec::new();
        for listed in &self.listed {
            let is_there = listed.list.path == list.path || listed.path == list.path;
            if !is_there {
                others.push((listed.list.clone(), listed.in_schema));
                continue;
            }
            if listed.in_schema && listed.list.values == list.values {
                return None;
            }
        }
        Some(others)
    }

    pub(crate) fn are_in_schema(&self) -> bool {
        self.listed.iter().any(|listed| listed.in_schema)
    }

    /// The values that a request does not have, for its prompt. `is_sent`: the
    /// request has a schema. `None`: it has all.
    pub(crate) fn describe(&self, is_sent: bool) -> Option<String> {
        let mut words = String::new();
        for listed in &self.listed {
            if is_sent && listed.in_schema {
                continue;
            }
            let place = if listed.path.is_empty() {
                "the answer".to_owned()
            } else {
                format!("`{}`", listed.path)
            };
            let values = listed.values_in_words();
            let _ = write!(words, "\n\nAllowed for {place}: {values}");
        }
        (!words.is_empty()).then_some(words)
    }
}

impl Listed {
    /// The first values.
    fn values_in_words(&self) -> String {
        let mut shown = Vec::new();
        for value in self.values.iter().take(MAX_LISTED) {
            shown.push(shortened(value));
        }
        let mut words = shown.join(", ");
        if self.values.len() > MAX_LISTED {
            words.push_str(", …");
        }
        words
    }
}

/// The start of a long value is enough to recognise it by.
fn shortened(value: &Value) -> String {
    match value {
        Value::String(text) => Value::String(one_line(text, MAX_LISTED_BYTES)).to_string(),
        other => other.to_string(),
    }
}

fn set_mark(_values: &[Value], node: &mut Node) {
    node.insert(MARK.to_owned(), json!(true));
}

fn set_enum(values: &[Value], node: &mut Node) {
    node.insert("enum".to_owned(), Value::Array(values.to_vec()));
}

/// One part of a path in Rust's names.
#[derive(Clone, Copy)]
enum Step<'a> {
    Field(&'a str),
    /// `Action::Use`.
    Variant(&'a str),
    /// `[]`.
    Items,
}

/// Paths are of the program, and were checked by the macro.
fn steps(path: &str) -> Vec<Step<'_>> {
    let mut steps = Vec::new();
    for part in path.split('.') {
        let name = part.trim_end_matches("[]");
        if name != "self" && !name.is_empty() {
            steps.push(match name.rsplit_once("::") {
                Some((_, variant)) => Step::Variant(variant),
                None => Step::Field(name),
            });
        }
        let levels_of_items = (part.len() - name.len()) / "[]".len();
        for _ in 0..levels_of_items {
            steps.push(Step::Items);
        }
    }
    steps
}

/// The way to the place of one list.
struct Walk<'a> {
    defs: Option<&'a Node>,
    list: &'a ChoiceList,
    /// The path so far, in the names of the JSON.
    json_path: String,
    /// What is done at the place.
    set: &'a dyn Fn(&[Value], &mut Node),
}

impl Walk<'_> {
    /// The path does not lead to one place. It is a mistake of the program, so it
    /// is named as the program has it.
    fn no_place(&self, why: &str) -> ChoicesError {
        ChoicesError::Path(format!(
            "`choices({} = …)`: in the schema, the place {why}",
            self.list.path
        ))
    }

    /// Goes on from a schema. At the end of the steps, the values are returned as
    /// the place takes them.
    fn at(&mut self, schema: &mut Value, steps: &[Step<'_>]) -> Result<Vec<Value>, ChoicesError> {
        self.copy_reference(schema)?;
        let Some(node) = schema.as_object_mut() else {
            return Err(self.no_place("allows anything"));
        };
        let union = if node.contains_key("anyOf") {
            "anyOf"
        } else {
            "oneOf"
        };
        if let Some(Value::Array(forms)) = node.get_mut(union) {
            return self.in_union(forms, steps);
        }
        let Some((step, rest)) = steps.split_first() else {
            return self.end(node);
        };
        match step {
            Step::Field(name) => {
                let Some(name) = member(node, name) else {
                    return Err(self.no_place(&format!("`{name}` is not there")));
                };
                self.at_member(node, &name, rest)
            }
            Step::Items => {
                self.json_path += "[]";
                match node.get_mut("items") {
                    Some(items) if items.is_object() => self.at(items, rest),
                    _ => Err(self.no_place("is not the items of a list")),
                }
            }
            Step::Variant(name) => {
                if member(node, name).is_none() {
                    return self.at(schema, rest);
                }
                // An enum with one variant: the object around its fields.
                let mut steps = vec![Step::Field(name)];
                steps.extend_from_slice(rest);
                self.at(schema, &steps)
            }
        }
    }

    /// Goes into a member, by its name in the JSON.
    fn at_member(
        &mut self,
        node: &mut Node,
        name: &str,
        rest: &[Step<'_>],
    ) -> Result<Vec<Value>, ChoicesError> {
        if !self.json_path.is_empty() {
            self.json_path.push('.');
        }
        self.json_path.push_str(name);
        let inner = match node.get_mut("properties") {
            Some(members) => members.get_mut(name),
            None => None,
        };
        match inner {
            Some(inner) => self.at(inner, rest),
            None => Err(self.no_place("is not there")),
        }
    }

    /// Definitions are copied, since other paths may share them.
    fn copy_reference(&self, schema: &mut Value) -> Result<(), ChoicesError> {
        // Bounded, since a reference may lead to itself.
        const MOST: usize = 32;
        for _ in 0..MOST {
            let reference = schema.get("$ref").and_then(Value::as_str);
            let Some(name) = reference.and_then(def_name) else {
                return Ok(());
            };
            let definition = self.defs.and_then(|defs| defs.get(name.as_ref()));
            let Some(mut copy) = definition.cloned() else {
                break;
            };
            let description = schema.get("description").cloned();
            if let (Some(copy), Some(description)) = (copy.as_object_mut(), description) {
                copy.insert("description".to_owned(), description);
            }
            *schema = copy;
        }
        Err(self.no_place("leads nowhere"))
    }

    /// Goes on in the one form of a union that the steps mean.
    ///
    /// With `null` beside a single form, that form. Else the form of the variant,
    /// by its tag or name; in an untagged enum, the fields decide.
    fn in_union(
        &mut self,
        forms: &mut [Value],
        steps: &[Step<'_>],
    ) -> Result<Vec<Value>, ChoicesError> {
        let mut candidates = Vec::new();
        for (index, form) in forms.iter().enumerate() {
            let is_null = form.get("type").is_some_and(|kind| kind == "null");
            if !is_null {
                candidates.push(index);
            }
        }
        if let [only] = candidates[..] {
            let values = self.at(&mut forms[only], steps)?;
            let may_be_null = candidates.len() < forms.len();
            // No value of the list fits, but the place may be left empty.
            if values.is_empty() && may_be_null {
                forms[only] = json!({"type": "null"});
                return Ok(vec![Value::Null]);
            }
            return Ok(values);
        }
        let (variant, rest) = match steps.split_first() {
            Some((Step::Variant(name), rest)) => (Some(*name), rest),
            _ => (None, steps),
        };
        let mut taken = Vec::new();
        for index in candidates {
            self.copy_reference(&mut forms[index])?;
            if variant.is_none_or(|name| is_variant(&forms[index], name)) {
                taken.push(index);
            }
        }
        if taken.len() != 1
            && let Some(Step::Field(name)) = rest.first()
        {
            taken = forms_with_member(forms, name);
        }
        let [only] = taken[..] else {
            return Err(self.no_place(&format!("is in {} forms of a union", taken.len())));
        };
        let form = &mut forms[only];
        let content = variant.and_then(|name| content(form, name, rest));
        match (content, form.as_object_mut()) {
            (Some(name), Some(node)) => self.at_member(node, &name, rest),
            _ => self.at(form, rest),
        }
    }

    /// The place itself: it must be a text or a whole number that has no values of its own.
    fn end(&self, node: &mut Node) -> Result<Vec<Value>, ChoicesError> {
        if node.contains_key("enum") || node.contains_key("const") {
            return Err(self.no_place("has names of its own"));
        }
        let kinds = match node.get("type") {
            Some(Value::String(kind)) => vec![kind.clone()],
            Some(Value::Array(kinds)) => kinds
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            _ => Vec::new(),
        };
        let mut values = Vec::new();
        for text in &self.list.values {
            values.push(self.value(text, &kinds)?);
        }
        (self.set)(&values, node);
        if kinds.iter().any(|kind| kind == "null") {
            if let Some(Value::Array(listed)) = node.get_mut("enum") {
                listed.push(Value::Null);
            }
            if values.is_empty() {
                values.push(Value::Null);
            }
        }
        Ok(values)
    }

    /// A value of the list as the place takes it.
    fn value(&self, text: &str, kinds: &[String]) -> Result<Value, ChoicesError> {
        if kinds.iter().any(|kind| kind == "string") {
            return Ok(json!(text));
        }
        if !kinds.iter().any(|kind| kind == "integer") {
            return Err(self.no_place("is neither a text nor a whole number"));
        }
        if let Ok(number) = text.parse::<i64>() {
            return Ok(json!(number));
        }
        if let Ok(number) = text.parse::<u64>() {
            return Ok(json!(number));
        }
        let ChoiceList { path, source, .. } = self.list;
        Err(ChoicesError::Values(format!(
            "`choices({path} = {source})`: {:?} is no whole number, and the place is one",
            one_line(text, MAX_LISTED_BYTES)
        )))
    }
}

fn forms_with_member(forms: &[Value], name: &str) -> Vec<usize> {
    let mut found = Vec::new();
    for (index, form) in forms.iter().enumerate() {
        if let Some(node) = form.as_object()
            && member(node, name).is_some()
        {
            found.push(index);
        }
    }
    found
}

/// The name that the schema has for a field: its own, or the only one with the same letters.
fn member(node: &Node, name: &str) -> Option<String> {
    let members = node.get("properties")?.as_object()?;
    if members.contains_key(name) {
        return Some(name.to_owned());
    }
    let mut alike = members.keys().filter(|other| same_letters(other, name));
    let only = alike.next()?;
    if alike.next().is_some() {
        return None;
    }
    Some(only.clone())
}

/// Whether a form is that of a variant: a tag has its name, or its only member.
fn is_variant(form: &Value, name: &str) -> bool {
    let Some(node) = form.as_object() else {
        return false;
    };
    if let Some(Value::Object(members)) = node.get("properties") {
        for schema in members.values() {
            if is_tag_of(schema, name) {
                return true;
            }
        }
    }
    member(node, name).is_some()
}

/// Whether the schema allows one value, which is the name.
fn is_tag_of(schema: &Value, name: &str) -> bool {
    let only = match (schema.get("const"), schema.get("enum")) {
        (Some(only), _) => only,
        (None, Some(Value::Array(values))) if values.len() == 1 => &values[0],
        _ => return false,
    };
    match only.as_str() {
        Some(tag) => tag == name || same_letters(tag, name),
        None => false,
    }
}

/// The member that holds a variant's content: that of its name, or the only one
/// beside the tag. `None`: the fields are beside the tag.
fn content(form: &Value, variant: &str, rest: &[Step<'_>]) -> Option<String> {
    let node = form.as_object()?;
    if let Some(name) = member(node, variant) {
        return Some(name);
    }
    if let Some(Step::Field(name)) = rest.first()
        && member(node, name).is_some()
    {
        return None;
    }
    let mut content = None;
    for (name, schema) in node.get("properties")?.as_object()? {
        let is_tag = schema.get("const").is_some() || schema.get("enum").is_some();
        if is_tag {
            continue;
        }
        if content.is_some() {
            return None;
        }
        content = Some(name.clone());
    }
    content
}

/// Of a value that is not in its list. The nearest is looked for among the first thousand.
pub(crate) fn not_listed(value: &str, values: &BTreeSet<String>) -> String {
    let candidates = values.iter().map(String::as_str).take(1000);
    let hint = match nearest(value, candidates) {
        Some(near) => format!("; did you mean {near:?}?"),
        None => String::new(),
    };
    format!(
        "is {:?}, which is not one of the allowed values{hint}",
        one_line(value, MAX_LISTED_BYTES)
    )
}
