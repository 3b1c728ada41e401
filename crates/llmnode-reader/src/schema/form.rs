//! A form of the answer for models whose server does not enforce the schema: JSON
//! to fill in, with what belongs in each place in angle brackets. Small models copy
//! a JSON Schema; a form they fill in.
//!
//! The form is written from the outside in. A definition that is used once, or is
//! short, is written in its place; any other is named there (`<Step>`) and written
//! below, once. Where a form cannot say what the schema does, or gets too long,
//! there is none (`None` on all ways), and the schema is sent.
//!
//! Each placeholder is kept, so that an answer that repeats one is found.

use std::collections::HashMap;
use std::fmt::Write;

use serde_json::Value;

use super::choices::MARK;
use super::nulls;
use crate::text::one_line;
use crate::tree::{Node, branches, children, def_name, required, target};

const MAX_DESCRIPTION_BYTES: usize = 300;
/// Deeper types are better described by the schema.
const MAX_LEVELS: usize = 24;
/// A longer list does not help as a reminder.
const MAX_MEMBERS_NAMED: usize = 20;
const MAX_FORM_BYTES: usize = 16 * 1024;

/// Keywords that change what is allowed in ways that no placeholder says.
const INEXPRESSIBLE: [&str; 11] = [
    "not",
    "if",
    "contains",
    "allOf",
    "propertyNames",
    "patternProperties",
    "dependentSchemas",
    "dependentRequired",
    "unevaluatedItems",
    "unevaluatedProperties",
    "$dynamicRef",
];

/// A form that was written.
#[derive(Debug)]
pub(crate) struct Form {
    pub(crate) text: String,
    /// Without white space.
    placeholders: Vec<String>,
    /// The names of the answer's members, in backticks.
    members: Vec<String>,
}

impl Form {
    /// `tree`: the plain dialect. `None`: a form cannot say it.
    pub(super) fn from_tree(tree: &Value) -> Option<Form> {
        let root = tree.as_object()?;
        let mut writer = Writer::new(tree, root);
        let mut text = String::new();
        if let Some(description) = description(root) {
            text = description + "\n";
        }
        writer.value(root, "", &mut text, true)?;
        writer.definitions(root, &mut text)?;
        if text.len() > MAX_FORM_BYTES {
            return None;
        }
        let mut members = Vec::new();
        if let Some(Value::Object(properties)) = root.get("properties") {
            for name in properties.keys() {
                members.push(format!("`{}`", one_line(name, 64)));
            }
        }
        Some(Form {
            text,
            placeholders: writer.placeholders,
            members,
        })
    }

    /// Follows the question, where small models look.
    pub(crate) fn reminder(&self) -> Option<String> {
        let (last, others) = self.members.split_last()?;
        if others.len() >= MAX_MEMBERS_NAMED {
            return None;
        }
        let and = if others.is_empty() { "" } else { " and " };
        Some(format!(
            "\n\nAnswer with JSON that has {}{and}{last}.",
            others.join(", ")
        ))
    }

    /// Whether the answer has a placeholder as a value, blanks aside.
    pub(crate) fn is_repeated_in(&self, answer: &str) -> bool {
        if !answer.contains('<') {
            return false;
        }
        if let Some(json) = json_in(answer) {
            return self.is_leaf_of(&json);
        }
        let answer = without_space(answer);
        for placeholder in &self.placeholders {
            for (at, shown) in answer.match_indices(placeholder.as_str()) {
                let before = &answer[..at];
                let behind = &answer[at + shown.len()..];
                if is_whole_value(before, behind) {
                    return true;
                }
            }
        }
        false
    }

    /// Whether a placeholder is a text in the JSON.
    fn is_leaf_of(&self, json: &Value) -> bool {
        match json {
            Value::String(text) => {
                text.contains('<') && self.placeholders.contains(&without_space(text))
            }
            Value::Array(items) => items.iter().any(|item| self.is_leaf_of(item)),
            Value::Object(members) => members.values().any(|member| self.is_leaf_of(member)),
            _ => false,
        }
    }
}

