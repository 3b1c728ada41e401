//! Finds where in the text of a file a JSON pointer leads.

use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The bytes to mark for a pointer: a value, or the name or first bracket of an object or list. If it is missing,
/// those of what would contain it. The text has to be JSON.
pub fn locate(text: &str, pointer: &str) -> Range<usize> {
    let mut value = text.trim_start_matches('\u{feff}').trim_ascii_start();
    let mut found = first(value);
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/").replace("~0", "~");
        let Some((name, inner)) = enter(value, &part) else {
            break;
        };
        let is_open = inner.starts_with(['{', '[']);
        found = if is_open {
            name.unwrap_or(first(inner))
        } else {
            inner
        };
        value = inner;
    }
    let start = found.as_ptr() as usize - text.as_ptr() as usize;
    start..start + found.len()
}

fn first(text: &str) -> &str {
    &text[..text.chars().next().map_or(0, char::len_utf8)]
}

/// The name of a member, and its value or that of an item, as they are written.
fn enter<'t>(value: &'t str, part: &str) -> Option<(Option<&'t str>, &'t str)> {
    if value.starts_with('[') {
        let items: Vec<&RawValue> = serde_json::from_str(value).ok()?;
        return Some((None, items.get(part.parse::<usize>().ok()?)?.get()));
    }
    let Members(members) = serde_json::from_str(value).ok()?;
    let is_it =
        |name: &RawValue| serde_json::from_str::<String>(name.get()).is_ok_and(|name| name == part);
    let (name, value) = members.into_iter().find(|(name, _)| is_it(name))?;
    Some((Some(name.get()), value.get()))
}

struct Members<'t>(Vec<(&'t RawValue, &'t RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = from.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        from.deserialize_map(Read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_lead_to_what_they_name() {
        let text = "\u{feff}{\"a\": [1, {\"b/c\": \"x\\\"y\", \"d\": {}}], \"\\u0065\": null}";
        let shown = |pointer: &str| &text[locate(text, pointer)];
        assert_eq!(shown("/a/0"), "1");
        assert_eq!(shown("/a/1"), "{");
        assert_eq!(shown("/a/1/b~1c"), "\"x\\\"y\"");
        assert_eq!(shown("/a/1/d"), "\"d\"");
        assert_eq!(shown("/e"), "null");
        assert_eq!(shown("/a"), "\"a\"");
        // What is not there is shown by what would hold it.
        assert_eq!(shown("/a/1/zz/y"), "{");
        assert_eq!(shown("/nowhere"), "{");
        assert_eq!(shown(""), "{");
    }

    #[test]
    fn whatever_the_text_is_nothing_panics() {
        for text in [
            "",
            "{",
            "[",
            "{\"a",
            "{\"a\":",
            "[1,",
            "\"",
            "{\"a\": \"\\",
            "é",
            "{é: 1}",
            "[]]",
            "{,}",
        ] {
            for pointer in ["", "/a", "/0", "/a/b/0", "/1"] {
                let span = locate(text, pointer);
                assert!(
                    span.start <= span.end && span.end <= text.len(),
                    "{text} {pointer}"
                );
            }
        }
    }
}
