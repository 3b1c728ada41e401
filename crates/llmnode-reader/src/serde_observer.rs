//! Reads strict JSON by serde, and observes what the type does with it.
//!
//! Derived code for a struct reports each unknown member by ignoring it. Where a
//! type accepts anything (an untagged enum, a map, a flattened struct) nothing can
//! be observed, so such types are not read on the fast path.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IntoDeserializer, MapAccess, SeqAccess,
    VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::{Map, Value};

use super::find::offset;

/// 2^53: an `f64` does not hold all integers beyond it.
const MAX_EXACT_F64: f64 = 9_007_199_254_740_992.0;

/// What a deserializer saw beside the value.
#[derive(Debug, Default)]
pub struct Observed<'n> {
    pub(super) strict: bool,
    json: &'n str,
    absent_as_null: &'n [String],
    pub(super) ignored: Cell<u64>,
    pub(super) maybe_rounded: Cell<bool>,
    pub(super) rounded: Cell<bool>,
    /// A number became infinite.
    pub(super) overflowed: Cell<bool>,
}

impl<'n> Observed<'n> {
    pub(super) fn strict(json: &'n str, absent_as_null: &'n [String]) -> Self {
        Observed {
            strict: true,
            json,
            absent_as_null,
            ..Observed::default()
        }
    }

    /// `name` must borrow from `json`: its offset finds the value.
    fn is_null(&self, name: &str) -> bool {
        let behind = self.json.get(offset(self.json, name) + name.len()..);
        let value = behind.and_then(|behind| {
            behind
                .strip_prefix('"')?
                .trim_ascii_start()
                .strip_prefix(':')
        });
        value.is_some_and(|value| value.trim_ascii_start().starts_with("null"))
    }

    pub(super) fn is_clean(&self) -> bool {
        self.ignored.get() == 0 && !self.maybe_rounded.get()
    }