/// The JSON that is all of the answer, or is between its first and last brackets.
fn json_in(answer: &str) -> Option<Value> {
    if let Ok(json) = serde_json::from_str(answer) {
        return Some(json);
    }
    json_between(answer, '{', '}').or_else(|| json_between(answer, '[', ']'))
}

fn json_between(answer: &str, open: char, close: char) -> Option<Value> {
    let begin = answer.find(open)?;
    let end = answer.rfind(close)?;
    let text = answer.get(begin..=end)?;
    serde_json::from_str(text).ok()
}

/// Whether `before` and `behind` delimit a complete value, in text without white
/// space that is not JSON.
fn is_whole_value(before: &str, behind: &str) -> bool {
    let (before, behind) = match before.strip_suffix('"') {
        Some(before) => match behind.strip_prefix('"') {
            Some(behind) => (before, behind),
            // The answer ends within the string.
            None if behind.is_empty() => (before, behind),
            None => return false,
        },
        None => (before, behind),
    };
    // The form's words for members that may be absent.
    let behind = behind.strip_prefix("ornull").unwrap_or(behind);
    let behind = behind.strip_prefix("(maybeleftout)").unwrap_or(behind);
    let begins = before.ends_with([':', '[', ',']);
    let ends = behind.is_empty() || behind.starts_with([',', ']', '}']);
    begins && ends
}

/// Models lay a form out anew.
fn without_space(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// Counts how often each definition is referred to.
fn count_references<'a>(node: &'a Node, uses: &mut HashMap<&'a str, usize>) {
    if let Some(Value::String(reference)) = node.get("$ref") {
        *uses.entry(reference).or_default() += 1;
    }
    for child in children(node) {
        if let Some(child) = child.as_object() {
            count_references(child, uses);
        }
    }
}

/// On one line, without characters that end a placeholder or a text.
fn description(node: &Node) -> Option<String> {
    let text = node.get("description")?.as_str()?;
    let line = one_line(text, MAX_DESCRIPTION_BYTES)
        .replace('"', "'")
        .replace('<', "(")
        .replace('>', ")")
        .replace('\\', "/");
    let words = line.trim().trim_end_matches('.');
    (!words.is_empty()).then(|| words.to_owned())
}

/// How a definition is named where it is written elsewhere.
fn reference_name(name: &str) -> String {
    format!("<{}>", one_line(name, 64))
}

/// The writing of one form.
struct Writer<'a> {
    defs: Option<&'a Node>,
    /// How often each reference is used.
    uses: HashMap<&'a str, usize>,
    /// The definitions that are being written, with the root where it is one.
    open: Vec<&'a Node>,
    /// To be written below, once.
    named: Vec<String>,
    placeholders: Vec<String>,
}

/// Whether a definition is the root: a recursive one is also in `$defs`.
fn is_root(definition: &Node, root: &Node) -> bool {
    match definition.get("properties") {
        Some(properties) => root.get("properties") == Some(properties),
        None => false,
    }
}

impl<'a> Writer<'a> {
    fn new(tree: &'a Value, root: &'a Node) -> Self {
        let defs = nulls::definitions(tree);
        let mut uses = HashMap::new();
        for child in children(root).filter_map(Value::as_object) {
            if !is_root(child, root) {
                count_references(child, &mut uses);
            }
        }
        let mut open = Vec::new();
        for definition in defs.into_iter().flat_map(Node::values) {
            if let Some(definition) = definition.as_object()
                && is_root(definition, root)
            {
                open.push(definition);
            }
        }
        Writer {
            defs,
            uses,
            open,
            named: Vec::new(),
            placeholders: Vec::new(),
        }
    }

