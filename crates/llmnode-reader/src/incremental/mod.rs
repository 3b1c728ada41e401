//! Parses JSON while it is being written; the value only grows.
//!
//! Each character is read once. A string exists from its first quotation mark on, a
//! member when its value begins, a number or word when it is complete. So each
//! value is a part of every later one. Where that would not hold, as in broken
//! JSON, parsing stops, and the value stays as it is: the whole answer is read by
//! the reader proper, which says what is wrong.
//!
//! A piece goes through `begin.rs` until the JSON begins, then character by
//! character through `take`, but for plain text within strings, which is taken as a
//! whole.

mod begin;
mod string;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use self::begin::Preamble;

/// As deep as serde_json reads.
const MAX_DEPTH: usize = 128;

/// Bytes. Keys are compared at each write below them.
const MAX_KEY: usize = 1024;

/// How far an escape in a string was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Escape {
    #[default]
    None,
    Begun,
    /// The number of digits of `\u` so far and their value, and the first half of a surrogate pair.
    Unicode {
        digits: u8,
        unit: u16,
        high: Option<u16>,
    },
    HighSurrogate(u16),
    HighSurrogateBackslash(u16),
}

/// The value of a JSON text that is still being written, as a model streams it. It
/// only grows: each value is a part of every later one. Thoughts, prose and a code
/// fence before the JSON are skipped.
///
/// ```
/// use llmnode_reader::IncrementalParser;
/// use serde_json::json;
///
/// let mut parser = IncrementalParser::default();
/// parser.push(r#"{"steps": [{"name": "mix"}, {"na"#);
/// assert_eq!(parser.value(), Some(&json!({"steps": [{"name": "mix"}, {}]})));
/// // Only what is complete.
/// assert_eq!(parser.items(&["steps".to_owned()]), [json!({"name": "mix"})]);
/// ```
#[derive(Debug, Default)]
pub struct IncrementalParser {
    /// What is before the JSON.
    begin: Preamble,
    root: Option<Value>,
    /// The lists and objects that are not closed, from the outside in.
    open: Vec<Container>,
    state: ParseState,
    /// The number or word that is being written.
    token: String,
    escape: Escape,
    /// Parsing has stopped within a string, which is not complete then.
    ended_in_string: bool,
}

/// A list or an object that is not closed. Its key is that of the member that is being written.
#[derive(Debug, Default)]
struct Container {
    is_object: bool,
    key: String,
}

/// What may come next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ParseState {
    #[default]
    Value,
    FirstItem,
    Key,
    FirstKey,
    InKey,
    Colon,
    InString,
    InToken,
    After,
    End,
}

impl IncrementalParser {
    /// Adds what was written.
    pub fn push(&mut self, text: &str) {
        let begun = self.begin.push(text);
        self.read_str(begun.as_deref().unwrap_or(text));
    }

    /// Ends the text. Only its end completes a number or word that is the whole value.
    pub fn end(&mut self) {
        if self.state == ParseState::InToken && self.open.is_empty() {
            self.end_token();
        }
    }

    /// Returns the value so far; `None` before it begins.
    pub fn value(&self) -> Option<&Value> {
        self.root.as_ref()
    }

    /// Returns the complete items of the list at `path`; empty if there is no list.
    pub fn items(&self, path: &[String]) -> &[Value] {
        let mut value = self.root.as_ref();
        for name in path {
            value = value.and_then(|value| value.get(name));
        }
        let Some(Value::Array(items)) = value else {
            return &[];
        };
        // The last item is left out while it is being written.
        let is_incomplete = self.is_open_at(path) && self.writes_within(path.len() + 1);
        let complete = items.len() - usize::from(is_incomplete);
        &items[..complete]
    }

    /// Whether the list at this path is not closed.
    fn is_open_at(&self, path: &[String]) -> bool {
        if self.open.len() <= path.len() {
            return false;
        }
        self.open
            .iter()
            .zip(path)
            .all(|(open, name)| open.is_object && open.key == *name)
    }

    /// Whether a value within the container of this depth is being written.
    fn writes_within(&self, depth: usize) -> bool {
        self.open.len() > depth || self.state == ParseState::InString || self.ended_in_string
    }

