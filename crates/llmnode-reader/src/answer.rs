//! An answer as it was read, whatever it was read as.
//!
//! The doors to the reader, for those who have a type ([`read`]), a place for one
//! ([`read_slot`]) or a schema alone ([`check_by`]). They differ in what serde
//! reads into; the way to the answer is the same (`read.rs`).

use std::marker::PhantomData;
use std::sync::Arc;

use serde::de::{DeserializeOwned, DeserializeSeed};
use serde_json::Value;

use crate::check::{CheckMode, Rules, rounded, violations};
use crate::error;
use crate::flag::Repair;
use crate::json::Json;
use crate::many_values::has_many_values;
use crate::read::{self, ReadOutcome};
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
    fn from_outcome(outcome: ReadOutcome) -> Self {
        Parsed {
            value: (),
            repairs: outcome.notes,
            wrapped: outcome.wrapped,
        }
    }

    /// The same with the value, which the slot holds by now.
    fn with<T>(self, value: Option<T>) -> ReadResult<T> {
        let Some(value) = value else {
            return Err(vec![Violation::new("", "no value was read")]);
        };
        Ok(Parsed {
            value,
            repairs: self.repairs,
            wrapped: self.wrapped,
        })
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
    let target = reader.target(Some(schema));
    let outcome = read::read(answer, &target, to)?;
    Ok(Parsed::from_outcome(outcome))
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

/// A slot that has serde read a `T`, and keeps the JSON.
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

/// Reads JSON that a schema describes, without a type. `extra_check`: what the
/// schema says, as the value was written.
pub(crate) fn read_by_schema(
    answer: &str,
    schema: &OutputSchema,
    reader: Reader,
    extra_check: &dyn Fn(&Json<'_>, bool) -> Vec<Violation>,
) -> ReadResult<Value> {
    check_count(answer)?;
    let mut value = None::<Value>;
    let target = Target {
        mode: CheckMode::Schema,
        // No schema says that a `Value` holds no more than 64 bits.
        extra_check: &|value: &Json<'_>, wrapped: bool| {
            let mut found = extra_check(value, wrapped);
            found.extend(rounded(value, wrapped));
            found
        },
        ..reader.target(Some(schema))
    };
    let outcome = read::read(answer, &target, &mut value)?;
    Parsed::from_outcome(outcome).with(value)
}

/// Reads JSON of any kind.
pub(crate) fn read_any(answer: &str, reader: Reader) -> ReadResult<Value> {
    check_count(answer)?;
    let mut slot = AnyJson { value: None };
    let outcome = read::read(answer, &reader.target(None), &mut slot)?;
    Parsed::from_outcome(outcome).with(slot.value)
}

/// What is read into a type of the program takes the memory that the type does; a
/// tree takes far more.
fn check_count(answer: &str) -> Result<(), Vec<Violation>> {
    if has_many_values(answer.as_bytes()) {
        Err(vec![error::too_many_values()])
    } else {
        Ok(())
    }
}

/// A slot for JSON of any kind.
struct AnyJson {
    value: Option<Value>,
}

impl Slot for AnyJson {
    fn fill(&mut self, json: &str, observed: &Observed<'_>) -> Result<(), serde_json::Error> {
        let value = if observed.strict {
            let mut inner = serde_json::Deserializer::from_str(json);
            let value = LosslessValue.deserialize(&mut inner)?;
            inner.end()?;
            value
        } else {
            serde_json::from_str(json)?
        };
        self.value = Some(value);
        Ok(())
    }
}
