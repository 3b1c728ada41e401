//! Finds numbers that JSON does not have: serde_json writes them as `null`, which
//! an `Option` reads back as `None`.

use std::fmt::{self, Display};

use serde::ser::{self, Serialize, Serializer};

pub(super) fn check<T: Serialize + ?Sized>(value: &T) -> Result<(), NotFinite> {
    value.serialize(FiniteCheck)
}

#[derive(Debug, Default)]
pub(super) struct NotFinite {
    /// Names and indices that lead to it, innermost first.
    path: Vec<String>,
    message: String,
}

impl NotFinite {
    fn of(number: f64) -> Result<(), Self> {
        if number.is_finite() {
            return Ok(());
        }
        Err(NotFinite {
            path: Vec::new(),
            message: format!("is {number}, which JSON does not have"),
        })
    }

    fn within(mut self, step: impl Display) -> Self {
        self.path.push(step.to_string());
        self
    }
}

impl Display for NotFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path[..] {
            [] => f.write_str("it")?,
            path => f.write_str(
                path.iter()
                    .rev()
                    .map(String::as_str)
                    .collect::<String>()
                    .trim_start_matches('.'),
            )?,
        }
        write!(f, " {}", self.message)
    }
}

impl std::error::Error for NotFinite {}

impl ser::Error for NotFinite {
    fn custom<T: Display>(message: T) -> Self {
        NotFinite {
            path: Vec::new(),
            message: message.to_string(),
        }
    }
}

struct FiniteCheck;

#[derive(Default)]
struct CompoundCheck {
    seen: usize,
    key: String,
}

impl CompoundCheck {
    fn check_item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotFinite> {
        let index = self.seen;
        self.seen += 1;
        value
            .serialize(FiniteCheck)
            .map_err(|error| error.within(format_args!("[{index}]")))
    }
}

fn named<T: Serialize + ?Sized>(name: &str, value: &T) -> Result<(), NotFinite> {
    value
        .serialize(FiniteCheck)
        .map_err(|error| error.within(format_args!(".{name}")))
}

macro_rules! plain {
    ($($method:ident: $ty:ty),*) => {$(
        fn $method(self, _: $ty) -> Result<(), NotFinite> {
            Ok(())
        }
    )*};
}

macro_rules! members {
    ($($method:ident($($argument:ty),*);)*) => {$(
        fn $method(self, $(_: $argument),*) -> Result<CompoundCheck, NotFinite> {
            Ok(CompoundCheck::default())
        }
    )*};
}

impl Serializer for FiniteCheck {
    type Ok = ();
    type Error = NotFinite;
    type SerializeSeq = CompoundCheck;
    type SerializeTuple = CompoundCheck;
    type SerializeTupleStruct = CompoundCheck;
    type SerializeTupleVariant = CompoundCheck;
    type SerializeMap = CompoundCheck;
    type SerializeStruct = CompoundCheck;
    type SerializeStructVariant = CompoundCheck;

    plain! {
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_i128: i128, serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
        serialize_u128: u128, serialize_char: char, serialize_str: &str, serialize_bytes: &[u8],
        serialize_unit_struct: &'static str
    }

    members! {
        serialize_seq(Option<usize>);
        serialize_tuple(usize);
        serialize_tuple_struct(&'static str, usize);
        serialize_tuple_variant(&'static str, u32, &'static str, usize);
        serialize_map(Option<usize>);
        serialize_struct(&'static str, usize);
        serialize_struct_variant(&'static str, u32, &'static str, usize);
    }

    fn serialize_f32(self, number: f32) -> Result<(), NotFinite> {
        NotFinite::of(number.into())
    }

    fn serialize_f64(self, number: f64) -> Result<(), NotFinite> {
        NotFinite::of(number)
    }

    fn serialize_none(self) -> Result<(), NotFinite> {
        Ok(())
    }

    fn serialize_unit(self) -> Result<(), NotFinite> {
        Ok(())
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
    ) -> Result<(), NotFinite> {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), NotFinite> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), NotFinite> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> Result<(), NotFinite> {
        named(name, value)
    }

    fn collect_str<T: Display + ?Sized>(self, _: &T) -> Result<(), NotFinite> {
        Ok(())
    }
}

macro_rules! in_order {
    ($($kind:ident $method:ident),*) => {$(
        impl ser::$kind for CompoundCheck {
            type Ok = ();
            type Error = NotFinite;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotFinite> {
                self.check_item(value)
            }

            fn end(self) -> Result<(), NotFinite> {
                Ok(())
            }
        }
    )*};
}

in_order! {
    SerializeSeq serialize_element, SerializeTuple serialize_element, SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field
}

macro_rules! by_name {
    ($($kind:ident),*) => {$(
        impl ser::$kind for CompoundCheck {
            type Ok = ();
            type Error = NotFinite;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), NotFinite> {
                named(name, value)
            }

            fn end(self) -> Result<(), NotFinite> {
                Ok(())
            }
        }
    )*};
}

by_name!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for CompoundCheck {
    type Ok = ();
    type Error = NotFinite;

    /// serde_json itself refuses a key that is not a finite number.
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), NotFinite> {
        self.key = serde_json::to_string(key).unwrap_or_default();
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotFinite> {
        value
            .serialize(FiniteCheck)
            .map_err(|error| error.within(format_args!("[{}]", self.key)))
    }

    fn end(self) -> Result<(), NotFinite> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Serialize;

    use super::check;

    #[derive(Serialize)]
    enum Figure {
        None,
        One(Option<f64>),
        Two(f32, f64),
        Named { low: f64 },
    }

    #[derive(Serialize)]
    struct Unit;

    #[derive(Serialize)]
    struct Point(f64, f64);

    fn message<T: Serialize>(value: T) -> Option<String> {
        check(&value).err().map(|error| error.to_string())
    }

    #[test]
    fn a_number_that_is_not_finite_is_found_wherever_it_stands() {
        let all = [
            (message(f64::NAN), "it is NaN"),
            (message(Figure::One(Some(f64::INFINITY))), "One is inf"),
            (message(Figure::Two(f32::NEG_INFINITY, 1.0)), "[0] is -inf"),
            (
                message([Figure::None, Figure::Named { low: f64::NAN }]),
                "[1].low is NaN",
            ),
            (message((1_u8, "a", Point(0.0, f64::NAN))), "[2][1] is NaN"),
            (
                message(BTreeMap::from([(7, vec![Some(f64::NAN)])])),
                "[7][0] is NaN",
            ),
        ];
        for (message, expected) in all {
            assert_eq!(
                message,
                Some(format!("{expected}, which JSON does not have"))
            );
        }
    }

    #[test]
    fn all_else_passes() {
        let value = (
            Unit,
            (),
            'c',
            true,
            [1.5, f64::MAX],
            Figure::One(None),
            BTreeMap::from([("x", i128::MIN)]),
        );
        assert_eq!(message(value), None);
        assert_eq!(
            message((
                1_i8,
                2_u128,
                "text",
                Some(Figure::None),
                std::net::Ipv4Addr::LOCALHOST
            )),
            None
        );
    }
}
