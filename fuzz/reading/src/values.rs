//! Values of JSON, made by drawn choices.

use serde_json::{Map, Number, Value};

use super::draw::Draw;

const STRINGS: [&str; 27] = [
    "",
    "a",
    "b",
    "key",
    "null",
    "true",
    "None",
    "it's",
    "say \"x\"",
    "x, y: ",
    "first, \"b\": 2",
    "}",
    "]",
    "{",
    "[1]",
    "line\nend",
    "\ttab",
    "back\\slash",
    "\\\"",
    "https://example.org//a#b",
    "// no",
    "/* no */",
    "```",
    "é“…”",
    "</think>",
    "a </think> b",
    "3",
];
const WORDS: [&str; 5] = ["name", "red", "some", "other", MARK];
const FLOATS: [f64; 6] = [0.5, -1.25, 1e10, 1e-7, 123456.789, 3.0];

/// What stands for a value that a test takes away.
pub(crate) const MARK: &str = "P0I50N";

/// A list or an object: a string is a part of the prose around it.
pub(crate) fn value(draw: &mut Draw<'_>) -> Value {
    match draw.below(3) {
        0 => list(draw, 5),
        _ => object(draw, 5),
    }
}

fn any(draw: &mut Draw<'_>, depth: usize) -> Value {
    match draw.below(if depth == 0 { 6 } else { 9 }) {
        0 => Value::Null,
        1 => Value::Bool(draw.once_in(2)),
        2 => Value::from(i64::from(draw.byte()) - 100),
        3 => Number::from_f64(draw.of(&FLOATS)).map_or(Value::Null, Value::Number),
        4 => Value::from(draw.of(&WORDS)),
        5 => Value::from(draw.of(&STRINGS)),
        6 => list(draw, depth - 1),
        _ => object(draw, depth - 1),
    }
}

fn list(draw: &mut Draw<'_>, depth: usize) -> Value {
    (0..draw.below(4)).map(|_| any(draw, depth)).collect()
}

fn object(draw: &mut Draw<'_>, depth: usize) -> Value {
    let mut members = Map::new();
    for _ in 0..draw.below(4) {
        let key = if draw.once_in(2) {
            draw.of(&STRINGS)
        } else {
            draw.of(&WORDS)
        };
        let value = any(draw, depth);
        members.insert(key.to_owned(), value);
    }
    Value::Object(members)
}
