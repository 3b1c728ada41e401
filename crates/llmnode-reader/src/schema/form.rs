//! A form of the answer for models whose server does not enforce the schema: JSON to fill in, with what belongs in each place
//! in angle brackets. Small models copy a JSON Schema; a form they fill in.

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

#[derive(Debug)]
pub(crate) struct Form {
    pub(crate) text: String,
    placeholders: Vec<String>,
    members: Vec<String>,
}

impl Form {
    pub(super) fn of(tree: &Value) -> Option<Form> {
        let root = tree.as_object()?;
        let defs = nulls::definitions(tree);
        let mut uses = HashMap::new();
        // A recursive root is also in `$defs`.
        let is_root = |definition: &Node| {
            definition
                .get("properties")
                .is_some_and(|own| root.get("properties") == Some(own))
        };
        let own = children(root)
            .filter_map(Value::as_object)
            .filter(|child| !is_root(child));
        own.for_each(|child| count_references(child, &mut uses));
        let definitions = defs
            .into_iter()
            .flat_map(Node::values)
            .filter_map(Value::as_object);
        let open = definitions
            .filter(|definition| is_root(definition))
            .collect();
        let mut writer = Writer {
            defs,
            uses,
            open,
            named: Vec::new(),
            placeholders: Vec::new(),
        };
        let mut text = String::new();
        if let Some(description) = description(root) {
            text = description + "\n";
        }
        writer.value(root, "", &mut text, true)?;
        let mut next = 0;
        while let Some(name) = writer.named.get(next).cloned() {
            next += 1;
            let definition = writer.defs?.get(&name)?.as_object()?;
            if is_root(definition) {
                let _ = write!(
                    text,
                    "\nwhere {} is the whole form again",
                    reference_name(&name)
                );
                continue;
            }
            let note = description(definition)
                .map(|note| format!(" ({note})"))
                .unwrap_or_default();
            let _ = write!(text, "\nwhere {} is{note}: ", reference_name(&name));
            writer.value(definition, "", &mut text, true)?;
            if text.len() > MAX_FORM_BYTES {
                return None;
            }
        }
        let members = root
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flat_map(Node::keys);
        let members = members
            .map(|name| format!("`{}`", one_line(name, 64)))
            .collect();
        (text.len() <= MAX_FORM_BYTES).then_some(Form {
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
        self.placeholders.iter().any(|placeholder| {
            let mut places = answer.match_indices(placeholder.as_str());
            places.any(|(at, shown)| is_whole_value(&answer[..at], &answer[at + shown.len()..]))
        })
    }

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

fn json_in(answer: &str) -> Option<Value> {
    let object = || answer.get(answer.find('{')?..=answer.rfind('}')?);
    let list = || answer.get(answer.find('[')?..=answer.rfind(']')?);
    let read = |text: &str| serde_json::from_str(text).ok();
    read(answer)
        .or_else(|| read(object()?))
        .or_else(|| read(list()?))
}

/// Whether `before` and `behind` delimit a complete value, in text without white space that is not JSON.
fn is_whole_value(before: &str, behind: &str) -> bool {
    let (before, behind) = match before.strip_suffix('"') {
        Some(before) => match behind.strip_prefix('"') {
            Some(behind) => (before, behind),
            None if behind.is_empty() => (before, behind),
            None => return false,
        },
        None => (before, behind),
    };
    // The form's words for members that may be absent.
    let behind = behind.strip_prefix("ornull").unwrap_or(behind);
    let behind = behind.strip_prefix("(maybeleftout)").unwrap_or(behind);
    let begins = before.ends_with([':', '[', ',']);
    begins && (behind.is_empty() || behind.starts_with([',', ']', '}']))
}

fn without_space(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

fn count_references<'a>(node: &'a Node, uses: &mut HashMap<&'a str, usize>) {
    if let Some(reference) = node.get("$ref").and_then(Value::as_str) {
        *uses.entry(reference).or_default() += 1;
    }
    children(node)
        .filter_map(Value::as_object)
        .for_each(|child| count_references(child, uses));
}

/// On one line, without characters that end a placeholder or a text.
fn description(node: &Node) -> Option<String> {
    let text = node.get("description")?.as_str()?;
    let text = one_line(text, MAX_DESCRIPTION_BYTES)
        .replace('"', "'")
        .replace('<', "(")
        .replace('>', ")")
        .replace('\\', "/");
    let text = text.trim().trim_end_matches('.');
    (!text.is_empty()).then(|| text.to_owned())
}

fn reference_name(name: &str) -> String {
    format!("<{}>", one_line(name, 64))
}

struct Writer<'a> {
    defs: Option<&'a Node>,
    uses: HashMap<&'a str, usize>,
    open: Vec<&'a Node>,
    /// To be written below, once.
    named: Vec<String>,
    placeholders: Vec<String>,
}

impl<'a> Writer<'a> {
    /// `note`: a description for values that have no place for one, which is written behind them.
    fn value(&mut self, node: &'a Node, note: &str, to: &mut String, is_root: bool) -> Option<()> {
        if INEXPRESSIBLE.iter().any(|key| node.contains_key(*key))
            || self.open.len() > MAX_LEVELS
            || to.len() > MAX_FORM_BYTES
        {
            return None;
        }
        let own = description(node).filter(|_| !is_root);
        let note = own.as_deref().unwrap_or(note);
        if node.contains_key(MARK) {
            let null = matches!(node.get("type"), Some(Value::Array(_)));
            self.placeholder(
                "one of the values listed below the question",
                note,
                false,
                to,
            );
            to.push_str(if null { " or null" } else { "" });
            return Some(());
        }
        if let Some(reference) = node.get("$ref").and_then(Value::as_str) {
            return self.reference(node, reference, note, to);
        }
        if let Some(list) = branches(node) {
            return self.union(list, note, to);
        }
        if let Some(values) = node.get("enum").and_then(Value::as_array) {
            return self.one_of(values, note, to);
        }
        if let Some(value) = node.get("const") {
            to.push_str(&value.to_string());
            return Some(());
        }
        if let Some(Value::Array(kinds)) = node.get("type") {
            return self.kinds(kinds, node, note, to);
        }
        self.kind(
            node.get("type").and_then(Value::as_str).unwrap_or_default(),
            node,
            note,
            to,
        )
    }

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
        let once = self.uses.get(reference).is_none_or(|uses| *uses < 2);
        let is_open = self.open.iter().any(|open| std::ptr::eq(*open, definition));
        if is_open || !(once || is_short) {
            if !self.named.contains(&name) {
                self.named.push(name.clone());
            }
            to.push_str(&reference_name(&name));
            add_note(to, note);
            return Some(());
        }
        self.open.push(definition);
        // A description of the place is more specific than that of its type.
        let own = description(definition).unwrap_or_default();
        self.value(
            definition,
            if note.is_empty() { &own } else { note },
            to,
            !note.is_empty(),
        )?;
        self.open.pop();
        Some(())
    }

    fn union(&mut self, list: &'a [Value], note: &str, to: &mut String) -> Option<()> {
        let (nulls, forms): (Vec<&Value>, Vec<&Value>) = list
            .iter()
            .partition(|form| form.get("type").is_some_and(|kind| kind == "null"));
        for (at, form) in forms.iter().enumerate() {
            if at > 0 {
                to.push_str("\nor ");
            }
            self.value(
                form.as_object()?,
                if at + 1 == forms.len() { note } else { "" },
                to,
                false,
            )?;
        }
        if !nulls.is_empty() {
            to.push_str(if forms.is_empty() { "null" } else { " or null" });
        }
        Some(())
    }

    fn one_of(&mut self, values: &[Value], note: &str, to: &mut String) -> Option<()> {
        let (nulls, values): (Vec<_>, Vec<_>) = values.iter().partition(|value| value.is_null());
        let listed: Vec<String> = values.iter().map(ToString::to_string).collect();
        match listed.as_slice() {
            [] => {}
            [only] => to.push_str(only),
            listed => self.placeholder(&format!("one of {}", listed.join(", ")), note, false, to),
        }
        if !nulls.is_empty() {
            to.push_str(if listed.is_empty() {
                "null"
            } else {
                " or null"
            });
        }
        Some(())
    }

    fn kinds(
        &mut self,
        kinds: &'a [Value],
        node: &'a Node,
        note: &str,
        to: &mut String,
    ) -> Option<()> {
        let forms = kinds
            .iter()
            .filter_map(Value::as_str)
            .filter(|kind| *kind != "null");
        for (at, kind) in forms.enumerate() {
            if at > 0 {
                to.push_str(" or ");
            }
            self.kind(kind, node, note, to)?;
        }
        if kinds.iter().any(|kind| kind == "null") {
            to.push_str(if kinds.len() > 1 { " or null" } else { "null" });
        }
        Some(())
    }

    fn kind(&mut self, kind: &str, node: &'a Node, note: &str, to: &mut String) -> Option<()> {
        match kind {
            "string" => self.placeholder(&text_words(node), note, true, to),
            "integer" => self.placeholder(
                &("whole number".to_owned() + &bounds(node)),
                note,
                false,
                to,
            ),
            "number" => self.placeholder(&("number".to_owned() + &bounds(node)), note, false, to),
            "boolean" => self.placeholder("true or false", note, false, to),
            "null" => to.push_str("null"),
            "array" => self.list(node, note, to)?,
            "object" => self.object(node, note, to)?,
            _ if node.contains_key("properties") || node.contains_key("items") => return None,
            _ => self.placeholder("any JSON value", note, false, to),
        }
        Some(())
    }

    fn object(&mut self, node: &'a Node, note: &str, to: &mut String) -> Option<()> {
        let required = required(node);
        let mut separator = "";
        to.push('{');
        for (name, member) in node
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let _ = write!(to, "{separator}{}: ", Value::String(name.clone()));
            let before = to.len();
            match member.as_object() {
                Some(member) => self.value(member, "", to, false)?,
                None => self.placeholder("any JSON value", "", false, to),
            }
            if !required.contains(name.as_str()) && !to[before..].ends_with(" or null") {
                to.push_str(" (may be left out)");
            }
            separator = ", ";
        }
        let free = node
            .get("additionalProperties")
            .filter(|free| **free != Value::Bool(false));
        if free.is_some_and(Value::is_object) || !node.contains_key("properties") {
            to.push_str(separator);
            to.push_str("\"<name>\": ");
            match free.and_then(Value::as_object) {
                Some(free) => self.value(free, "", to, false)?,
                None => self.placeholder("any JSON value", "", false, to),
            }
            to.push_str(", ...");
        }
        to.push('}');
        add_note(to, note);
        Some(())
    }