    /// Writes the definitions that were named, and those that they name.
    fn definitions(&mut self, root: &'a Node, to: &mut String) -> Option<()> {
        let mut next = 0;
        while let Some(name) = self.named.get(next).cloned() {
            next += 1;
            let definition = self.defs?.get(&name)?.as_object()?;
            let reference = reference_name(&name);
            if is_root(definition, root) {
                let _ = write!(to, "\nwhere {reference} is the whole form again");
                continue;
            }
            let note = match description(definition) {
                Some(note) => format!(" ({note})"),
                None => String::new(),
            };
            let _ = write!(to, "\nwhere {reference} is{note}: ");
            self.value(definition, "", to, true)?;
            if to.len() > MAX_FORM_BYTES {
                return None;
            }
        }
        Some(())
    }
    /// Writes what may stand at a place. `note`: a description for values that have
    /// no place for one, which is written behind them.
    fn value(&mut self, node: &'a Node, note: &str, to: &mut String, is_root: bool) -> Option<()> {
        let is_inexpressible = INEXPRESSIBLE.iter().any(|key| node.contains_key(*key));
        if is_inexpressible || self.open.len() > MAX_LEVELS || to.len() > MAX_FORM_BYTES {
            return None;
        }
        // The root's is written above the form.
        let description = if is_root { None } else { description(node) };
        let note = description.as_deref().unwrap_or(note);
        if node.contains_key(MARK) {
            let kind = "one of the values listed below the question";
            self.placeholder(kind, note, false, to);
            if matches!(node.get("type"), Some(Value::Array(_))) {
                to.push_str(" or null");
            }
            return Some(());
        }
        if let Some(Value::String(reference)) = node.get("$ref") {
            return self.reference(node, reference, note, to);
        }
        if let Some(forms) = branches(node) {
            return self.union(forms, note, to);
        }
        if let Some(Value::Array(values)) = node.get("enum") {
            return self.one_of(values, note, to);
        }
        if let Some(value) = node.get("const") {
            to.push_str(&value.to_string());
            return Some(());
        }
        match node.get("type") {
            Some(Value::Array(kinds)) => self.kinds(kinds, node, note, to),
            Some(Value::String(kind)) => self.kind(kind, node, note, to),
            _ => self.kind("", node, note, to),
        }
    }

    /// Writes a definition in its place, or its name.
    fn reference(
        &mut self,
        node: &'a Node,
        reference: &'a str,
        note: &str,
        to: &mut String,
    ) -> Option<()> {
        let name = def_name(reference)?.into_owned();
        let definition = target(self.defs, node)?.as_object()?;
        let is_short = !definition.contains_key("properties") && branches(definition).is_none();
        let is_used_once = match self.uses.get(reference) {
            Some(uses) => *uses < 2,
            None => true,
        };
        let is_open = self.open.iter().any(|open| std::ptr::eq(*open, definition));
        let is_in_place = !is_open && (is_used_once || is_short);
        if !is_in_place {
            to.push_str(&reference_name(&name));
            add_note(to, note);
            if !self.named.contains(&name) {
                self.named.push(name);
            }
            return Some(());
        }
        self.open.push(definition);
        if note.is_empty() {
            let of_type = description(definition).unwrap_or_default();
            self.value(definition, &of_type, to, false)?;
        } else {
            // A description of the place is more specific than that of its type.
            self.value(definition, note, to, true)?;
        }
        self.open.pop();
        Some(())
    }

    /// The note stands behind the last form.
    fn union(&mut self, list: &'a [Value], note: &str, to: &mut String) -> Option<()> {
        let mut forms = Vec::new();
        let mut has_null = false;
        for form in list {
            if form.get("type").is_some_and(|kind| kind == "null") {
                has_null = true;
            } else {
                forms.push(form);
            }
        }
        for (index, form) in forms.iter().enumerate() {
            if index > 0 {
                to.push_str("\nor ");
            }
            let is_last = index + 1 == forms.len();
            let note = if is_last { note } else { "" };
            self.value(form.as_object()?, note, to, false)?;
        }
        if has_null {
            to.push_str(if forms.is_empty() { "null" } else { " or null" });
        }
        Some(())
    }

