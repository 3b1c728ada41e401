//! Looks at the text around a bracket, to decide what belongs to the JSON.

use std::ops::Range;

use super::super::json::Json;
use super::super::repair::{SyntaxError, is_quote, name_length};
use crate::text::floor_char_boundary;

pub(super) fn begins_json(text: &str, begin: usize) -> bool {
    let is_object = text[begin..].starts_with('{');
    let inner = text[begin + 1..].trim_start();
    let Some(first) = inner.chars().next() else {
        return false;
    };
    if inner.starts_with("```") {
        return false;
    }
    if is_quote(first) || inner.starts_with("//") || inner.starts_with("/*") {
        return true;
    }
    if !is_object {
        let digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
        let name = name_length(inner);
        let is_item = name > 0 && inner[name..].trim_start().starts_with(',');
        return matches!(first, '{' | '[' | ']')
            || digit(inner.trim_start_matches('-'))
            || is_item
            || inner.starts_with("# ");
    }
    let name = name_length(inner);
    let behind = inner[name..].trim_start();
    matches!(first, '}' | '{') || (name > 0 && behind.starts_with(':') && !behind.starts_with("::"))
}

/// Any list without objects is a citation in prose, and `{}` a mention.
pub(super) fn holds_members(json: &Json<'_>) -> bool {
    match json {
        Json::Object(members) => !members.is_empty(),
        Json::Array(items) => items.iter().any(holds_members),
        _ => false,
    }
}

pub(super) fn standalone_fault(text: &str, part: Range<usize>) -> Option<SyntaxError> {
    let before = &text[..part.start];
    let behind = &text[part.end..];
    let is_glue = |c: char| {
        c.is_alphanumeric() || c == '_' || is_quote(c) && c != '`' || "([{}])".contains(c)
    };
    let last = before.chars().next_back();
    let is_member = before
        .trim_end()
        .strip_suffix(':')
        .is_some_and(|key| key.trim_end().ends_with(is_quote));
    if last.is_some_and(is_glue) || is_member {
        let what = "the JSON seems to be part of something larger; answer with one complete JSON value only";
        return Some(SyntaxError {
            at: part.start,
            what: Some(what.into()),
        });
    }
    let next = behind.chars().next();
    let rest = behind.trim_start();
    let near = &rest[..floor_char_boundary(rest, 100)];
    let is_key = near
        .strip_prefix('"')
        .and_then(|rest| rest.split_once('"'))
        .is_some_and(|(key, rest)| !key.contains('\n') && rest.trim_start().starts_with(':'));
    let closes = rest.starts_with(['}', ']', ',']) || is_key;
    if next.is_some_and(|c| is_glue(c) || matches!(c, ',' | ':')) || closes {
        let what = "the text after the JSON seems to continue it; answer with one complete JSON value only";
        return Some(SyntaxError {
            at: part.end,
            what: Some(what.into()),
        });
    }
    None
}

pub(in super::super) fn brackets(text: &str) -> impl Iterator<Item = (usize, bool)> {
    let mut quoted = false;
    let mut escaped = false;
    text.bytes().enumerate().filter_map(move |(at, byte)| {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = quoted,
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => return Some((at, true)),
            b'}' | b']' if !quoted => return Some((at, false)),
            _ => {}
        }
        None
    })
}

pub(super) fn matching_end(text: &str, begin: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let last = brackets(&text[begin..]).find(|(_, opens)| {
        depth = if *opens {
            depth + 1
        } else {
            depth.saturating_sub(1)
        };
        depth == 0
    });
    last.map(|(at, _)| begin + at + 1)
}

pub(super) fn begins_line(before: &str) -> bool {
    let mut before = before
        .chars()
        .rev()
        .skip_while(|c| *c != '\n' && c.is_whitespace());
    before.next().is_none_or(|c| c == '\n')
}

/// As in `<answer>[3]</answer>`.
pub(super) fn fills_tag(text: &str, part: &Range<usize>) -> bool {
    let Some((_, tag)) = tag_before(&text[..part.start]) else {
        return false;
    };
    let end = text[part.end..]
        .trim_start()
        .strip_prefix("</")
        .and_then(|end| end.strip_prefix(tag));
    end.is_some_and(|end| end.starts_with('>'))
}

pub(super) fn tag_before(text: &str) -> Option<(&str, &str)> {
    const LONGEST: usize = 100;
    let inner = text.trim_end().strip_suffix('>')?;
    let near = floor_char_boundary(inner, inner.len().saturating_sub(LONGEST));
    let begin = near
        + inner[near..]
            .rfind(['<', '>'])
            .filter(|at| inner[near + at..].starts_with('<'))?;
    let name = &inner[begin + 1..][..name_length(&inner[begin + 1..])];
    (!name.is_empty()).then_some((&text[..begin], name))
}
