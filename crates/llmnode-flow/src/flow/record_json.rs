//! JSON form of a flow's record.

use std::time::Duration;

use llmnode_runtime::ext::{Position, StepRecord, milliseconds, read_format};
use llmnode_runtime::{Category, FormatError};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use super::outline::Outline;
use super::record::{FlowRecord, StepStats};

const FORMAT: &str = "llmnode/flow-record";
/// Raised for changes that an older reader would misread: a new variant of an enum,
/// but not a new field.
const VERSION: u64 = 2;

impl FlowRecord {
    /// Reads what was written, by this version of llmnode or an older one.
    ///
    /// # Errors
    /// [`FormatError`]: it is something else, newer than this llmnode, or malformed.
    // Compiled only in a program that calls it, with all that serde makes for it.
    #[inline]
    pub fn from_json(json: &str) -> Result<Self, FormatError> {
        #[derive(Deserialize)]
        struct Body {
            outline: Outline,
            position: Option<Position>,
            category: Option<Category>,
            taken: u64,
            path: Vec<StepRecord>,
            steps: Vec<StepStats>,
            edges: Vec<Edge<Position, String>>,
            elapsed_ms: Milliseconds,
        }
        let read = read_format(json, FORMAT, VERSION)?;
        let Body {
            outline,
            position,
            category,
            taken,
            path,
            steps,
            edges,
            elapsed_ms,
        } = read;
        let edges = edges
            .into_iter()
            .map(
                |Edge {
                     from,
                     action,
                     times,
                 }| (from, action, times),
            )
            .collect();
        Ok(FlowRecord {
            outline,
            position,
            category,
            taken,
            path,
            steps,
            edges,
            elapsed: elapsed_ms.0,
        })
    }
}

#[derive(Serialize, Deserialize)]
struct Edge<P, A> {
    from: P,
    action: A,
    times: u64,
}

#[derive(Serialize, Deserialize)]
struct Milliseconds(#[serde(with = "milliseconds")] Duration);

impl Serialize for FlowRecord {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut record = to.serialize_struct("FlowRecord", 10)?;
        record.serialize_field("format", FORMAT)?;
        record.serialize_field("version", &VERSION)?;
        record.serialize_field("outline", &self.outline)?;
        record.serialize_field("position", &self.position)?;
        record.serialize_field("category", &self.category)?;
        record.serialize_field("taken", &self.taken)?;
        record.serialize_field("path", &self.path)?;
        record.serialize_field("steps", &self.steps)?;
        let edges = self.edges.iter().map(|(from, action, times)| Edge {
            from,
            action,
            times: *times,
        });
        record.serialize_field("edges", &edges.collect::<Vec<_>>())?;
        record.serialize_field("elapsed_ms", &Milliseconds(self.elapsed))?;
        record.end()
    }
}
