//! Where an object ends that comes in pieces.
//!
//! Arguments of a call come in pieces without an end of their own in some APIs:
//! whether a call is whole is seen from its brackets.

use serde_json::{Map, Value};

/// Looks at each byte once, whatever the pieces are.
#[derive(Debug, Default)]
pub(crate) struct ObjectEnd {
    at: Position,
    depth: usize,
    /// Once it has ended: whether it can be read.
    is_readable: Option<bool>,
}

/// Where the last byte was.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Position {
    #[default]
    Before,
    Within,
    InText,
    BehindBackslash,
    /// Only white space since.
    Behind,
    /// It is no object, or something is behind it.
    Elsewhere,
}

impl ObjectEnd {
    pub(crate) fn push(&mut self, piece: &str) {
        if self.at != Position::Elsewhere {
            piece.bytes().for_each(|byte| self.byte(byte));
        }
    }

    /// Whether `text`, which is all that was pushed, is an object and nothing else.
    pub(crate) fn is_whole(&mut self, text: &str) -> bool {
        self.at == Position::Behind
            && *self
                .is_readable
                .get_or_insert_with(|| serde_json::from_str::<Map<String, Value>>(text).is_ok())
    }

    /// A bracket within a text counts nothing.
    fn byte(&mut self, byte: u8) {
        self.at = match (self.at, byte) {
            (Position::Before | Position::Behind, b' ' | b'\t' | b'\r' | b'\n') => self.at,
            (Position::Before, b'{') | (Position::Within, b'{' | b'[') => {
                self.depth += 1;
                Position::Within
            }
            (Position::Within, b'}' | b']') => {
                self.depth -= 1;
                if self.depth == 0 {
                    Position::Behind
                } else {
                    Position::Within
                }
            }
            (Position::Within, b'"') => Position::InText,
            (Position::InText, b'"') => Position::Within,
            (Position::InText, b'\\') => Position::BehindBackslash,
            (Position::BehindBackslash, _) => Position::InText,
            (Position::Within | Position::InText, _) => self.at,
            (Position::Before | Position::Behind | Position::Elsewhere, _) => Position::Elsewhere,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_whole_where_it_ends() {
        for (text, expected) in [
            ("", false),
            (r#" {"a": "}\"{", "b": [{}]} "#, true),
            (r#"{"a": 1"#, false),
            (r#"{"a": 1}}"#, false),
            (r#"{"a": 1} {"#, false),
            (r#"{"a": 1]"#, false),
            ("[{}]", false),
            ("{a}", false),
        ] {
            let mut end = ObjectEnd::default();
            let mut read = String::new();
            for c in text.chars() {
                read.push(c);
                end.push(c.encode_utf8(&mut [0; 4]));
                let is_object = serde_json::from_str::<Map<String, Value>>(&read).is_ok();
                assert_eq!(end.is_whole(&read), is_object, "{read}");
            }
            assert_eq!(end.is_whole(text), expected, "{text}");
        }
    }
}
