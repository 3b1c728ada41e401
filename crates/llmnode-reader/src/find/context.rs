//! Looks at the text around a bracket, to decide what belongs to the JSON.
//!
//! Nothing here parses. Each function looks at a few characters before or behind a
//! bracket and answers one question: may JSON begin here, does the JSON stand
//! alone, is it all that a tag holds. A wrong *yes* costs a question to the model;
//! a wrong *no* could let an example be taken for the answer, so in doubt the
//! answer is yes.

use std::ops::Range;

use super::super::json::Json;
use super::super::repair::{SyntaxError, is_quote, name_length};
use crate::text::floor_char_boundary;

/// Whether JSON, or what is nearly JSON, may begin at this bracket. `false` for
/// words in brackets, such as `{name}`.
pub(super) fn begins_json(text: &str, begin: usize) -> bool {
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
    if text[begin..].starts_with('{') {
        begins_object(first, inner)
    } else {
        begins_list(first, inner)
    }
}

/// A key without quotation marks needs its colon. Two colons are a path of Rust or C++.
fn begins_object(first: char, inner: &str) -> bool {
    if matches!(first, '}' | '{') {
        return true;
    }
    let name = name_length(inner);
    let behind = inner[name..].trim_start();
    name > 0 && behind.starts_with(':') && !behind.starts_with("::")
}

/// Words without quotation marks are items only with a comma between them: `[Red, Blue]`.
fn begins_list(first: char, inner: &str) -> bool {
    if matches!(first, '{' | '[' | ']') {
        return true;
    }
    let unsigned = inner.trim_start_matches('-');
    if unsigned.starts_with(|c: char| c.is_ascii_digit()) {
        return true;
    }
    let name = name_length(inner);
    let is_item = name > 0 && inner[name..].trim_start().starts_with(',');
    is_item || inner.starts_with("# ")
}

/// Whether it could be an answer between sentences: any list without objects is a
/// citation in prose, and `{}` a mention.
pub(super) fn holds_members(json: &Json<'_>) -> bool {
    match json {
        Json::Object(members) => !members.is_empty(),
        Json::Array(items) => items.iter().any(holds_members),
        _ => false,
    }
}

/// Why the JSON in this part is only a piece of something: of a word, of code, of
/// larger JSON that does not parse.
///
/// The text before it is looked at first, so that the fault is at the first place
/// where something is odd.
pub(super) fn standalone_fault(text: &str, part: Range<usize>) -> Option<SyntaxError> {
    if is_continuation(&text[..part.start]) {
        let what = "the JSON seems to be part of something larger; answer with one complete JSON \
                    value only";
        return Some(SyntaxError {
            at: part.start,
            what: Some(what.into()),
        });
    }
    if is_continued(&text[part.end..]) {
        let what = "the text after the JSON seems to continue it; answer with one complete JSON \
                    value only";
        return Some(SyntaxError {
            at: part.end,
            what: Some(what.into()),
        });
    }
    None
}

/// Whether what ends here goes on in the JSON behind it: a word, a bracket, or a
/// quoted key with its colon.
fn is_continuation(before: &str) -> bool {
    if before.ends_with(is_glue) {
        return true;
    }
    match before.trim_end().strip_suffix(':') {
        Some(key) => key.trim_end().ends_with(is_quote),
        None => false,
    }
}

/// Whether this goes on with the JSON before it: at once, or behind space with a
/// bracket, a comma or a key.
fn is_continued(behind: &str) -> bool {
    if behind.starts_with(|c| is_glue(c) || matches!(c, ',' | ':')) {
        return true;
    }
    let rest = behind.trim_start();
    rest.starts_with(['}', ']', ',']) || begins_with_key(rest)
}

/// Whether a key on one line, in double quotes, and its colon begin here.
fn begins_with_key(rest: &str) -> bool {
    // A longer key is none; without a bound, each candidate could read the rest of the text.
    const LONGEST: usize = 100;
    let near = &rest[..floor_char_boundary(rest, LONGEST)];
    let Some(quoted) = near.strip_prefix('"') else {
        return false;
    };
    match quoted.split_once('"') {
        Some((key, behind)) => !key.contains('\n') && behind.trim_start().starts_with(':'),
        None => false,
    }
}

/// What sticks to JSON beside it. A backtick does not: JSON in a sentence is often quoted by it.
fn is_glue(c: char) -> bool {
    if c == '`' {
        return false;
    }
    c.is_alphanumeric() || c == '_' || is_quote(c) || "([{}])".contains(c)
}

/// The brackets outside of strings in double quotes, and whether they open.
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

/// The byte behind the bracket that closes the one at `begin`. Kinds of brackets
/// are not told apart: the JSON may be broken.
pub(super) fn matching_end(text: &str, begin: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, opens) in brackets(&text[begin..]) {
        if opens {
            depth += 1;
        } else {
            depth = depth.saturating_sub(1);
        }
        if depth == 0 {
            return Some(begin + at + 1);
        }
    }
    None
}

/// Whether only space is between the begin of a line and what follows this text.
pub(super) fn begins_line(before: &str) -> bool {
    for c in before.chars().rev() {
        if c == '\n' {
            return true;
        }
        if !c.is_whitespace() {
            return false;
        }
    }
    true
}

/// Whether the part is all that a tag holds, as in `<answer>[3]</answer>`.
pub(super) fn fills_tag(text: &str, part: &Range<usize>) -> bool {
    let Some((_, tag)) = tag_before(&text[..part.start]) else {
        return false;
    };
    let behind = text[part.end..].trim_start();
    let Some(name) = behind.strip_prefix("</") else {
        return false;
    };
    match name.strip_prefix(tag) {
        Some(end) => end.starts_with('>'),
        None => false,
    }
}

/// The text before the tag that ends here, and the tag's name. Tags are looked for
/// only as far back as one may be long.
pub(super) fn tag_before(text: &str) -> Option<(&str, &str)> {
    const LONGEST: usize = 100;
    let inner = text.trim_end().strip_suffix('>')?;
    let near = floor_char_boundary(inner, inner.len().saturating_sub(LONGEST));
    let begin = near + inner[near..].rfind(['<', '>'])?;
    // Behind a `>` it is the end of an arrow or a comparison.
    let behind = inner[begin..].strip_prefix('<')?;
    let name = &behind[..name_length(behind)];
    if name.is_empty() {
        return None;
    }
    Some((&text[..begin], name))
}
