//! The values that the state allows at a place of an answer, put into a copy of the type's schema.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::{Value, json};

use crate::text::{nearest, one_line, same_letters};
use crate::tree::{Node, WRAPPER, def_name};
use crate::violation::ChoiceList;

/// OpenAI's limit for one place in strict mode; the prompt names longer lists.
const MAX_IN_SCHEMA: usize = 500;
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

#[derive(Clone, Debug)]
pub(crate) struct Listed {
    list: ChoiceList,
    path: String,
    values: Vec<Value>,
    in_schema: bool,
}

#[derive(Debug)]
pub(crate) struct Lists {
    /// With marks in place of the lists' values.
    pub(crate) form: Value,
    listed: Vec<Listed>,
}

pub(crate) struct WithLists {
    pub(crate) tree: Value,
    pub(crate) lists: Lists,
}

pub(crate) fn fits_in_schema(list: &ChoiceList) -> bool {
    list.values.len() <= MAX_IN_SCHEMA
}

/// The flag of a list: its values may be part of the schema.
pub(crate) fn with_lists(
    tree: &Value,
    wrapped: bool,
    lists: Vec<(ChoiceList, bool)>,
) -> Result<WithLists, ChoicesError> {
    let mut with = tree.clone();
    let mut form = tree.clone();
    let mut listed = Vec::new();
    let defs = tree.get("$defs").and_then(Value::as_object);
    for (list, may_be_in_schema) in lists {
        let (path, values) = set(defs, wrapped, &mut form, &list, &|_, node| {
            node.insert(MARK.to_owned(), json!(true));
        })?;
        let in_schema = may_be_in_schema && fits_in_schema(&list);
        if in_schema {
            set(defs, wrapped, &mut with, &list, &set_enum)?;
        }
        listed.push(Listed {
            list,
            path,
            values,
            in_schema,
        });
    }
    Ok(WithLists {
        tree: with,
        lists: Lists { form, listed },
    })
}

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
    let root = match tree.get_mut("properties").filter(|_| wrapped) {
        Some(wrapper) => wrapper.get_mut(WRAPPER),
        None => Some(tree),
    };
    let values = walk.at(root.ok_or_else(|| walk.no_place("is not there"))?, &steps)?;
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
        self.listed.iter_mut().for_each(|one| one.in_schema = false);
    }

    pub(crate) fn has_last_in_schema(&self) -> bool {
        self.listed.last().is_some_and(|one| one.in_schema)
    }

    /// The lists of other places. `None`: the schema already has this list.
    pub(crate) fn besides(&self, list: &ChoiceList) -> Option<Vec<(ChoiceList, bool)>> {
        let is_there = |one: &&Listed| one.list.path == list.path || one.path == list.path;
        if self
            .listed
            .iter()
            .filter(is_there)
            .any(|one: &Listed| one.in_schema && one.list.values == list.values)
        {
            return None;
        }
        let others = self.listed.iter().filter(|one| !is_there(one));
        Some(
            others
                .map(|one| (one.list.clone(), one.in_schema))
                .collect(),
        )
    }

    pub(crate) fn are_in_schema(&self) -> bool {
        self.listed.iter().any(|one| one.in_schema)
    }

    /// For a request whose schema lacks them. `is_sent`: the request has a schema.
    pub(crate) fn in_words(&self, is_sent: bool) -> Option<String> {
        let mut words = String::new();
        for Listed { path, values, .. } in
            self.listed.iter().filter(|one| !(is_sent && one.in_schema))
        {
            let shown = values
                .iter()
                .take(MAX_LISTED)
                .map(shortened)
                .collect::<Vec<_>>()
                .join(", ");
            let more = if values.len() > MAX_LISTED {
                ", …"
            } else {
                ""
            };
            let place = if path.is_empty() {
                "the answer".to_owned()
            } else {
                format!("`{path}`")
            };
            let _ = write!(words, "\n\nAllowed for {place}: {shown}{more}");
        }
        (!words.is_empty()).then_some(words)
    }
}

