//! Texts that are nothing but calls in a notation that is not read.
//!
//! It is enough that a text looks like calls from its begin to its end: the model
//! is then asked again, or told which tool it meant. No arguments are taken out of
//! it.

use super::call::InText;

/// Before the name of a tool in harmony, the notation of gpt-oss.
const RECIPIENT: &str = "to=functions.";
/// What may stand before the recipient. Servers drop the marks around these words.
const HEADERS: [&str; 4] = ["commentary", "analysis", "assistant", "|>"];
/// The longest mark that begins a text.
const LONGEST_MARK: usize = 64;

/// In a mark, they say that it is one of calls: `<tool_call>`, `<function_calls>`,
/// `<｜tool▁calls▁begin｜>`, `[TOOL_CALLS]`.
const WORDS: [&str; 4] = ["tool", "function", "invoke", "call"];

/// Whether the text is such calls, and of which of these tools.
pub(super) fn unread_calls(text: &str, tools: &[&str]) -> Option<InText> {
    // All of these notations end so, and few sentences do.
    if !text.ends_with(['}', '>', ']']) {
        return None;
    }
    if let Some(at) = text.rfind(RECIPIENT)
        && is_header(&text[..at])
        && text[at..].contains('{')
    {
        let name = &text[at + RECIPIENT.len()..];
        let end = name.find(|c| !is_of_name(c)).unwrap_or(name.len());
        let tool = tools.iter().find(|tool| **tool == &name[..end]);
        return Some(InText::Unread {
            tool: tool.map(|tool| (*tool).to_owned()),
        });
    }
    let behind = behind_mark(text)?;
    let tool = tools.iter().find(|tool| names(behind, tool))?;
    Some(InText::Unread {
        tool: Some((*tool).to_owned()),
    })
}

/// Whether what stands before the recipient is a header, or nothing.
fn is_header(before: &str) -> bool {
    let before = before.trim_end();
    before.is_empty() || HEADERS.iter().any(|header| before.ends_with(header))
}

/// What follows the mark of calls that the text begins with. The name of a tool may
/// be a part of the mark: `<function=name>`.
fn behind_mark(text: &str) -> Option<&str> {
    let close = match text.chars().next()? {
        '<' => '>',
        '[' => ']',
        _ => return None,
    };
    let end = text.find(close)?;
    if end > LONGEST_MARK {
        return None;
    }
    let mark = text[1..end].to_ascii_lowercase();
    let word = mark.split(['=', ' ']).next()?;
    let is_of_calls = WORDS.iter().any(|part| word.contains(part));
    // A mark alone is a word about calls.
    let is_filled = text[end + 1..].contains(['{', '<', '[', '=']);
    if !is_of_calls || !is_filled {
        return None;
    }
    Some(&text[1 + word.len()..])
}

/// Whether the text names the tool where a call does: in a mark, in quotation
/// marks, or alone between marks.
fn names(text: &str, tool: &str) -> bool {
    for (at, _) in text.match_indices(tool) {
        let before = text[..at].trim_end();
        let behind = text[at + tool.len()..].trim_start();
        let begins = before.ends_with(['=', '"', '\'', '>', ']', '.', ':']);
        let ends = behind.starts_with(['>', '"', '\'', '<', '{', '[', '(', ':', ',']);
        if begins && ends {
            return true;
        }
    }
    false
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}
