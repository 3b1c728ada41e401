//! Reads the JSON of a file: reports duplicate members, and refuses deep nesting.

use std::cell::RefCell;
use std::fmt;

use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::faults::escaped;

/// A value, and the members that were there twice.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) value: Value,
    /// Pointers. The first member of a name counts.
    pub(crate) duplicates: Vec<String>,
}

/// Pointers repeat the names.
const MAX_NAME_BYTES: usize = 1024;
const MAX_DUPLICATES: usize = 1000;

/// `most`: levels of lists and objects.
pub(super) fn read(text: &str, most: usize) -> Result<Document, serde_json::Error> {
    let duplicates = RefCell::new(Vec::new());
    let mut reader = serde_json::Deserializer::from_str(text);
    let seed = ValueSeed {
        path: JsonPath::Root,
        depth: 0,
        most,
        duplicates: &duplicates,
    };
    let value = seed.deserialize(&mut reader)?;
    reader.end()?;
    Ok(Document {
        value,
        duplicates: duplicates.into_inner(),
    })
}

/// Reads one value, at a known place.
#[derive(Clone, Copy)]
struct ValueSeed<'p> {
    path: JsonPath<'p>,
    depth: usize,
    most: usize,
    duplicates: &'p RefCell<Vec<String>>,
}

/// A place, which is written only for a duplicate.
#[derive(Clone, Copy)]
enum JsonPath<'p> {
    Root,
    Member(&'p JsonPath<'p>, &'p str),
    Item(&'p JsonPath<'p>, usize),
}

impl JsonPath<'_> {
    fn pointer(&self) -> String {
        match self {
            JsonPath::Root => String::new(),
            JsonPath::Member(outer, name) => format!("{}/{}", outer.pointer(), escaped(name)),
            JsonPath::Item(outer, at) => format!("{}/{at}", outer.pointer()),
        }
    }
}

impl ValueSeed<'_> {
    fn enter<E: Error>(&self) -> Result<(), E> {
        if self.depth < self.most {
            return Ok(());
        }
        Err(E::custom(format_args!(
            "nested more than {} deep",
            self.most
        )))
    }
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

macro_rules! scalars {
    ($($visit:ident $scalar:ty),*) => {
        $(fn $visit<E>(self, value: $scalar) -> Result<Value, E> {
            Ok(value.into())
        })*
    };
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    scalars!(visit_bool bool, visit_i64 i64, visit_u64 u64, visit_f64 f64, visit_str &str);

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        self.enter()?;
        let inner = ValueSeed {
            depth: self.depth + 1,
            ..self
        };
        let mut list = Vec::new();
        while let Some(item) = from.next_element_seed(ValueSeed {
            path: JsonPath::Item(&self.path, list.len()),
            ..inner
        })? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        self.enter()?;
        let mut members = Map::new();
        while let Some(Name(name)) = from.next_key()? {
            if name.len() > MAX_NAME_BYTES {
                return Err(A::Error::custom(format!(
                    "a name has more than {MAX_NAME_BYTES} bytes"
                )));
            }
            let path = JsonPath::Member(&self.path, &name);
            let inner = ValueSeed {
                path,
                depth: self.depth + 1,
                ..self
            };
            if members.contains_key(&name) {
                if self.duplicates.borrow().len() < MAX_DUPLICATES {
                    self.duplicates.borrow_mut().push(inner.path.pointer());
                }
                from.next_value::<IgnoredAny>()?;
            } else {
                let value = from.next_value_seed(inner)?;
                members.insert(name, value);
            }
        }
        Ok(Value::Object(members))
    }
}

/// Not a `Value`: serde_json gives certain names a meaning, depending on its features.
#[derive(Deserialize)]
struct Name(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_that_stand_twice_are_found_wherever_they_are() {
        let text = r#"{"a": 1, "a": {"b": 1, "b": 2}, "l": [0, {"x/y": 1, "x/y": 2, "x/y": 3}], "~": {"": 1, "": 2}}"#;
        let read = read(text, 8).unwrap();
        assert_eq!(read.duplicates, ["/a", "/l/1/x~1y", "/l/1/x~1y", "/~0/"]);
        assert_eq!(read.value["a"], 1);
    }

    #[test]
    fn what_is_nested_too_deep_is_not_read() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(read(&nested(64), 64).is_ok());
        for depth in [65, 500, 100_000] {
            assert!(
                read(&nested(depth), 64)
                    .unwrap_err()
                    .to_string()
                    .contains("nested more than 64 deep")
            );
        }
    }

    #[test]
    fn values_are_those_of_serde_json() {
        let text = r#"{"a": [null, true, -1, 18446744073709551615, 0.5, "é\n\u0041"], "b": {}, "$serde_json::private::Number": 1}"#;
        let read = read(text, 4).unwrap().value;
        assert_eq!(read["a"], serde_json::from_str::<Value>(text).unwrap()["a"]);
        assert_eq!(read["b"], Value::Object(Map::new()));
    }
}