    /// One of several values. A single one is written as it is.
    fn one_of(&mut self, values: &[Value], note: &str, to: &mut String) -> Option<()> {
        let mut listed = Vec::new();
        let mut has_null = false;
        for value in values {
            if value.is_null() {
                has_null = true;
            } else {
                listed.push(value.to_string());
            }
        }
        match listed.as_slice() {
            [] => {}
            [only] => to.push_str(only),
            listed => {
                let kind = format!("one of {}", listed.join(", "));
                self.placeholder(&kind, note, false, to);
            }
        }
        if has_null {
            to.push_str(if listed.is_empty() {
                "null"
            } else {
                " or null"
            });
        }
        Some(())
    }

    /// Each of several types, with the same note.
    fn kinds(
        &mut self,
        kinds: &'a [Value],
        node: &'a Node,
        note: &str,
        to: &mut String,
    ) -> Option<()> {
        let mut is_first = true;
        for kind in kinds.iter().filter_map(Value::as_str) {
            if kind == "null" {
                continue;
            }
            if !is_first {
                to.push_str(" or ");
            }
            is_first = false;
            self.kind(kind, node, note, to)?;
        }
        if kinds.iter().any(|kind| kind == "null") {
            to.push_str(if kinds.len() > 1 { " or null" } else { "null" });
        }
        Some(())
    }

    /// Writes a value of one type. An empty type is any.
    fn kind(&mut self, kind: &str, node: &'a Node, note: &str, to: &mut String) -> Option<()> {
        match kind {
            "string" => self.placeholder(&text_words(node), note, true, to),
            "integer" => {
                let number = format!("whole number{}", bounds(node));
                self.placeholder(&number, note, false, to);
            }
            "number" => {
                let number = format!("number{}", bounds(node));
                self.placeholder(&number, note, false, to);
            }
            "boolean" => self.placeholder("true or false", note, false, to),
            "null" => to.push_str("null"),
            "array" => self.list(node, note, to)?,
            "object" => self.object(node, note, to)?,
            _ if node.contains_key("properties") || node.contains_key("items") => return None,
            _ => self.placeholder("any JSON value", note, false, to),
        }
        Some(())
    }

    /// Each member, in the order of the schema, and for a map one that stands for all.
    fn object(&mut self, node: &'a Node, note: &str, to: &mut String) -> Option<()> {
        let required = required(node);
        let mut separator = "";
        to.push('{');
        let properties = node.get("properties").and_then(Value::as_object);
        for (name, member) in properties.into_iter().flatten() {
            let key = Value::String(name.clone());
            let _ = write!(to, "{separator}{key}: ");
            let before = to.len();
            self.value_or_any(Some(member), to)?;
            let may_be_null = to[before..].ends_with(" or null");
            if !required.contains(name.as_str()) && !may_be_null {
                to.push_str(" (may be left out)");
            }
            separator = ", ";
        }
        let free = node.get("additionalProperties");
        if free.is_some_and(Value::is_object) || !node.contains_key("properties") {
            to.push_str(separator);
            to.push_str("\"<name>\": ");
            self.value_or_any(free, to)?;
            to.push_str(", ...");
        }
        to.push('}');
        add_note(to, note);
        Some(())
    }

    /// Writes what a schema describes, or that it may be anything.
    fn value_or_any(&mut self, schema: Option<&'a Value>, to: &mut String) -> Option<()> {
        match schema.and_then(Value::as_object) {
            Some(node) => self.value(node, "", to, false),
            None => {
                self.placeholder("any JSON value", "", false, to);
                Some(())
            }
        }
    }

    /// A tuple with each of its items; another list with one, and what is said of all.
    fn list(&mut self, node: &'a Node, note: &str, to: &mut String) -> Option<()> {
        let mut count = String::new();
        to.push('[');
        if let Some(Value::Array(places)) = node.get("prefixItems") {
            for (index, place) in places.iter().enumerate() {
                if index > 0 {
                    to.push_str(", ");
                }
                self.value(place.as_object()?, "", to, false)?;
            }
            to.push(']');
        } else {
            self.value_or_any(node.get("items"), to)?;
            to.push_str(", ...]");
        }
        if !node.contains_key("prefixItems") {
            count = count_words(node);
        }
        let mut notes = Vec::new();
        if !count.is_empty() {
            notes.push(count.as_str());
        }
        if node.get("uniqueItems") == Some(&Value::Bool(true)) {
            notes.push("no item twice");
        }
        if !note.is_empty() {
            notes.push(note);
        }
        add_note(to, &notes.join(": "));
        Some(())
    }

