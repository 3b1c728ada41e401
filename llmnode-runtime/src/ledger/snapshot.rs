//! The JSON form of the ledger.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use super::milliseconds;
use super::record::CallRecord;
use super::usage::Usage;
use crate::format::{self, FormatError};

const FORMAT: &str = "llmnode/ledger";
/// Raised for changes that a reader of this version would misread: a new variant of
/// an enum, but not a new field.
const VERSION: u64 = 2;

/// The figures of one node over all its calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct NodeStats {
    /// Tokens and requests of all attempts.
    pub usage: Usage,
    /// The time spent in the node's calls, with waits. The times of concurrent calls add up.
    #[serde(rename = "busy_ms", with = "milliseconds")]
    pub busy: Duration,
    /// How often the node was called.
    pub visits: u64,
    /// How many outputs came from a fallback.
    #[serde(rename = "degraded")]
    pub used_fallback: u64,
}

impl NodeStats {
    pub(super) fn and(mut self, other: NodeStats) -> NodeStats {
        self.usage.merge(&other.usage);
        self.busy = self.busy.saturating_add(other.busy);
        self.visits = self.visits.saturating_add(other.visits);
        self.used_fallback = self.used_fallback.saturating_add(other.used_fallback);
        self
    }
}

/// A ledger at one moment, for files and other programs.
///
/// As JSON it begins with `"format": "llmnode/ledger", "version": 2`. It contains
/// no prompts, answers or violations. Times are in milliseconds. Unknown is never
/// zero, and estimates are separate. Version 1 did not count the requests without
/// cached and reasoning tokens; when such a report is read, as many as possible
/// count as unknown.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::{LedgerSnapshot, Run, ScriptedModel};
///
/// let run = Run::new(ScriptedModel::new());
/// let json = serde_json::to_string(&run.ledger().snapshot()).unwrap();
/// let report = LedgerSnapshot::from_json(&json).unwrap();
/// assert_eq!(report.total.requests, 0);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LedgerSnapshot {
    /// The figures of all nodes together.
    pub total: Usage,
    /// The figures of each node, by name. Two types with the same name are
    /// distinguished by their module.
    pub nodes: BTreeMap<String, NodeStats>,
    /// The calls that the ledger kept, oldest first. Read from JSON, they have no content.
    pub calls: Vec<Arc<CallRecord>>,
    /// The day of the list of prices that the costs are by, where [the
    /// list](crate::Prices::made) says so.
    pub prices_made: Option<String>,
}

impl LedgerSnapshot {
    pub(super) fn new(
        nodes: BTreeMap<String, NodeStats>,
        calls: Vec<Arc<CallRecord>>,
        prices_made: Option<String>,
    ) -> Self {
        let mut total = Usage::default();
        nodes.values().for_each(|stats| total.merge(&stats.usage));
        LedgerSnapshot {
            total,
            nodes,
            calls,
            prices_made,
        }
    }

    /// Reads a report that this version of llmnode or an older one wrote.
    ///
    /// # Errors
    /// A [`FormatError`]: the JSON is something else, newer than this llmnode, or malformed.
    // Compiled only in a program that calls it: what serde makes for records is a
    // large part of the crate.
    #[inline]
    pub fn from_json(json: &str) -> Result<Self, FormatError> {
        #[derive(Deserialize)]
        struct Body {
            total: Usage,
            nodes: BTreeMap<String, NodeStats>,
            calls: Vec<CallRecord>,
            #[serde(default)]
            prices_made: Option<String>,
        }
        let Body {
            total,
            nodes,
            calls,
            prices_made,
        } = format::read(json, FORMAT, VERSION)?;
        Ok(LedgerSnapshot {
            total,
            nodes,
            calls: calls.into_iter().map(Arc::new).collect(),
            prices_made,
        })
    }
}

impl Serialize for LedgerSnapshot {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut report = to.serialize_struct(
            "LedgerSnapshot",
            5 + usize::from(self.prices_made.is_some()),
        )?;
        report.serialize_field("format", FORMAT)?;
        report.serialize_field("version", &VERSION)?;
        report.serialize_field("total", &self.total)?;
        report.serialize_field("nodes", &self.nodes)?;
        if let Some(date) = &self.prices_made {
            report.serialize_field("prices_made", date)?;
        }
        report.serialize_field(
            "calls",
            &self.calls.iter().map(Arc::as_ref).collect::<Vec<_>>(),
        )?;
        report.end()
    }
}
