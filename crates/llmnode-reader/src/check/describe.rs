//! How a value is shown in a message, and what is expected in its place.

use super::Rule;
use crate::json::Json;
use crate::text::{one_line, plural};

/// Bytes of a value in a message.
const MAX_EXCERPT: usize = 60;
/// How many of a list are named. A model needs an example of what is right, not all of it.
const MAX_NAMED: usize = 8;

/// A value as a message names it: scalars as they were written, shortened.
pub(crate) fn describe(value: &Json<'_>) -> String {
    match value {
        Json::Null => "null".to_owned(),
        Json::Bool(value) => value.to_string(),
        Json::Number(digits) => excerpt(digits),
        Json::String(text) => format!("{:?}", excerpt(text)),
        Json::Array(_) => "an array".to_owned(),
        Json::Object(_) => "an object".to_owned(),
    }
}

pub(crate) fn excerpt(text: &str) -> String {
    one_line(text, MAX_EXCERPT)
}

/// What the rule asks for at one place, as in `an integer from 1 to 5`, without the article.
pub(super) fn expected(rule: &Rule) -> String {
    if !rule.values().is_empty() {
        return join_some(rule.values().iter().map(Json::to_string), " or ");
    }
    let kinds = rule.types();
    let names_members = rule.has_properties || !rule.required.is_empty();
    if kinds.is_empty() && names_members {
        return of_type(rule, "object");
    }
    let mut kinds_in_words = Vec::with_capacity(kinds.len());
    for kind in kinds {
        kinds_in_words.push(of_type(rule, kind));
    }
    kinds_in_words.join(" or ")
}

/// A type and its bounds. The words of a format say more than both.
fn of_type(rule: &Rule, kind: &str) -> String {
    if kind == "string"
        && let Some(words) = rule.format_in_words
    {
        return words.to_owned();
    }
    let bounds = match kind {
        "integer" | "number" => range(rule),
        "string" => lengths(rule, "minLength", "maxLength", "character"),
        "array" => lengths(rule, "minItems", "maxItems", "item"),
        "object" => members(rule),
        _ => String::new(),
    };
    format!("{kind}{bounds}")
}

/// The bounds of a number, in words.
fn range(rule: &Rule) -> String {
    let mut words = String::new();
    if let (Some(least), Some(most)) = (rule.bound("minimum"), rule.bound("maximum")) {
        words.push_str(&format!(" from {least} to {most}"));
    } else {
        words.push_str(&bound(rule, "minimum", "of at least"));
        words.push_str(&bound(rule, "maximum", "of at most"));
    }
    words.push_str(&bound(rule, "exclusiveMinimum", "of more than"));
    words.push_str(&bound(rule, "exclusiveMaximum", "of less than"));
    words.push_str(&bound(rule, "multipleOf", "that is a multiple of"));
    words
}

/// ` of at least 3`. Empty if the rule has no such bound.
fn bound(rule: &Rule, keyword: &str, words: &str) -> String {
    match rule.bound(keyword) {
        Some(bound) => format!(" {words} {bound}"),
        None => String::new(),
    }
}

/// The bounds of a length, in words. A least one of 0 says nothing.
fn lengths(rule: &Rule, least: &str, most: &str, what: &str) -> String {
    match (rule.count(least), rule.count(most)) {
        (Some(least), Some(most)) if least == most => format!(" of {}", plural(most, what)),
        (Some(least), Some(most)) => format!(" of {least} to {}", plural(most, what)),
        (Some(least), None) if least > 0 => format!(" of at least {}", plural(least, what)),
        (None, Some(most)) => format!(" of at most {}", plural(most, what)),
        _ => String::new(),
    }
}

/// The members that it needs, or else those that it takes.
fn members(rule: &Rule) -> String {
    let needed = join_some(rule.required.iter().map(|name| quoted(name)), ", ");
    if !needed.is_empty() {
        return format!(" with {needed}");
    }
    let properties = property_list(rule);
    if properties.is_empty() {
        return String::new();
    }
    let which = if rule.is_closed { "none but" } else { "any of" };
    format!(" with {which} {properties}")
}

pub(super) fn property_list(rule: &Rule) -> String {
    join_some(rule.names().map(quoted), ", ")
}

fn quoted(name: &str) -> String {
    format!("`{}`", excerpt(name))
}

/// Joins the first of them, and says with `…` that there are more.
pub(super) fn join_some(all: impl Iterator<Item = String>, between: &str) -> String {
    let mut words = String::new();
    for (index, word) in all.enumerate() {
        if index > 0 {
            words.push_str(between);
        }
        if index == MAX_NAMED {
            words.push('…');
            break;
        }
        words.push_str(&word);
    }
    words
}

/// A value in a list of allowed ones: a text without its quotation marks.
pub(super) fn display_value(value: &Json<'_>) -> String {
    match value.as_text() {
        Some(text) => text.to_owned(),
        None => value.to_string(),
    }
}
