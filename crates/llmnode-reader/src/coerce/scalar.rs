//! Coerces scalars: numbers, booleans and `null` that were written as strings, and numbers where a string belongs.

use std::borrow::Cow;

use super::super::check::Rule;
use super::super::json::Json;
use super::kind;
use crate::decimal::Decimal;

pub(super) fn changed<'j>(rule: &Rule, json: &Json<'j>) -> Option<(Json<'j>, &'static str)> {
    let is = |name: &str| rule.has_type(name);
    match json {
        Json::Number(digits) if is("string") && !is("integer") && !is("number") => {
            Some((Json::String(digits.clone()), kind::TEXT))
        }
        Json::Number(digits) if is("integer") => {
            let plain = Decimal::parse(digits)?.plain_integer()?;
            Some((Json::Number(Cow::Owned(plain)), kind::INTEGER))
        }
        Json::String(text) if !is("string") => {
            let text = text.trim();
            if is("null")
                && (text.is_empty()
                    || ["null", "n/a"]
                        .iter()
                        .any(|word| text.eq_ignore_ascii_case(word)))
            {
                return Some((Json::Null, kind::NULL));
            }
            if is("boolean")
                && ["true", "false"]
                    .iter()
                    .any(|word| text.eq_ignore_ascii_case(word))
            {
                return Some((Json::Bool(text.eq_ignore_ascii_case("true")), kind::BOOLEAN));
            }
            let number =
                (is("number") && is_plain_number(text)) || (is("integer") && is_integer(text));
            number.then(|| (Json::Number(Cow::Owned(text.to_owned())), kind::NUMBER))
        }
        _ => None,
    }
}

fn is_integer(text: &str) -> bool {
    Decimal::parse(text).is_some() && !text.contains(['.', 'e', 'E']) && text != "-0"
}

/// `1.234` may mean 1234.
fn is_plain_number(text: &str) -> bool {
    let thousands = text.split_once('.').is_some_and(|(whole, behind)| {
        let digits = whole.trim_start_matches('-');
        behind.len() == 3 && (1..=3).contains(&digits.len()) && digits != "0"
    });
    Decimal::parse(text).is_some() && !thousands
}
