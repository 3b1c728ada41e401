//! Parses JSON while it is being written; the value only grows.
//!
//! Each character is read once. A string exists from its first quotation mark on, a member when its value begins, a number or
//! word when it is complete. So each value is a part of every later one. Where that would not hold, as in broken JSON, parsing
//! stops.

mod begin;
mod string;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use self::begin::Preamble;

const MAX_DEPTH: usize = 128;

/// Bytes. Keys are compared at each write below them.
const MAX_KEY: usize = 1024;

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

/// The value of a JSON text that is still being written, as a model streams it. It only grows: each value is a part of
/// every later one. Thoughts, prose and a code fence before the JSON are skipped.
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
    begin: Preamble,
    root: Option<Value>,
    open: Vec<Container>,
    state: ParseState,
    token: String,
    escape: Escape,
    ended_in_string: bool,
}

#[derive(Debug, Default)]
struct Container {
    is_object: bool,
    key: String,
}

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
        let found = path
            .iter()
            .try_fold(self.root.as_ref(), |value, name| Some(value?.get(name)));
        let Some(Value::Array(items)) = found.flatten() else {
            return &[];
        };
        let mut open = self.open.iter();
        let is_open = path.iter().all(|name| {
            open.next()
                .is_some_and(|open| open.is_object && open.key == *name)
        }) && open.next().is_some();
        let is_written =
            open.next().is_some() || self.state == ParseState::InString || self.ended_in_string;
        &items[..items.len() - usize::from(is_open && is_written)]
    }

    fn read_str(&mut self, text: &str) {
        if self.begin.is_open() {
            return;
        }
        let mut rest = text;
        while let Some(c) = rest
            .chars()
            .next()
            .filter(|_| self.state != ParseState::End)
        {
            let length = match self.state {
                // One lookup of the value's place for each piece of plain text.
                ParseState::InString if self.escape == Escape::None => rest
                    .find(['"', '\\'])
                    .filter(|at| *at > 0)
                    .unwrap_or(if matches!(c, '"' | '\\') {
                        0
                    } else {
                        rest.len()
                    }),
                _ => 0,
            };
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

    fn take(&mut self, c: char) -> Option<Preamble> {
        match (self.state, c) {
            (ParseState::InString | ParseState::InKey, _) => self.in_string(c),
            (ParseState::InToken, ',' | '}' | ']') if !self.open.is_empty() => {
                self.end_token();
                return self.take(c);
            }
            (ParseState::InToken, c) if c.is_whitespace() => {
                if self.open.is_empty() {
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

    fn is_prose(&mut self) -> Preamble {
        let begin = Preamble::prose(self.token.contains('\n'));
        self.token.clear();
        self.state = ParseState::Value;
        begin
    }

    fn begin_value(&mut self, c: char) {
        match c {
            '{' | '[' if self.open.len() == MAX_DEPTH => self.state = ParseState::End,
            '{' | '[' => {
                let is_object = c == '{';
                self.put(if is_object {
                    Value::Object(Map::new())
                } else {
                    Value::Array(Vec::new())
                });
                self.open.push(Container {
                    is_object,
                    key: String::new(),
                });
                self.state = if is_object {
                    ParseState::FirstKey
                } else {
                    ParseState::FirstItem
                };
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

    fn after_comma(&mut self) {
        self.state = match self.open.last() {
            Some(open) if open.is_object => ParseState::Key,
            Some(_) => ParseState::Value,
            None => ParseState::End,
        };
    }

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

    fn end_key(&mut self) {
        let key = self
            .open
            .last()
            .map(|open| open.key.as_str())
            .unwrap_or_default();
        // A duplicate would replace a value that was already shown.
        let is_new = self
            .innermost()
            .is_some_and(|object| object.get(key).is_none());
        self.state = if is_new {
            ParseState::Colon
        } else {
            ParseState::End
        };
    }

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

    fn innermost(&self) -> Option<&Value> {
        let outer = &self.open[..self.open.len().saturating_sub(1)];
        outer
            .iter()
            .try_fold(self.root.as_ref()?, |value, open| match value {
                Value::Array(items) => items.last(),
                value => value.get(&open.key),
            })
    }
}

fn innermost_mut<'v>(root: &'v mut Option<Value>, open: &[Container]) -> Option<&'v mut Value> {
    let outer = &open[..open.len().saturating_sub(1)];
    outer
        .iter()
        .try_fold(root.as_mut()?, |value, open| match value {
            Value::Array(items) => items.last_mut(),
            value => value.get_mut(&open.key),
        })
}
