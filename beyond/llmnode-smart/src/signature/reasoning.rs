//! An output with the reasoning before it, in one JSON object.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::StringDeserializer;
use serde::de::{DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::{Map, Value};

use super::{REASONING, VALUE};

pub(super) struct ReasonedObject<T> {
    pub(super) reasoning: String,
    pub(super) value: T,
}

#[derive(Deserialize)]
pub(super) struct ReasonedValue<T> {
    pub(super) reasoning: String,
    pub(super) value: T,
}

impl<T: JsonSchema> JsonSchema for ReasonedObject<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        format!("reasoning before {}", T::schema_id()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = T::json_schema(generator);
        let members = schema
            .get("properties")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        let required = schema
            .get("required")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        schema.insert("properties".to_owned(), with_reasoning(members).into());
        schema.insert(
            "required".to_owned(),
            [Value::from(REASONING)]
                .into_iter()
                .chain(required)
                .collect(),
        );
        schema
    }
}

impl<T: JsonSchema> JsonSchema for ReasonedValue<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        format!("reasoning around {}", T::schema_id()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let value = generator.subschema_for::<T>().to_value();
        let members = with_reasoning(Map::from_iter([(VALUE.to_owned(), value)]));
        let mut schema = Schema::default();
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), members.into());
        schema.insert(
            "required".to_owned(),
            [REASONING, VALUE].into_iter().collect(),
        );
        schema
    }
}

fn with_reasoning(members: Map<String, Value>) -> Map<String, Value> {
    let reasoning = serde_json::json!({"type": "string", "description": "The reasoning step by step, before the answer."});
    [(REASONING.to_owned(), reasoning)]
        .into_iter()
        .chain(members)
        .collect()
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for ReasonedObject<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut reasoning = None;
        let value = T::deserialize(ReasoningExtractor {
            from,
            reasoning: &mut reasoning,
        })?;
        let reasoning = reasoning.ok_or_else(|| serde::de::Error::missing_field(REASONING))?;
        Ok(ReasonedObject { reasoning, value })
    }
}

struct ReasoningExtractor<'r, X> {
    from: X,
    reasoning: &'r mut Option<String>,
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for ReasoningExtractor<'_, D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.from.deserialize_map(ReasoningExtractor {
            from: visitor,
            reasoning: self.reasoning,
        })
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct seq tuple
        tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for ReasoningExtractor<'_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.from.expecting(f)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<V::Value, A::Error> {
        self.from.visit_map(ReasoningExtractor {
            from: map,
            reasoning: self.reasoning,
        })
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for ReasoningExtractor<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        while let Some(key) = self.from.next_key::<String>()? {
            if key != REASONING || self.reasoning.is_some() {
                let key: StringDeserializer<A::Error> = key.into_deserializer();
                return seed.deserialize(key).map(Some);
            }
            *self.reasoning = Some(self.from.next_value()?);
        }
        Ok(None)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.from.next_value_seed(seed)
    }
}
