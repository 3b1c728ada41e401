//! The prompt grammar, as a pure function over `&str`.
//!
//! ```text
//! prompt      = { text | "{{" | "}}" | placeholder }
//! placeholder = "{" variable [ ":" format ] "}"
//! variable    = field | "state" { "." ( identifier | tuple index ) }
//! format      = "list" | "json" | "fence" | "attach" | "raw" | "or(" text ")" | a format spec of std without `$` and `.*`
//! ```
//!
//! Parsing continues after a fault, so that one run reports all of them.

use std::collections::HashMap;
use std::ops::Range;

use super::fault::{Fault, FaultKind};
use super::spec::{self, SpecFault};

/// A piece of the prompt, with the bytes of the source that it was read from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Segment {
    pub(crate) range: Range<usize>,
    pub(crate) kind: Piece,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    /// Doubled braces are already single.
    Text(String),
    Variable {
        variable: Variable,
        format: Format,
    },
}

/// What a placeholder names: a field, or a path into the state without its first
/// word.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Variable {
    Field(String),
    State(Vec<String>),
}

/// How the value is written; `Spec` is one of std.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Format {
    Plain,
    List,
    Json,
    Fence,
    Attach,
    Raw,
    Or(String),
    Spec(String),
}

/// Without faults, the segments concatenate to the prompt.
#[derive(Debug, Default)]
pub(crate) struct Template {
    pub(crate) segments: Vec<Segment>,
    pub(crate) faults: Vec<Fault>,
}

/// Never fails: what could not be read is a fault, and the rest is there.
pub(crate) fn parse(source: &str) -> Template {
    let template = Template::default();
    let mut parser = Parser {
        source,
        at: 0,
        text: String::new(),
        text_start: 0,
        pairs: None,
        has_tag: false,
        template,
    };
    parser.run();
    parser.template
}

/// One pass over the text. A placeholder never goes over another brace, so there is
/// no stack.
struct Parser<'a> {
    source: &'a str,
    // The byte that is read next.
    at: usize,
    /// Begins at `text_start`; doubled braces are already single.
    text: String,
    text_start: usize,
    /// Matching braces; computed only when one of them opens text.
    pairs: Option<HashMap<usize, usize>>,
    // A tag of another template language was reported.
    has_tag: bool,
    template: Template,
}

impl<'a> Parser<'a> {
    /// Doubled braces are decided first: `{{name}}` is text.
    fn run(&mut self) {
        while let Some(next) = self.rest().chars().next() {
            match next {
                '{' | '}' if self.rest()[1..].starts_with(next) => {
                    self.text.push(next);
                    self.at += 2;
                }
                '{' => self.placeholder(),
                '}' => {
                    self.fault(self.at..self.at + 1, FaultKind::UnmatchedClose);
                    self.at += 1;
                }
                other => {
                    self.text.push(other);
                    self.at += other.len_utf8();
                }
            }
        }
        self.end_text();
    }

    fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    fn fault(&mut self, range: Range<usize>, kind: FaultKind) {
        self.template.faults.push(Fault { range, kind });
    }

    /// The text so far becomes a segment, if there is any.
    fn end_text(&mut self) {
        if self.text_start < self.at {
            let kind = Piece::Text(std::mem::take(&mut self.text));
            self.template.segments.push(Segment {
                range: self.text_start..self.at,
                kind,
            });
        }
    }

    /// Three questions in this order: is it a tag of another language, is it text
    /// that has braces (JSON), is it closed? Only then are name and format read.
    fn placeholder(&mut self) {
        let open = self.at;
        let rest = &self.rest()[1..];
        if let Some(end) = tag_end(rest) {
            // The tags of one template are one mistake.
            if !self.has_tag {
                self.has_tag = true;
                let tag = self.source[open..open + 1 + end].to_owned();
                self.fault(open..open + 1 + end, FaultKind::Tag(tag));
            }
            self.at = open + 1 + end;
            return;
        }
        if opens_text(rest) {
            self.fault(open..open + 1, FaultKind::Text);
            // The text up to the matching brace is passed over, so that a JSON
            // example in a prompt is one fault and not one for each brace.
            let pairs = self.pairs.get_or_insert_with(|| pairs(self.source));
            self.at = pairs.get(&open).copied().unwrap_or(open + 1);
            return;
        }
        let Some(length) = rest
            .find(['{', '}'])
            .filter(|&end| rest[end..].starts_with('}'))
        else {
            self.fault(open..open + 1, FaultKind::Unclosed);
            self.at = open + 1;
            return;
        };
        self.end_text();
        self.at = open + length + 2;
        self.text_start = self.at;
        match read_placeholder(&rest[..length]) {
            Ok((variable, format)) => {
                if format == Format::Fence && !is_alone_on_line(self.source, &(open..self.at)) {
                    self.fault(
                        open..self.at,
                        FaultKind::FenceInLine(self.source[open..self.at].to_owned()),
                    );
                }
                let kind = Piece::Variable { variable, format };
                self.template.segments.push(Segment {
                    range: open..self.at,
                    kind,
                });
            }
            Err((range, kind)) => {
                let range = range.map_or(open..self.at, |inner| {
                    open + 1 + inner.start..open + 1 + inner.end
                });
                self.fault(range, kind);
            }
        }
    }
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() && c != '\n'
}

/// A fence is several lines, which begin where its line does.
fn is_alone_on_line(source: &str, range: &Range<usize>) -> bool {
    let before = source[..range.start].trim_end_matches(is_blank);
    let behind = source[range.end..].trim_start_matches(is_blank);
    (before.is_empty() || before.ends_with('\n')) && (behind.is_empty() || behind.starts_with('\n'))
}

