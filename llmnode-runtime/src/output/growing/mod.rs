//! JSON that is being written: a value that only grows.
//!
//! Each character is looked at once. A string is there from its first quotation mark on, a member when its value begins,
//! a number or word when it is complete. So each value is a part of every later one. What cannot go on like this, such as
//! broken JSON, is not read further.

mod begin;
mod string;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

use self::begin::Begin;
use self::string::Escape;

/// No list or object stands deeper in another than this.
const DEPTH: usize = 128;

/// No name of a member is longer, in bytes: names are compared whenever something is written behind them.
const KEY: usize = 1024;

/// A JSON text as far as it is written.
#[derive(Debug, Default)]
pub(crate) struct Growing {
    /// Where the JSON begins; none once it has.
    begin: Begin,
    root: Option<Value>,
    open: Vec<Open>,
    place: Place,
    /// A number or a word under way.
    token: String,
    escape: Escape,
    /// It ended within a string.
    cut: bool,
}

/// A list or an object that is not complete.
#[derive(Debug, Default)]
struct Open {
    is_object: bool,
    /// The member that was begun last.
    key: String,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// A value begins here.
    #[default]
    Value,
    /// The first item of a list, or its end.
    FirstItem,
    /// A key begins here.
    Key,
    /// The first key of an object, or its end.
    FirstKey,
    InKey,
    Colon,
    InString,
    InToken,
    /// A comma or a closing bracket.
    After,
    /// Nothing more is read.
    End,
}

impl Growing {
    /// Goes on with text.
    pub(crate) fn push(&mut self, text: &str) {
        let begun = self.begin.push(text);
        self.take_all(begun.as_deref().unwrap_or(text));
    }

    /// The text ends here: a number or word that is the whole of it is complete.
    pub(crate) fn end(&mut self) {
        if self.place == Place::InToken && self.open.is_empty() {
            self.end_token();
        }
    }

    /// The value so far.
    pub(crate) fn value(&self) -> Option<&Value> {
        self.root.as_ref()
    }

    /// The complete items of the list that these members lead to; none if there is no list.
    pub(crate) fn items(&self, path: &[String]) -> &[Value] {
        let found = path.iter().try_fold(self.root.as_ref(), |value, name| Some(value?.get(name)));
        let Some(Value::Array(items)) = found.flatten() else { return &[] };
        let mut open = self.open.iter();
        let is_open =
            path.iter().all(|name| open.next().is_some_and(|open| open.is_object && open.key == *name))
                && open.next().is_some();
        let is_written = open.next().is_some() || self.place == Place::InString || self.cut;
        &items[..items.len() - usize::from(is_open && is_written)]
    }

    fn take_all(&mut self, text: &str) {
        if self.begin.is_open() {
            return;
        }
        let mut rest = text;
        while let Some(c) = rest.chars().next().filter(|_| self.place != Place::End) {
            let length = match self.place {
                // As much as is plain at once: the place in the value is looked up once for each piece.
                Place::InString if self.escape == Escape::None => rest
                    .find(['"', '\\'])
                    .filter(|at| *at > 0)
                    .unwrap_or(if matches!(c, '"' | '\\') { 0 } else { rest.len() }),
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

    /// `Some`: it is no JSON, and what is, may come later.
    fn take(&mut self, c: char) -> Option<Begin> {
        match (self.place, c) {
            (Place::InString | Place::InKey, _) => self.in_string(c),
            (Place::InToken, ',' | '}' | ']') if !self.open.is_empty() => {
                self.end_token();
                return self.take(c);
            }
            (Place::InToken, c) if c.is_whitespace() => {
                if self.open.is_empty() {
                    self.token.push(c);
                } else {
                    self.end_token();
                }
            }
            (Place::InToken, _) if self.token.ends_with(char::is_whitespace) => return Some(self.is_prose()),
            (Place::InToken, c) => self.token.push(c),
            (_, c) if c.is_whitespace() => {}
            (Place::FirstItem, ']') => self.close(false),
            (Place::Value | Place::FirstItem, c) => self.begin_value(c),
            (Place::FirstKey, '}') => self.close(true),
            (Place::Key | Place::FirstKey, '"') => {
                self.place = Place::InKey;
                if let Some(open) = self.open.last_mut() {
                    open.key.clear();
                }
            }
            (Place::Colon, ':') => self.place = Place::Value,
            (Place::After, ',') => self.after_comma(),
            (Place::After, '}') => self.close(true),
            (Place::After, ']') => self.close(false),
            _ => self.place = Place::End,
        }
        None
    }

    fn is_prose(&mut self) -> Begin {
        let begin = Begin::prose(self.token.contains('\n'));
        self.token.clear();
        self.place = Place::Value;
        begin
    }

    fn begin_value(&mut self, c: char) {
        match c {
            '{' | '[' if self.open.len() == DEPTH => self.place = Place::End,
            '{' | '[' => {
                let is_object = c == '{';
                self.put(if is_object { Value::Object(Map::new()) } else { Value::Array(Vec::new()) });
                self.open.push(Open { is_object, key: String::new() });
                self.place = if is_object { Place::FirstKey } else { Place::FirstItem };
            }
            '"' => {
                self.put(Value::String(String::new()));
                self.place = Place::InString;
            }
            c => {
                self.token.push(c);
                self.place = Place::InToken;
            }
        }
    }

    fn after_comma(&mut self) {
        self.place = match self.open.last() {
            Some(open) if open.is_object => Place::Key,
            Some(_) => Place::Value,
            None => Place::End,
        };
    }

    fn close(&mut self, is_object: bool) {
        self.place = match self.open.pop() {
            Some(open) if open.is_object == is_object && !self.open.is_empty() => Place::After,
            Some(open) if open.is_object == is_object => Place::End,
            // It stays open: what is in it is not complete.
            open => {
                self.open.extend(open);
                Place::End
            }
        };
    }

    fn end_key(&mut self) {
        let key = self.open.last().map(|open| open.key.as_str()).unwrap_or_default();
        // A second value would take the place of one that was shown.
        let is_new = self.innermost().is_some_and(|object| object.get(key).is_none());
        self.place = if is_new { Place::Colon } else { Place::End };
    }

    fn end_token(&mut self) {
        let token = std::mem::take(&mut self.token);
        self.place = match serde_json::from_str::<Value>(&token) {
            Ok(value @ (Value::Bool(_) | Value::Null | Value::Number(_))) => {
                self.put(value);
                Place::After
            }
            _ => Place::End,
        };
    }

    /// Writes a value where one begins.
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
            _ => self.place = Place::End,
        }
    }

    /// The list or object that is open, or the root.
    fn innermost(&self) -> Option<&Value> {
        let outer = &self.open[..self.open.len().saturating_sub(1)];
        outer.iter().try_fold(self.root.as_ref()?, |value, open| match value {
            Value::Array(items) => items.last(),
            value => value.get(&open.key),
        })
    }
}

fn innermost_mut<'v>(root: &'v mut Option<Value>, open: &[Open]) -> Option<&'v mut Value> {
    let outer = &open[..open.len().saturating_sub(1)];
    outer.iter().try_fold(root.as_mut()?, |value, open| match value {
        Value::Array(items) => items.last_mut(),
        value => value.get_mut(&open.key),
    })
}