    /// Writes what is to be replaced. `is_text`: in quotation marks, which stay.
    fn placeholder(&mut self, kind: &str, note: &str, is_text: bool, to: &mut String) {
        let shown = if note.is_empty() {
            format!("<{kind}>")
        } else {
            format!("<{kind}: {note}>")
        };
        let placeholder = without_space(&shown);
        if !self.placeholders.contains(&placeholder) {
            self.placeholders.push(placeholder);
        }
        let quote = if is_text { "\"" } else { "" };
        to.push_str(quote);
        to.push_str(&shown);
        to.push_str(quote);
    }
}

/// How many items a list may have.
fn count_words(node: &Node) -> String {
    match (node.get("minItems"), node.get("maxItems")) {
        (Some(least), Some(most)) if least == most => format!("{least} items"),
        (Some(least), Some(most)) => format!("{least} to {most} items"),
        (Some(least), None) => format!("{least} items or more"),
        (None, Some(most)) => format!("at most {most} items"),
        (None, None) => String::new(),
    }
}
/// Writes a note behind a value that has no placeholder to hold it.
fn add_note(to: &mut String, note: &str) {
    if !note.is_empty() {
        to.push_str(" <");
        to.push_str(note);
        to.push('>');
    }
}

/// What a text must be: its format, length and pattern.
fn text_words(node: &Node) -> String {
    let mut words = "text".to_owned();
    if let Some(Value::String(format)) = node.get("format") {
        words = format!("{words} ({})", one_line(format, 40));
    }
    let least = node.get("minLength").and_then(Value::as_u64);
    let most = node.get("maxLength").and_then(Value::as_u64);
    match (least, most) {
        (Some(least), Some(most)) => words += &format!(" of {least} to {most} characters"),
        (Some(least), None) if least > 0 => words += &format!(" of {least} characters or more"),
        (None, Some(most)) => words += &format!(" of at most {most} characters"),
        _ => {}
    }
    if let Some(Value::String(pattern)) = node.get("pattern") {
        words += &format!(" that matches {}", one_line(pattern, 200));
    }
    words
}

/// Bounds of machine words from 32 bits on mean nothing to a model, but for a least one of 0.
fn bounds(node: &Node) -> String {
    let least = bound(node, "minimum").or_else(|| {
        let least = node.get("minimum")?;
        (least.as_u64() == Some(0)).then_some(least)
    });
    let mut words = match (least, bound(node, "maximum")) {
        (Some(least), Some(most)) => format!(" from {least} to {most}"),
        (Some(least), None) => format!(", {least} or more"),
        (None, Some(most)) => format!(", at most {most}"),
        (None, None) => String::new(),
    };
    for (keyword, relation) in [
        ("exclusiveMinimum", "more than"),
        ("exclusiveMaximum", "less than"),
        ("multipleOf", "a multiple of"),
    ] {
        if let Some(bound) = node.get(keyword) {
            words += &format!(", {relation} {bound}");
        }
    }
    words
}

/// A bound that somebody has chosen.
fn bound<'n>(node: &'n Node, keyword: &str) -> Option<&'n Value> {
    let bound = node.get(keyword)?;
    (!is_of_machine_words(bound)).then_some(bound)
}

/// Whether it is a bound that a type of integers has by itself.
fn is_of_machine_words(value: &Value) -> bool {
    let limits = [i32::MIN.into(), i32::MAX.into(), i64::from(u32::MAX)];
    let is_32_bits = match value.as_i64() {
        Some(value) => limits.contains(&value),
        None => false,
    };
    is_32_bits || value.as_f64().is_some_and(|value| value.abs() >= 1e15)
}
