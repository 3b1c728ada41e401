//! JSON as text: what a reader into numbers of 64 bits would change stays as it was written.

use std::borrow::Cow;

use serde_json::{Number, Value};

/// Writes a document on several lines, each token as it was. `None`: it is no JSON.
pub fn pretty(text: &str) -> Option<String> {
    // This also bounds how deep it is.
    serde_json::from_str::<Value>(text).ok()?;
    let mut shown = String::with_capacity(text.len() * 2);
    let mut depth = 0_usize;
    let mut tokens = tokens(text).peekable();
    while let Some(token) = tokens.next() {
        match token {
            "{" | "[" => {
                shown.push_str(token);
                let is_empty = tokens.next_if(|next| matches!(*next, "}" | "]"));
                match is_empty {
                    Some(end) => shown.push_str(end),
                    None => {
                        depth += 1;
                        new_line(&mut shown, depth);
                    }
                }
            }
            "}" | "]" => {
                depth = depth.saturating_sub(1);
                new_line(&mut shown, depth);
                shown.push_str(token);
            }
            "," => {
                shown.push(',');
                new_line(&mut shown, depth);
            }
            ":" => shown.push_str(": "),
            token => shown.push_str(token),
        }
    }
    Some(shown)
}

fn new_line(shown: &mut String, depth: usize) {
    shown.push('\n');
    shown.extend(std::iter::repeat_n("  ", depth));
}

/// The first number of a document that is another one once it is read, such as an
/// integer of 20 digits.
pub fn inexact_number(text: &str) -> Option<&str> {
    tokens(text).find(|token| {
        let is_number = token.starts_with(|first: char| first == '-' || first.is_ascii_digit());
        is_number && !is_kept(token)
    })
}

fn is_kept(token: &str) -> bool {
    let read: Result<Number, _> = serde_json::from_str(token);
    read.is_ok_and(|number| decimal(token) == decimal(&number.to_string()))
}

/// Sign, digits without zeros around them, and the power of ten of the last digit.
fn decimal(number: &str) -> (bool, Cow<'_, str>, i64) {
    let unsigned = number.strip_prefix('-');
    let is_negative = unsigned.is_some();
    let unsigned = unsigned.unwrap_or(number);
    let (mantissa, power) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let power: i64 = power.parse().unwrap_or(i64::MAX);
    let power = power.saturating_sub_unsigned(fraction.len() as u64);
    let digits = if fraction.is_empty() {
        Cow::Borrowed(whole)
    } else {
        Cow::Owned(format!("{whole}{fraction}"))
    };
    let kept = digits.trim_start_matches('0').trim_end_matches('0');
    if kept.is_empty() {
        return (false, Cow::Borrowed(""), 0);
    }
    let zeros = digits.len() - digits.trim_end_matches('0').len();
    (
        is_negative,
        Cow::Owned(kept.to_owned()),
        power.saturating_add_unsigned(zeros as u64),
    )
}

/// Of a document that is JSON: strings, numbers, words and punctuation.
fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n']);
        let first = rest.chars().next()?;
        let end = match first {
            '"' => string_end(rest),
            '{' | '}' | '[' | ']' | ',' | ':' => 1,
            _ => rest
                .find(|c: char| {
                    matches!(c, '{' | '}' | '[' | ']' | ',' | ':' | '"') || c.is_ascii_whitespace()
                })
                .unwrap_or(rest.len()),
        };
        let token = rest.get(..end)?;
        rest = &rest[end..];
        Some(token)
    })
}

fn string_end(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_written_on_lines_and_its_tokens_stay() {
        let text = r#"{"to":"DE12, [3]: \"x\"","n":12345678901234567890123,"f":1.0e2,"l":[1, {}],"e":[ ],"t":true}"#;
        let shown = pretty(text).unwrap();
        assert!(
            shown.contains("\n  \"n\": 12345678901234567890123,\n  \"f\": 1.0e2,"),
            "{shown}"
        );
        assert!(
            shown.contains("\"to\": \"DE12, [3]: \\\"x\\\"\"") && shown.contains("\"e\": [],"),
            "{shown}"
        );
        assert_eq!(
            tokens(&shown).collect::<Vec<_>>(),
            tokens(text).collect::<Vec<_>>()
        );
        assert_eq!(pretty("{\"a\": "), None);
        assert_eq!(pretty(&"[".repeat(5_000)), None);
    }

    #[test]
    fn numbers_that_would_change_are_found() {
        for kept in [
            "0",
            "-0",
            "9007199254740993",
            "18446744073709551615",
            "-9223372036854775808",
            "0.10",
            "1e3",
            "100",
            "1.5E-3",
        ] {
            assert_eq!(inexact_number(kept), None, "{kept}");
        }
        for changed in [
            "18446744073709551616",
            "123456789012345678901",
            "0.1000000000000000055",
            "1e999",
        ] {
            assert_eq!(inexact_number(changed), Some(changed));
        }
        assert_eq!(
            inexact_number(r#"{"iban": "123456789012345678901", "n": [1]}"#),
            None
        );
        assert_eq!(
            inexact_number(r#"{"n": [1, 123456789012345678901]}"#),
            Some("123456789012345678901")
        );
    }
}