    /// Reads a piece of the JSON itself.
    fn read_str(&mut self, text: &str) {
        if self.begin.is_open() {
            return;
        }
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            if self.state == ParseState::End {
                return;
            }
            // One lookup of the value's place for each piece of plain text.
            let length = self.plain_length(rest);
            if length > 0 {
                self.write(&rest[..length]);
                rest = &rest[length..];
                continue;
            }
            if let Some(prose) = self.take(c) {
                self.begin = prose;
                return self.push(rest);
            }
            rest = &rest[c.len_utf8()..];
        }
    }

    /// How much of a string's text comes before its next mark or escape.
    fn plain_length(&self, rest: &str) -> usize {
        if self.state != ParseState::InString || self.escape != Escape::None {
            return 0;
        }
        rest.find(['"', '\\']).unwrap_or(rest.len())
    }

    /// Takes one character. Returns what the text is instead, if a word was no
    /// JSON: then it is prose, and JSON may follow.
    fn take(&mut self, c: char) -> Option<Preamble> {
        match (self.state, c) {
            (ParseState::InString | ParseState::InKey, _) => self.in_string(c),
            (ParseState::InToken, ',' | '}' | ']') if !self.open.is_empty() => {
                self.end_token();
                return self.take(c);
            }
            (ParseState::InToken, c) if c.is_whitespace() => {
                if self.open.is_empty() {
                    // Only at the end it is known whether more words follow.
                    self.token.push(c);
                } else {
                    self.end_token();
                }
            }
            (ParseState::InToken, _) if self.token.ends_with(char::is_whitespace) => {
                return Some(self.is_prose());
            }
            (ParseState::InToken, c) => self.token.push(c),
            (_, c) if c.is_whitespace() => {}
            (ParseState::FirstItem, ']') => self.close(false),
            (ParseState::Value | ParseState::FirstItem, c) => self.begin_value(c),
            (ParseState::FirstKey, '}') => self.close(true),
            (ParseState::Key | ParseState::FirstKey, '"') => {
                self.state = ParseState::InKey;
                if let Some(open) = self.open.last_mut() {
                    open.key.clear();
                }
            }
            (ParseState::Colon, ':') => self.state = ParseState::Value,
            (ParseState::After, ',') => self.after_comma(),
            (ParseState::After, '}') => self.close(true),
            (ParseState::After, ']') => self.close(false),
            _ => self.state = ParseState::End,
        }
        None
    }

    /// Starts again in prose. The word that seemed to be a value is dropped.
    fn is_prose(&mut self) -> Preamble {
        let begin = Preamble::prose(self.token.contains('\n'));
        self.token.clear();
        self.state = ParseState::Value;
        begin
    }

    /// Begins a value by its first character.
    fn begin_value(&mut self, c: char) {
        match c {
            '{' | '[' if self.open.len() == MAX_DEPTH => self.state = ParseState::End,
            '{' => {
                self.put(Value::Object(Map::new()));
                self.begin_container(true);
                self.state = ParseState::FirstKey;
            }
            '[' => {
                self.put(Value::Array(Vec::new()));
                self.begin_container(false);
                self.state = ParseState::FirstItem;
            }
            '"' => {
                self.put(Value::String(String::new()));
                self.state = ParseState::InString;
            }
            c => {
                self.token.push(c);
                self.state = ParseState::InToken;
            }
        }
    }

    fn begin_container(&mut self, is_object: bool) {
        self.open.push(Container {
            is_object,
            key: String::new(),
        });
    }

    /// In an object a key must follow, in a list a value: JSON has no comma before a bracket.
    fn after_comma(&mut self) {
        self.state = match self.open.last() {
            Some(open) if open.is_object => ParseState::Key,
            Some(_) => ParseState::Value,
            None => ParseState::End,
        };
    }

    /// Closes the innermost list or object. A bracket of the wrong kind ends the
    /// parsing, with the container open.
    fn close(&mut self, is_object: bool) {
        self.state = match self.open.pop() {
            Some(open) if open.is_object == is_object && !self.open.is_empty() => ParseState::After,
            Some(open) if open.is_object == is_object => ParseState::End,
            open => {
                self.open.extend(open);
                ParseState::End
            }
        };
    }

    /// Ends a key. A duplicate ends the parsing: it would replace a value that was already shown.
    fn end_key(&mut self) {
        let key = self.open.last().map_or("", |open| open.key.as_str());
        let is_new = match self.innermost() {
            Some(object) => object.get(key).is_none(),
            None => false,
        };
        self.state = if is_new {
            ParseState::Colon
        } else {
            ParseState::End
        };
    }

    /// Ends a number or a word, which is a value only if it is JSON.
    fn end_token(&mut self) {
        let token = std::mem::take(&mut self.token);
        self.state = match serde_json::from_str::<Value>(&token) {
            Ok(value @ (Value::Bool(_) | Value::Null | Value::Number(_))) => {
                self.put(value);
                ParseState::After
            }
            _ => ParseState::End,
        };
    }

    /// Puts a value where the next one belongs.
    fn put(&mut self, value: Value) {
        let Some(open) = self.open.last() else {
            self.root = Some(value);
            return;
        };
        match innermost_mut(&mut self.root, &self.open) {
            Some(Value::Array(items)) => items.push(value),
            Some(Value::Object(members)) => {
                members.insert(open.key.clone(), value);
            }
            _ => self.state = ParseState::End,
        }
    }

    /// The list or object that is being written, or the value itself.
    fn innermost(&self) -> Option<&Value> {
        let mut value = self.root.as_ref()?;
        for open in outer(&self.open) {
            value = match value {
                Value::Array(items) => items.last()?,
                value => value.get(&open.key)?,
            };
        }
        Some(value)
    }
}

/// As `innermost`, to write to it.
fn innermost_mut<'v>(root: &'v mut Option<Value>, open: &[Container]) -> Option<&'v mut Value> {
    let mut value = root.as_mut()?;
    for open in outer(open) {
        value = match value {
            Value::Array(items) => items.last_mut()?,
            value => value.get_mut(&open.key)?,
        };
    }
    Some(value)
}

/// All but the innermost.
fn outer(open: &[Container]) -> &[Container] {
    &open[..open.len().saturating_sub(1)]
}