fn shortened(value: &Value) -> String {
    match value {
        Value::String(text) => Value::String(one_line(text, MAX_LISTED_BYTES)).to_string(),
        other => other.to_string(),
    }
}

fn set_enum(values: &[Value], node: &mut Node) {
    node.insert("enum".to_owned(), Value::Array(values.to_vec()));
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Field(&'a str),
    Variant(&'a str),
    Items,
}

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
        steps.extend((0..(part.len() - name.len()) / 2).map(|_| Step::Items));
    }
    steps
}

struct Walk<'a> {
    defs: Option<&'a Node>,
    list: &'a ChoiceList,
    json_path: String,
    set: &'a dyn Fn(&[Value], &mut Node),
}

impl Walk<'_> {
    fn no_place(&self, why: &str) -> ChoicesError {
        ChoicesError::Path(format!(
            "`choices({} = …)`: in the schema, the place {why}",
            self.list.path
        ))
    }

    fn at(&mut self, schema: &mut Value, steps: &[Step<'_>]) -> Result<Vec<Value>, ChoicesError> {
        self.copy_reference(schema)?;
        let Some(node) = schema.as_object_mut() else {
            return Err(self.no_place("allows anything"));
        };
        let union = ["anyOf", "oneOf"]
            .into_iter()
            .find(|key| node.contains_key(*key));
        if let Some(forms) = union
            .and_then(|key| node.get_mut(key))
            .and_then(Value::as_array_mut)
        {
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
                let dot = if self.json_path.is_empty() { "" } else { "." };
                self.json_path += &format!("{dot}{name}");
                match node
                    .get_mut("properties")
                    .and_then(|all| all.get_mut(&name))
                {
                    Some(inner) => self.at(inner, rest),
                    None => Err(self.no_place("is not there")),
                }
            }
            Step::Items => {
                self.json_path += "[]";
                match node.get_mut("items").filter(|items| items.is_object()) {
                    Some(items) => self.at(items, rest),
                    None => Err(self.no_place("is not the items of a list")),
                }
            }
            Step::Variant(name) => match member(node, name) {
                // An enum with one variant: the object around its fields.
                Some(_) => {
                    let field = std::iter::once(Step::Field(name));
                    self.at(
                        schema,
                        &field.chain(rest.iter().copied()).collect::<Vec<_>>(),
                    )
                }
                None => self.at(schema, rest),
            },
        }
    }

    /// Definitions are copied, since other paths may share them.
    fn copy_reference(&self, schema: &mut Value) -> Result<(), ChoicesError> {
        // Bounded, since a reference may lead to itself.
        for _ in 0..32 {
            let Some(name) = schema
                .get("$ref")
                .and_then(Value::as_str)
                .and_then(def_name)
            else {
                return Ok(());
            };
            let Some(mut copy) = self.defs.and_then(|defs| defs.get(name.as_ref())).cloned() else {
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

    fn in_union(
        &mut self,
        forms: &mut [Value],
        steps: &[Step<'_>],
    ) -> Result<Vec<Value>, ChoicesError> {
        let is_null = |form: &Value| form.get("type").is_some_and(|kind| kind == "null");
        let own: Vec<usize> = (0..forms.len())
            .filter(|at| !is_null(&forms[*at]))
            .collect();
        if let [only] = own[..] {
            let values = self.at(&mut forms[only], steps)?;
            if values.is_empty() && own.len() < forms.len() {
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
        for at in own {
            self.copy_reference(&mut forms[at])?;
            if variant.is_none_or(|name| is_variant(&forms[at], name)) {
                taken.push(at);
            }
        }
        // In an untagged enum, the fields decide.
        if let Some(Step::Field(name)) = rest.first().filter(|_| taken.len() != 1) {
            taken = (0..forms.len())
                .filter(|at| {
                    forms[*at]
                        .as_object()
                        .is_some_and(|node| member(node, name).is_some())
                })
                .collect();
        }
        let [only] = taken[..] else {
            return Err(self.no_place(&format!("is in {} forms of a union", taken.len())));
        };
        let content = variant.and_then(|name| content(&forms[only], name, rest));
        match content {
            Some(name) => {
                let dot = if self.json_path.is_empty() { "" } else { "." };
                self.json_path += &format!("{dot}{name}");
                match forms[only]
                    .get_mut("properties")
                    .and_then(|all| all.get_mut(&name))
                {
                    Some(inner) => self.at(inner, rest),
                    None => Err(self.no_place("is not there")),
                }
            }
            None => self.at(&mut forms[only], rest),
        }
    }

    fn end(&self, node: &mut Node) -> Result<Vec<Value>, ChoicesError> {
        let ChoiceList {
            path,
            source,
            values: given,
        } = self.list;
        let kinds: Vec<&str> = match node.get("type") {
            Some(Value::String(kind)) => vec![kind],
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let nullable = kinds.contains(&"null");
        if node.contains_key("enum") || node.contains_key("const") {
            return Err(self.no_place("has names of its own"));
        }
        let value = |text: &String| match text.parse::<i64>().map(Value::from) {
            _ if kinds.contains(&"string") => Ok(json!(text)),
            Ok(number) if kinds.contains(&"integer") => Ok(number),
            _ if kinds.contains(&"integer") && text.parse::<u64>().is_ok() => {
                Ok(json!(text.parse::<u64>().ok()))
            }
            _ if kinds.contains(&"integer") => Err(ChoicesError::Values(format!(
                "`choices({path} = {source})`: {:?} is no whole number, and the place is one",
                one_line(text, MAX_LISTED_BYTES)
            ))),
            _ => Err(self.no_place("is neither a text nor a whole number")),
        };
        let mut values: Vec<Value> = given.iter().map(value).collect::<Result<_, _>>()?;
        (self.set)(&values, node);
        if nullable {
            if let Some(Value::Array(listed)) = node.get_mut("enum") {
                listed.push(Value::Null);
            }
            if values.is_empty() {
                values.push(Value::Null);
            }
        }
        Ok(values)
    }
}

fn member(node: &Node, name: &str) -> Option<String> {
    let all = node.get("properties")?.as_object()?;
    if all.contains_key(name) {
        return Some(name.to_owned());
    }
    let mut near = all.keys().filter(|known| same_letters(known, name));
    near.next().filter(|_| near.next().is_none()).cloned()
}

fn is_variant(form: &Value, name: &str) -> bool {
    let Some(node) = form.as_object() else {
        return false;
    };
    let tags = node
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(Node::values);
    let is_name = |value: &Value| {
        value
            .as_str()
            .is_some_and(|tag| tag == name || same_letters(tag, name))
    };
    let tagged = tags.into_iter().any(|tag| {
        match (tag.get("const"), tag.get("enum").and_then(Value::as_array)) {
            (Some(only), _) => is_name(only),
            (None, Some(names)) => names.len() == 1 && names.iter().all(is_name),
            (None, None) => false,
        }
    });
    tagged || member(node, name).is_some()
}

fn content(form: &Value, variant: &str, rest: &[Step<'_>]) -> Option<String> {
    let node = form.as_object()?;
    if let Some(name) = member(node, variant) {
        return Some(name);
    }
    if matches!(rest.first(), Some(Step::Field(name)) if member(node, name).is_some()) {
        return None;
    }
    let is_tag = |member: &Value| member.get("const").is_some() || member.get("enum").is_some();
    let mut inner = node
        .get("properties")?
        .as_object()?
        .iter()
        .filter(|(_, member)| !is_tag(member));
    inner
        .next()
        .filter(|_| inner.next().is_none())
        .map(|(name, _)| name.clone())
}

pub(crate) fn not_listed(value: &str, values: &BTreeSet<String>) -> String {
    let near = nearest(value, values.iter().map(String::as_str).take(1000));
    let near = near
        .map(|near| format!("; did you mean {near:?}?"))
        .unwrap_or_default();
    format!(
        "is {:?}, which is not one of the allowed values{near}",
        one_line(value, MAX_LISTED_BYTES)
    )
}
