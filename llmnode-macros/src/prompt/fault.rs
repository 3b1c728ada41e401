//! Faults in a prompt, and their messages.
//!
//! The grammar finds a fault without words; they are here, so that all messages
//! about prompts read alike: what is wrong, then what to write. Two kinds get
//! better words where the fields are known, see
//! `node/variables/placeholder_hints.rs`.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use crate::diagnostics::suggest;

/// For suggestions.
const FILTERS: [&str; 6] = ["list", "json", "fence", "attach", "raw", "or"];

/// A fault and the bytes of the prompt's text that it is about.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault {
    pub(crate) range: Range<usize>,
    pub(crate) kind: FaultKind,
}

/// Each with the part of the text that its message quotes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum FaultKind {
    // `{` without `}`, `}` without `{`, and a brace that begins neither.
    Unclosed,
    UnmatchedClose,
    Text,
    /// `{% if a %}`.
    Tag(String),
    // `{}` and `{0}`.
    Positional(String),
    // `{ name }`, which Python allows.
    Spaces(String),
    // `{self}`, `{state}`, `{r#type}`.
    SelfValue,
    BareState,
    RawIdentifier(String),
    // `{a.b}`, and all else that is no name.
    FieldAccess(String),
    Expression(String),
    // A format that is neither one of prompts nor one of std.
    UnknownFilter(String),
    FilterArgument(&'static str),
    OrWithoutText,
    // `:fence` fills lines, and stands within one.
    FenceInLine(String),
    // `{:width$}`, and a width that std refuses.
    SpecParameter,
    SpecTooLarge,
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unclosed => {
                f.write_str("this `{` is never closed; write `{{` for a brace in the text")
            }
            Self::UnmatchedClose => {
                f.write_str("this `}` closes nothing; write `}}` for a brace in the text")
            }
            Self::Text => f.write_str(
                "this `{` opens no variable; write `{{` and `}}` for braces that belong to the \
                 text",
            ),
            Self::Tag(tag) => write!(
                f,
                "`{}` is of another template language, and a prompt has no conditions and no \
                 loops; compute the text by `with(n = …)`, and write `{{n}}`",
                beginning(tag)
            ),
            Self::Positional(text) => {
                let text = beginning(text);
                write!(
                    f,
                    "`{text}` is not a variable; prompt variables are the names of the node's \
                           fields"
                )
            }
            Self::Spaces(name) => {
                write!(f, "a variable has no spaces around it; write `{{{name}}}`")
            }
            Self::SelfValue => f.write_str("`self` is not a prompt variable; name a field"),
            Self::BareState => f.write_str(
                "`state` is not a value of the prompt; name a part of it, such as `{state.name}`",
            ),
            Self::RawIdentifier(name) => write!(f, "a prompt needs no `r#`; write `{{{name}}}`"),
            Self::FieldAccess(text) => f.write_str(&field_access(text)),
            Self::Expression(text) => f.write_str(&expression(text)),
            Self::UnknownFilter(name) => f.write_str(&unknown_filter(name)),
            Self::FilterArgument(name) => {
                write!(f, "the filter `{name}` takes no argument; write `:{name}`")
            }
            Self::OrWithoutText => {
                f.write_str("the filter `or` takes the text for an absent value; write `:or(none)`")
            }
            Self::FenceInLine(text) => {
                write!(
                    f,
                    "`{}` fills whole lines; put it on a line by itself",
                    beginning(text)
                )
            }
            Self::SpecParameter => f.write_str(
                "width and precision cannot come from a variable; write a number, such as `>8` or \
                 `.2`",
            ),
            Self::SpecTooLarge => f.write_str("width and precision go up to 65535"),
        }
    }
}

/// `{self.name}` only has a word too many; deeper paths need a variable.
fn field_access(text: &str) -> String {
    let path = text.strip_prefix("self.").unwrap_or(text);
    if path.len() < text.len() && !path.contains('.') {
        return format!("a prompt names a field without `self`; write `{{{path}}}`");
    }
    format!(
        "`{text}` reads inside a field; declare it by `with(n = self.{path})`, and write `{{n}}`"
    )
}

/// An expression of the state that parses becomes a variable as it is.
fn expression(text: &str) -> String {
    if let Some((name, conversion @ ("r" | "s" | "a"))) = text.split_once('!') {
        let format = if conversion == "s" { "" } else { ":?" };
        return format!("`!{conversion}` is Python's; write `{{{name}{format}}}`");
    }
    if reads_state(text) {
        return format!(
            "`{text}` is an expression; declare it by `with(n = {text})`, and write `{{n}}`"
        );
    }
    format!(
        "`{}` is an expression; a prompt variable is a field or a path such as `state.name`, so \
         declare it by `with(n = …)`, or add a field that holds the value",
        beginning(text)
    )
}

/// The nearest format, or all.
fn unknown_filter(name: &str) -> String {
    let shown = beginning(name);
    match suggest(name, FILTERS) {
        Some(near) => format!("unknown filter `{shown}`; did you mean `{}`?", usage(near)),
        None => format!(
            "unknown filter `{shown}`; expected `list`, `json`, `fence`, `attach`, `raw`, \
             `or(text)` or a format spec such as `?` or `>8`"
        ),
    }
}

/// Also short enough to be quoted in a message.
fn reads_state(text: &str) -> bool {
    text.starts_with("state.")
        && beginning(text) == text
        && syn::parse_str::<syn::Expr>(text).is_ok()
}

/// For messages: the matching brace may be far away.
fn beginning(text: &str) -> Cow<'_, str> {
    const MAX_CHARS: usize = 60;
    let line = text.split(['\n', '\r']).next().unwrap_or_default();
    let end = line
        .char_indices()
        .nth(MAX_CHARS)
        .map_or(line.len(), |(end, _)| end);
    if end == text.len() {
        text.into()
    } else {
        format!("{}…", line[..end].trim_end()).into()
    }
}

/// `or` is never written alone.
fn usage(filter: &str) -> &str {
    if filter == "or" { "or(text)" } else { filter }
}
