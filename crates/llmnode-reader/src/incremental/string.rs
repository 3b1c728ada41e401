//! Strings and keys of a growing value.
//!
//! A string grows with each character, so an escape is shown when it is complete. A
//! half of a surrogate pair waits for the other half; what is no escape ends the
//! parsing.

use serde_json::Value;

use super::{Escape, IncrementalParser, MAX_KEY, ParseState, innermost_mut};

impl IncrementalParser {
    /// Takes one character of a string or a key, by the escape that it may belong to.
    pub(super) fn in_string(&mut self, c: char) {
        match (std::mem::take(&mut self.escape), c) {
            (Escape::None, '"') if self.state == ParseState::InKey => self.end_key(),
            (Escape::None, '"') if self.open.is_empty() => self.state = ParseState::End,
            (Escape::None, '"') => self.state = ParseState::After,
            (Escape::None, '\\') => self.escape = Escape::Begun,
            (Escape::None, c) => self.write(c.encode_utf8(&mut [0; 4])),
            (Escape::Begun, 'u') => self.escape = no_digits(None),
            (Escape::Begun, c) => match unescaped(c) {
                Some(text) => self.write(text),
                None => self.stop_in_string(),
            },
            (Escape::HighSurrogate(high), '\\') => {
                self.escape = Escape::HighSurrogateBackslash(high);
            }
            (Escape::HighSurrogateBackslash(high), 'u') => self.escape = no_digits(Some(high)),
            (Escape::HighSurrogate(_) | Escape::HighSurrogateBackslash(_), _) => {
                self.stop_in_string();
            }
            (Escape::Unicode { digits, unit, high }, c) => self.digit(digits, unit, high, c),
        }
    }

    /// Ends the parsing. The string stays, and is not complete.
    fn stop_in_string(&mut self) {
        self.ended_in_string = true;
        self.state = ParseState::End;
    }

    /// Takes a digit of `\u`. With the fourth one the character is known, or that
    /// it is the first half of a pair.
    fn digit(&mut self, digits: u8, unit: u16, high: Option<u16>, c: char) {
        let Some(digit) = c.to_digit(16) else {
            return self.stop_in_string();
        };
        let unit = unit << 4 | digit as u16;
        if digits < 3 {
            self.escape = Escape::Unicode {
                digits: digits + 1,
                unit,
                high,
            };
            return;
        }
        let is_high_surrogate = (0xD800..0xDC00).contains(&unit);
        let character = match high {
            None if is_high_surrogate => {
                return self.escape = Escape::HighSurrogate(unit);
            }
            None => String::from_utf16(&[unit]),
            Some(high) => String::from_utf16(&[high, unit]),
        };
        match character {
            Ok(text) => self.write(&text),
            Err(_) => self.stop_in_string(),
        }
    }

    /// Adds text to the string or the key that is being written.
    pub(super) fn write(&mut self, text: &str) {
        if self.state == ParseState::InKey {
            match self.open.last_mut().map(|open| &mut open.key) {
                Some(key) if key.len() + text.len() <= MAX_KEY => key.push_str(text),
                _ => self.state = ParseState::End,
            }
            return;
        }
        let string = match (innermost_mut(&mut self.root, &self.open), self.open.last()) {
            (Some(Value::Array(items)), _) => items.last_mut(),
            (Some(value @ Value::Object(_)), Some(open)) => value.get_mut(&open.key),
            (value, _) => value,
        };
        if let Some(Value::String(string)) = string {
            string.push_str(text);
        }
    }
}

/// At the begin of `\u`. `high`: the half of a pair before it.
fn no_digits(high: Option<u16>) -> Escape {
    Escape::Unicode {
        digits: 0,
        unit: 0,
        high,
    }
}

/// The character of an escape of one letter.
fn unescaped(c: char) -> Option<&'static str> {
    Some(match c {
        '"' => "\"",
        '\\' => "\\",
        '/' => "/",
        'b' => "\u{8}",
        'f' => "\u{c}",
        'n' => "\n",
        'r' => "\r",
        't' => "\t",
        _ => return None,
    })
}