    fn list(&mut self, node: &'a Node, note: &str, to: &mut String) -> Option<()> {
        to.push('[');
        if let Some(places) = node.get("prefixItems").and_then(Value::as_array) {
            for (at, place) in places.iter().enumerate() {
                if at > 0 {
                    to.push_str(", ");
                }
                self.value(place.as_object()?, "", to, false)?;
            }
            to.push(']');
        } else {
            match node.get("items").and_then(Value::as_object) {
                Some(item) => self.value(item, "", to, false)?,
                None => self.placeholder("any JSON value", "", false, to),
            }
            to.push_str(", ...]");
        }
        let count = |key: &str| node.get(key).filter(|_| !node.contains_key("prefixItems"));
        let unique = if node.get("uniqueItems") == Some(&Value::Bool(true)) {
            "no item twice"
        } else {
            ""
        };
        let items = match (count("minItems"), count("maxItems")) {
            (Some(least), Some(most)) if least == most => format!("{least} items"),
            (Some(least), Some(most)) => format!("{least} to {most} items"),
            (Some(least), None) => format!("{least} items or more"),
            (None, Some(most)) => format!("at most {most} items"),
            (None, None) => String::new(),
        };
        add_note(
            to,
            &[items.as_str(), unique, note]
                .into_iter()
                .filter(|one| !one.is_empty())
                .collect::<Vec<_>>()
                .join(": "),
        );
        Some(())
    }

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

fn add_note(to: &mut String, note: &str) {
    if !note.is_empty() {
        to.push_str(" <");
        to.push_str(note);
        to.push('>');
    }
}

fn text_words(node: &Node) -> String {
    let mut words = "text".to_owned();
    if let Some(format) = node.get("format").and_then(Value::as_str) {
        words = format!("{words} ({})", one_line(format, 40));
    }
    let count = |key: &str| node.get(key).and_then(Value::as_u64);
    match (count("minLength"), count("maxLength")) {
        (Some(least), Some(most)) => words += &format!(" of {least} to {most} characters"),
        (Some(least), None) if least > 0 => words += &format!(" of {least} characters or more"),
        (None, Some(most)) => words += &format!(" of at most {most} characters"),
        _ => {}
    }
    if let Some(pattern) = node.get("pattern").and_then(Value::as_str) {
        words += &format!(" that matches {}", one_line(pattern, 200));
    }
    words
}

/// Bounds of machine words from 32 bits on mean nothing to a model.
fn bounds(node: &Node) -> String {
    let bound = |key: &str| node.get(key).filter(|value| !is_of_machine_words(value));
    let least = bound("minimum").or_else(|| {
        node.get("minimum")
            .filter(|least| least.as_u64() == Some(0))
    });
    let mut words = match (least, bound("maximum")) {
        (Some(least), Some(most)) => format!(" from {least} to {most}"),
        (Some(least), None) => format!(", {least} or more"),
        (None, Some(most)) => format!(", at most {most}"),
        (None, None) => String::new(),
    };
    for (key, said) in [
        ("exclusiveMinimum", "more than"),
        ("exclusiveMaximum", "less than"),
        ("multipleOf", "a multiple of"),
    ] {
        if let Some(bound) = node.get(key) {
            words += &format!(", {said} {bound}");
        }
    }
    words
}

fn is_of_machine_words(value: &Value) -> bool {
    let limits = [i32::MIN.into(), i32::MAX.into(), i64::from(u32::MAX)];
    value.as_i64().is_some_and(|value| limits.contains(&value))
        || value.as_f64().is_some_and(|value| value.abs() >= 1e15)
}
