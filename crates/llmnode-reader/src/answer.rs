//! An answer as it was read, whatever it was read as.

use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::{DeserializeOwned, DeserializeSeed};
use serde_json::Value;

use crate::check::{CheckMode, Rules, rounded, violations};
use crate::error;
use crate::flag::Repair;
use crate::json::Json;
use crate::many_values::has_many_values;
use crate::read::{self, Outcome};
use crate::reader::Reader;
use crate::schema::OutputSchema;
use crate::serde_observer::{LosslessValue, Observed};
use crate::target::{Slot, Target};
use crate::violation::Violation;

/// What was read, or all that is wrong with it.
pub type ReadResult<T> = Result<Parsed<T>, Vec<Violation>>;

/// A value read from an answer.
#[derive(Default)]
pub struct Parsed<T> {
    /// The value.
    pub value: T,
    /// What was done to read it, each kind once.
    pub repairs: Vec<Repair>,
    /// Whether the model wrote `{"value": ..}`, so that paths in messages to it begin with `value`.
    pub wrapped: bool,
}

impl Parsed<()> {
    fn of(outcome: Outcome) -> Self {
        Parsed {
            value: (),
            repairs: outcome.notes,
            wrapped: outcome.wrapped,
        }
    }

    fn with<T>(self, value: Option<T>) -> ReadResult<T> {
        match value {
            Some(value) => Ok(Parsed {
                value,
                repairs: self.repairs,
                wrapped: self.wrapped,
            }),
            None => Err(vec![Violation::new("", "no value was read")]),
        }
    }
}

/// Checks answers by a schema as it is given. Keywords that are not known are not checked.
pub type CheckJson = dyn Fn(&str, &OutputSchema, Reader) -> ReadResult<Value> + Send + Sync;

/// Returns what checks answers by this schema.
pub fn check_by(schema: &Value) -> Arc<CheckJson> {
    let rules = Rules::new(schema, schema);
    Arc::new(move |answer: &str, sent: &OutputSchema, reader: Reader| {
        read_by_schema(answer, sent, reader, &|value, wrapped| {
            violations(&rules, value, wrapped)
        })
    })
}

/// Reads an answer as a `T`.
///
/// # Errors
/// Everything that is wrong with it.
pub fn read<T: DeserializeOwned>(
    answer: &str,
    schema: &OutputSchema,
    reader: Reader,
) -> ReadResult<T> {
    let mut value = None;
    read_slot(answer, schema, reader, &mut value)?.with(value)
}

/// Reads an answer into a place, whatever its type is.
///
/// # Errors
/// Everything that is wrong with it.
pub fn read_slot(
    answer: &str,
    schema: &OutputSchema,
    reader: Reader,
    to: &mut dyn Slot,
) -> ReadResult<()> {
    read::read(answer, &reader.target(Some(schema)), to).map(Parsed::of)
}

/// Checks that the JSON is a `T`, but returns the JSON.
///
/// # Errors
/// Everything that is wrong with it.
pub fn read_json_of<T: DeserializeOwned>(
    answer: &str,
    schema: &OutputSchema,
    reader: Reader,
) -> ReadResult<Value> {
    check_count(answer)?;
    let mut slot = TypedJson::<T> {
        json: None,
        of: PhantomData,
    };
    read_slot(answer, schema, reader, &mut slot)?.with(slot.json)
}

struct TypedJson<T> {
    json: Option<Value>,
    of: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> Slot for TypedJson<T> {
    fn fill(&mut self, json: &str, observed: &Observed<'_>) -> Result<(), serde_json::Error> {
        None::<T>.fill(json, observed)?;
        self.json = Some(serde_json::from_str(json)?);
        Ok(())
    }
}

pub(crate) fn read_by_schema(
    answer: &str,
    schema: &OutputSchema,
    reader: Reader,
    extra_check: &dyn Fn(&Json<'_>, bool) -> Vec<Violation>,
) -> ReadResult<Value> {
    check_count(answer)?;
    let mut value = None::<Value>;
    // No schema says that a `Value` holds no more than 64 bits.
    let extra_check = |value: &Json<'_>, wrapped: bool| {
        let mut found = extra_check(value, wrapped);
        found.extend(rounded(value, wrapped));
        found
    };
    let extra_check = &extra_check;
    let target = Target {
        mode: CheckMode::Schema,
        extra_check,
        ..reader.target(Some(schema))
    };
    read::read(answer, &target, &mut value)
        .map(Parsed::of)?
        .with(value)
}

pub(crate) fn read_any(answer: &str, reader: Reader) -> ReadResult<Value> {
    check_count(answer)?;
    let mut slot = Any(None);
    read::read(answer, &reader.target(None), &mut slot)
        .map(Parsed::of)?
        .with(slot.0)
}

/// What is read into a type of the program takes the memory that the type does; a tree takes far more.
fn check_count(answer: &str) -> Result<(), Vec<Violation>> {
    if has_many_values(answer.as_bytes()) {
        Err(vec![error::too_many_values()])
    } else {
        Ok(())
    }
}

struct Any(Option<Value>);

impl Slot for Any {
    fn fill(&mut self, json: &str, observed: &Observed<'_>) -> Result<(), serde_json::Error> {
        let value = if observed.strict {
            let mut inner = serde_json::Deserializer::from_str(json);
            let value = LosslessValue.deserialize(&mut inner)?;
            inner.end()?;
            value
        } else {
            serde_json::from_str(json)?
        };
        self.0 = Some(value);
        Ok(())
    }
}
