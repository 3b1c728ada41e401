//! How a value is shown in a message, and what is expected in its place.

use super::Rule;
use crate::json::Json;
use crate::text::{one_line, plural};

const MAX_EXCERPT: usize = 60;
const MAX_NAMED: usize = 8;

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

pub(super) fn expected(rule: &Rule) -> String {
    if !rule.values().is_empty() {
        return join_some(rule.values().iter().map(Json::to_string), " or ");
    }
    match rule.types() {
        [] if rule.has_properties || !rule.required.is_empty() => of_type(rule, "object"),
        kinds => kinds
            .iter()
            .map(|kind| of_type(rule, kind))
            .collect::<Vec<_>>()
            .join(" or "),
    }
}

fn of_type(rule: &Rule, kind: &str) -> String {
    if let (true, Some(words)) = (kind == "string", rule.format_in_words) {
        return words.to_owned();
    }
    let more = match kind {
        "integer" | "number" => range(rule),
        "string" => lengths(rule, "minLength", "maxLength", "character"),
        "array" => lengths(rule, "minItems", "maxItems", "item"),
        "object" => members(rule),
        _ => String::new(),
    };
    format!("{kind}{more}")
}

fn range(rule: &Rule) -> String {
    let bound = |keyword: &str, words: &str| {
        rule.bound(keyword)
            .map(|bound| format!(" {words} {bound}"))
            .unwrap_or_default()
    };
    let range = match (rule.bound("minimum"), rule.bound("maximum")) {
        (Some(least), Some(most)) => format!(" from {least} to {most}"),
        _ => bound("minimum", "of at least") + &bound("maximum", "of at most"),
    };
    let open =
        bound("exclusiveMinimum", "of more than") + &bound("exclusiveMaximum", "of less than");
    range + &open + &bound("multipleOf", "that is a multiple of")
}

fn lengths(rule: &Rule, least: &str, most: &str, what: &str) -> String {
    match (rule.count(least), rule.count(most)) {
        (Some(least), Some(most)) if least == most => format!(" of {}", plural(most, what)),
        (Some(least), Some(most)) => format!(" of {least} to {}", plural(most, what)),
        (Some(least), None) if least > 0 => format!(" of at least {}", plural(least, what)),
        (None, Some(most)) => format!(" of at most {}", plural(most, what)),
        _ => String::new(),
    }
}

fn members(rule: &Rule) -> String {
    let needed = join_some(rule.required.iter().map(|name| quoted(name)), ", ");
    if !needed.is_empty() {
        return format!(" with {needed}");
    }
    match property_list(rule) {
        none if none.is_empty() => String::new(),
        known => format!(
            " with {}{known}",
            if rule.is_closed {
                "none but "
            } else {
                "any of "
            }
        ),
    }
}

pub(super) fn property_list(rule: &Rule) -> String {
    join_some(rule.names().map(quoted), ", ")
}

fn quoted(name: &str) -> String {
    format!("`{}`", excerpt(name))
}

pub(super) fn join_some(mut all: impl Iterator<Item = String>, between: &str) -> String {
    let mut words = all
        .by_ref()
        .take(MAX_NAMED)
        .collect::<Vec<_>>()
        .join(between);
    if all.next().is_some() {
        words.push_str(between);
        words.push('…');
    }
    words
}

pub(super) fn display_value(value: &Json<'_>) -> String {
    value
        .as_text()
        .map_or_else(|| value.to_string(), str::to_owned)
}