    fn observe<E: Error>(&self) -> Result<(), E> {
        if self.strict {
            Err(E::custom("not read at once"))
        } else {
            Ok(())
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct Observer<'w, D> {
    pub(super) inner: D,
    pub(super) observed: &'w Observed<'w>,
}

macro_rules! forward {
    ($($method:ident($($argument:ident: $kind:ty),*))*) => {$(
        fn $method<V: Visitor<'de>>(self, $($argument: $kind,)* visitor: V) -> Result<V::Value, D::Error> {
            self.inner.$method($($argument,)* visitor)
        }
    )*};
}

macro_rules! observed {
    ($($method:ident($($argument:ident: $kind:ty),*))*) => {$(
        fn $method<V: Visitor<'de>>(self, $($argument: $kind,)* visitor: V) -> Result<V::Value, D::Error> {
            self.inner.$method($($argument,)* Observer { inner: visitor, observed: self.observed })
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Observer<'_, D> {
    type Error = D::Error;

    forward! {
        deserialize_bool() deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64() deserialize_i128()
        deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_u128() deserialize_char()
        deserialize_str() deserialize_string() deserialize_bytes() deserialize_byte_buf() deserialize_unit()
        deserialize_unit_struct(name: &'static str) deserialize_identifier()
    }
    observed! {
        deserialize_option() deserialize_newtype_struct(name: &'static str) deserialize_seq() deserialize_tuple(len: usize)
        deserialize_tuple_struct(name: &'static str, len: usize)
        deserialize_enum(name: &'static str, variants: &'static [&'static str])
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_f32(Float {
            inner: visitor,
            observed: self.observed,
            max_exact: 16_777_216.0,
        })
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_f64(Float {
            inner: visitor,
            observed: self.observed,
            max_exact: MAX_EXACT_F64,
        })
    }

    /// By default serde also reads a struct from a list, which no schema allows.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.inner.deserialize_map(Struct {
            inner: visitor,
            observed: self.observed,
        })
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.observed.observe()?;
        self.inner.deserialize_any(visitor)
    }

    /// Which members a map ignores is unknown, but its numbers are seen.
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.observed.observe()?;
        self.inner.deserialize_map(Observer {
            inner: visitor,
            observed: self.observed,
        })
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.observed
            .ignored
            .set(self.observed.ignored.get().saturating_add(1));
        self.inner.deserialize_ignored_any(visitor)
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Observer<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.inner.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.inner.visit_some(Observer {
            inner,
            observed: self.observed,
        })
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.inner.visit_newtype_struct(Observer {
            inner,
            observed: self.observed,
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        self.inner.visit_seq(Observer {
            inner,
            observed: self.observed,
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        self.inner.visit_map(Observer {
            inner,
            observed: self.observed,
        })
    }

    fn visit_enum<A: EnumAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        self.inner.visit_enum(Observer {
            inner,
            observed: self.observed,
        })
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Observer<'_, S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        self.inner.deserialize(Observer {
            inner,
            observed: self.observed,
        })
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Observer<'_, A> {
    type Error = A::Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, A::Error> {
        self.inner.next_element_seed(Observer {
            inner: seed,
            observed: self.observed,
        })
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Observer<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        self.inner.next_key_seed(seed)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, A::Error> {
        self.inner.next_value_seed(Observer {
            inner: seed,
            observed: self.observed,
        })
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

/// The visitor of a struct, whose members have names.
struct Struct<'w, V> {
    inner: V,
    observed: &'w Observed<'w>,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Struct<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        self.inner.visit_map(Members {
            inner,
            observed: self.observed,
            name: Cow::Borrowed(""),
            seen: 0,
        })
    }

    /// A variant may be a list.
    fn visit_seq<A: SeqAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        self.inner.visit_seq(Observer {
            inner,
            observed: self.observed,
        })
    }
}

struct Members<'de, 'w, A> {
    inner: A,
    observed: &'w Observed<'w>,
    /// Of the last member. It is kept here, so that code which drops it is not compiled for every type.
    name: Cow<'de, str>,
    seen: u64,
}

/// Not in the generic function, which is compiled for every type.
fn bit_of(name: &str, absent: &[String]) -> u64 {
    absent
        .iter()
        .take(64)
        .position(|one| one == name)
        .map_or(0, |at| 1 << at)
}

impl<'de, A: MapAccess<'de>> Members<'de, '_, A> {
    /// Goes to the next member that counts; `false`: there is none. It knows no type of
    /// the program, and a type's field is found by the name, so that little is compiled
    /// for each type.
    fn next_name(&mut self) -> Result<bool, A::Error> {
        let absent = self.observed.absent_as_null;
        while let Some(name) = self.inner.next_key_seed(NameSeed)? {
            self.name = name;
            if absent.is_empty() {
                return Ok(true);
            }
            // A name with an escape has no place in the JSON by which its value is found.
            let Cow::Borrowed(text) = self.name else {
                return Err(A::Error::custom("not read at once"));
            };
            let bit = bit_of(text, absent);
            if self.seen & bit != 0 {
                return Err(A::Error::custom("a member twice"));
            }
            self.seen |= bit;
            if bit == 0 || !self.observed.is_null(text) {
                return Ok(true);
            }
            self.inner.next_value::<()>()?;
        }
        Ok(false)
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Members<'de, '_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        // Written out: `?` and `map` are functions of each type.
        match self.next_name() {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(error) => return Err(error),
        }
        let name = Name {
            text: &self.name,
            error: PhantomData,
        };
        match seed.deserialize(name) {
            Ok(key) => Ok(Some(key)),
            Err(error) => Err(error),
        }
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, A::Error> {
        self.inner.next_value_seed(Observer {
            inner: seed,
            observed: self.observed,
        })
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

/// The name of a member, which derived code asks for its field, and a visitor of
/// the program's own perhaps for a value of an enum or a borrowed text.
struct Name<'n, 'de, E> {
    text: &'n Cow<'de, str>,
    error: PhantomData<E>,
}

impl<'de, E: Error> Deserializer<'de> for Name<'_, 'de, E> {
    type Error = E;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        match self.text {
            Cow::Borrowed(name) => visitor.visit_borrowed_str(name),
            Cow::Owned(name) => visitor.visit_str(name),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, E> {
        visitor.visit_enum(self.text.as_ref().into_deserializer())
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, E> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_some(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// Reads a name, from the text itself where it has no escape.
struct NameSeed;

impl<'de> DeserializeSeed<'de> for NameSeed {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Cow<'de, str>, D::Error> {
        from.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for NameSeed {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(name.to_owned()))
    }
}

impl<'de, 'w, A: EnumAccess<'de>> EnumAccess<'de> for Observer<'w, A> {
    type Error = A::Error;
    type Variant = Observer<'w, A::Variant>;

    fn variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<(T::Value, Self::Variant), A::Error> {
        let (name, inner) = self.inner.variant_seed(seed)?;
        Ok((
            name,
            Observer {
                inner,
                observed: self.observed,
            },
        ))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Observer<'_, A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.inner.unit_variant()
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, A::Error> {
        self.inner.newtype_variant_seed(Observer {
            inner: seed,
            observed: self.observed,
        })
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, A::Error> {
        self.inner.tuple_variant(
            len,
            Observer {
                inner: visitor,
                observed: self.observed,
            },
        )
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.inner.struct_variant(
            fields,
            Struct {
                inner: visitor,
                observed: self.observed,
            },
        )
    }
}

struct Float<'w, V> {
    inner: V,
    observed: &'w Observed<'w>,
    max_exact: f64,
}

impl<V> Float<'_, V> {
    fn observe(&self, number: f64) {
        self.observed
            .maybe_rounded
            .set(self.observed.maybe_rounded.get() || number.abs() > self.max_exact);
    }
}

macro_rules! observe_integers {
    ($($method:ident($kind:ty))*) => {$(
        fn $method<E: Error>(self, number: $kind) -> Result<V::Value, E> {
            self.observe(number as f64);
            let is_lost = self.max_exact < MAX_EXACT_F64 && f64::from(number as f32) != number as f64;
            self.observed.rounded.set(self.observed.rounded.get() || is_lost);
            self.inner.$method(number)
        }
    )*};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Float<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    observe_integers! { visit_u64(u64) visit_i64(i64) }

    /// serde_json calls this for a fraction, an exponent, or more digits than an integer holds.
    fn visit_f64<E: Error>(self, number: f64) -> Result<V::Value, E> {
        self.observe(number);
        let overflows =
            self.max_exact < MAX_EXACT_F64 && number.is_finite() && (number as f32).is_infinite();
        self.observed
            .overflowed
            .set(self.observed.overflowed.get() || overflows);
        self.inner.visit_f64(number)
    }
}

/// A `Value` that refuses duplicate members and numbers that may be rounded.
pub(super) struct LosslessValue;

macro_rules! take {
    ($($method:ident($kind:ty))*) => {$(
        fn $method<E: Error>(self, value: $kind) -> Result<Value, E> {
            Ok(value.into())
        }
    )*};
}

impl<'de> DeserializeSeed<'de> for LosslessValue {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for LosslessValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    take! { visit_bool(bool) visit_i64(i64) visit_u64(u64) visit_str(&str) visit_string(String) }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        if number.abs() > MAX_EXACT_F64 {
            return Err(E::custom("a number that may be rounded"));
        }
        Ok(number.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = from.next_element_seed(LosslessValue)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(name) = from.next_key::<String>()? {
            if members
                .insert(name, from.next_value_seed(LosslessValue)?)
                .is_some()
            {
                return Err(A::Error::custom("a member twice"));
            }
        }
        Ok(Value::Object(members))
    }
}
