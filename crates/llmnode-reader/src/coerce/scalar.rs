//! Coerces scalars: numbers, booleans and `null` that were written as strings, and
//! numbers where a string belongs.
//!
//! Each change is one that could be undone: from what comes out one sees what went
//! in, but for space around it and letters of either case. A number keeps its
//! digits.

use std::borrow::Cow;

use super::super::check::Rule;
use super::super::json::Json;
use super::kind;
use crate::decimal::Decimal;

/// The value as the rule takes it, and the kind of the change. `None`: no change is
/// certain to mean the same.
pub(super) fn changed<'j>(rule: &Rule, json: &Json<'j>) -> Option<(Json<'j>, &'static str)> {
    match json {
        Json::Number(digits) => changed_number(rule, digits),
        Json::String(text) if !rule.has_type("string") => changed_text(rule, text.trim()),
        _ => None,
    }
}

/// Digits for a string, or `3.0` for an integer.
fn changed_number<'j>(rule: &Rule, digits: &Cow<'j, str>) -> Option<(Json<'j>, &'static str)> {
    if rule.has_type("integer") {
        let plain = Decimal::parse(digits)?.plain_integer()?;
        return Some((Json::Number(Cow::Owned(plain)), kind::INTEGER));
    }
    if rule.has_type("string") && !rule.has_type("number") {
        return Some((Json::String(digits.clone()), kind::TEXT));
    }
    None
}

/// A text for another scalar. `null` comes first, as an empty text can be nothing else.
fn changed_text<'j>(rule: &Rule, text: &str) -> Option<(Json<'j>, &'static str)> {
    let is_null = text.is_empty() || is_one_of(text, ["null", "n/a"]);
    if is_null && rule.has_type("null") {
        return Some((Json::Null, kind::NULL));
    }
    if rule.has_type("boolean") && is_one_of(text, ["true", "false"]) {
        let value = text.eq_ignore_ascii_case("true");
        return Some((Json::Bool(value), kind::BOOLEAN));
    }
    let is_number = (rule.has_type("number") && is_plain_number(text))
        || (rule.has_type("integer") && is_integer(text));
    if is_number {
        let digits = text.to_owned();
        return Some((Json::Number(Cow::Owned(digits)), kind::NUMBER));
    }
    None
}

fn is_one_of(text: &str, words: [&str; 2]) -> bool {
    words.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// As serde reads an integer: without a point or an exponent. It would read `-0` as a fraction.
fn is_integer(text: &str) -> bool {
    Decimal::parse(text).is_some() && !text.contains(['.', 'e', 'E']) && text != "-0"
}

/// A number that is the same everywhere: `1.234` may mean 1234.
fn is_plain_number(text: &str) -> bool {
    if Decimal::parse(text).is_none() {
        return false;
    }
    let Some((whole, behind)) = text.split_once('.') else {
        return true;
    };
    let digits = whole.trim_start_matches('-');
    let may_be_thousands = behind.len() == 3 && (1..=3).contains(&digits.len()) && digits != "0";
    !may_be_thousands
}