/// Where `% if a %}` ends.
fn tag_end(rest: &str) -> Option<usize> {
    let inside = rest.strip_prefix('%')?;
    let length = inside.find(['{', '}'])?;
    let closes = inside[..length].ends_with('%') && inside[length..].starts_with('}');
    closes.then_some('%'.len_utf8() + length + '}'.len_utf8())
}

/// Text, as in JSON, rather than an attempt at a variable.
/// A letter or `_` begins a name. A bracket or a sign may begin an expression,
/// unless a line ends behind the brace.
fn opens_text(rest: &str) -> bool {
    match rest.trim_start().chars().next() {
        None => false,
        Some('{' | '}' | ':' | '(' | '&' | '*' | '!') => rest.starts_with(['\n', '\r']),
        Some(first) => !(first == '_' || first.is_alphanumeric()) || rest.starts_with(['\n', '\r']),
    }
}

/// Maps opening braces to the end of the closing ones, in one pass, since many may be looked up.
fn pairs(source: &str) -> HashMap<usize, usize> {
    let mut open = vec![];
    let mut pairs = HashMap::new();
    for (at, found) in source.match_indices(['{', '}']) {
        if found == "{" {
            open.push(at);
        } else if let Some(open) = open.pop() {
            pairs.insert(open, at + 1);
        }
    }
    pairs
}

/// Without a range, the fault is the entire placeholder.
type PlaceholderResult<T> = Result<T, (Option<Range<usize>>, FaultKind)>;

/// The format begins behind the first colon; `::` is a path, and a fault of the
/// name.
fn read_placeholder(inside: &str) -> PlaceholderResult<(Variable, Format)> {
    let colon = inside
        .find(':')
        .filter(|&at| !inside[at..].starts_with("::"));
    let name = &inside[..colon.unwrap_or(inside.len())];
    let variable = read_variable(name, inside)?;
    let Some(colon) = colon else {
        return Ok((variable, Format::Plain));
    };
    let format =
        read_format(&inside[colon + 1..]).map_err(|kind| (Some(colon + 1..inside.len()), kind))?;
    Ok((variable, format))
}

/// Each mistake has its own kind, since each has another remedy.
fn read_variable(name: &str, inside: &str) -> PlaceholderResult<Variable> {
    let trimmed = name.trim();
    if trimmed.is_empty() || trimmed.chars().all(|c| c.is_ascii_digit()) {
        return Err((None, FaultKind::Positional(format!("{{{inside}}}"))));
    }
    let kind = if let Some(raw) = trimmed.strip_prefix("r#").filter(|raw| is_identifier(raw)) {
        FaultKind::RawIdentifier(raw.to_owned())
    } else if let Some(path) = trimmed.strip_prefix("state.") {
        let path: Vec<_> = path.split('.').map(str::to_owned).collect();
        if !path.iter().all(|step| is_step(step)) {
            FaultKind::Expression(trimmed.to_owned())
        } else if trimmed.len() < name.len() {
            FaultKind::Spaces(trimmed.to_owned())
        } else {
            return Ok(Variable::State(path));
        }
    } else if trimmed == "state" {
        FaultKind::BareState
    } else if trimmed == "self" {
        FaultKind::SelfValue
    } else if is_identifier(trimmed) {
        if trimmed.len() == name.len() {
            return Ok(Variable::Field(name.to_owned()));
        }
        FaultKind::Spaces(trimmed.to_owned())
    } else if trimmed.split('.').all(is_step) {
        FaultKind::FieldAccess(trimmed.to_owned())
    } else {
        FaultKind::Expression(trimmed.to_owned())
    };
    Err((Some(0..name.len()), kind))
}

/// A name with an argument is a format of prompts; all else is left to the specs of
/// std.
fn read_format(format: &str) -> Result<Format, FaultKind> {
    let name_length = format
        .find(|c: char| !(c == '_' || c.is_alphanumeric()))
        .unwrap_or(format.len());
    let (name, argument) = format.split_at(name_length);
    let argument = argument
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'));
    match (name, argument) {
        ("list", None) if format == name => Ok(Format::List),
        ("json", None) if format == name => Ok(Format::Json),
        ("fence", None) if format == name => Ok(Format::Fence),
        ("attach", None) if format == name => Ok(Format::Attach),
        ("raw", None) if format == name => Ok(Format::Raw),
        ("or", Some(text)) if !text.is_empty() => Ok(Format::Or(text.to_owned())),
        ("or", _) => Err(FaultKind::OrWithoutText),
        ("list", Some(_)) => Err(FaultKind::FilterArgument("list")),
        ("json", Some(_)) => Err(FaultKind::FilterArgument("json")),
        ("fence", Some(_)) => Err(FaultKind::FilterArgument("fence")),
        ("attach", Some(_)) => Err(FaultKind::FilterArgument("attach")),
        ("raw", Some(_)) => Err(FaultKind::FilterArgument("raw")),
        _ => match spec::check(format) {
            Ok(()) if format.is_empty() => Ok(Format::Plain),
            Ok(()) => Ok(Format::Spec(format.to_owned())),
            Err(SpecFault::Unknown) => Err(FaultKind::UnknownFilter(format.to_owned())),
            Err(SpecFault::Parameter) => Err(FaultKind::SpecParameter),
            Err(SpecFault::TooLarge) => Err(FaultKind::SpecTooLarge),
        },
    }
}

/// A name, or the number of a tuple.
fn is_step(step: &str) -> bool {
    is_identifier(step) || (!step.is_empty() && step.bytes().all(|b| b.is_ascii_digit()))
}

/// A rough check, since names are then compared with valid ones.
fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c == '_' || c.is_alphabetic())
        && name.chars().all(|c| c == '_' || c.is_alphanumeric())
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
