//! What a recording holds, as it is in its file.
//!
//! A field that is added has a default, so that older files are read by newer versions, and newer ones by older. Most fields are
//! left out of the file while they have their default.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use llmnode_flow::flow::{Outline, Position};
use llmnode_runtime::ext::milliseconds;
use llmnode_runtime::{AttemptId, CallId, CallRecord, Category, Usage};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(crate) const FORMAT: &str = "llmnode/recording";
/// Raised with each change that an older reader would misread: a new variant of an enum is one, a new field is not.
pub(crate) const VERSION: u64 = 1;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Document {
    pub(crate) llmnode: String,
    pub(crate) with_content: bool,
    #[serde(default, skip_serializing_if = "Setup::is_empty")]
    pub(crate) setup: Setup,
    pub(crate) totals: Totals,
    pub(crate) flows: Vec<FlowEntry>,
    pub(crate) steps: Vec<StepEntry>,
    pub(crate) calls: Vec<CallEntry>,
    /// By node.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) offered: BTreeMap<String, Offered>,
}

/// What a node's first request had beside messages.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Offered {
    /// Of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) schema: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tools: Vec<OfferedTool>,
}

impl Offered {
    /// In bytes.
    pub(crate) fn size(&self) -> usize {
        let tool =
            |tool: &OfferedTool| tool.name.len() + tool.description.len() + tool.schema.len();
        self.schema.as_ref().map_or(0, String::len) + self.tools.iter().map(tool).sum::<usize>()
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct OfferedTool {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) schema: String,
}

/// Of the run that was recorded first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Setup {
    pub(crate) models: Vec<String>,
    pub(crate) limits: Vec<String>,
    /// The day that the list of prices was made, which is in US dollars.
    pub(crate) prices_made: Option<String>,
}

impl Setup {
    fn is_empty(&self) -> bool {
        *self == Setup::default()
    }
}

/// Of all that was recorded, also of what is not kept.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Totals {
    /// `None`: nothing has begun.
    pub(crate) started_unix_ms: Option<u64>,
    pub(crate) ended_unix_ms: u64,
    pub(crate) steps: u64,
    /// Calls that the program or a flow made, and how they ended.
    pub(crate) outer_calls: u64,
    pub(crate) outer_failures: u64,
    pub(crate) usage: Usage,
    /// Attempts that failed, or whose answer was rejected.
    pub(crate) failed_requests: u64,
    #[serde(rename = "degraded")]
    pub(crate) used_fallback: u64,
    pub(crate) replayed: u64,
    pub(crate) replayed_usage: Usage,
    /// Entries that are gone because the recording was full.
    pub(crate) left_out: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FlowEntry {
    pub(crate) number: u64,
    pub(crate) name: String,
    pub(crate) outline: Outline,
    /// The step that it runs within.
    pub(crate) around: Option<Position>,
    pub(crate) started_unix_ms: u64,
    pub(crate) ended: Option<Ended>,
    /// Where it stopped without an action.
    pub(crate) position: Option<Position>,
    pub(crate) edges: Vec<(Position, String, u64)>,
    pub(crate) stats: Vec<StepStats>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<String>,
    /// Before its first step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) state: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Ended {
    pub(crate) category: Option<Category>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    #[serde(rename = "elapsed_ms", with = "milliseconds")]
    pub(crate) elapsed: Duration,
}

/// Of a step over all its visits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StepStats {
    pub(crate) position: Position,
    /// The first visit.
    pub(crate) first: u64,
    pub(crate) visits: u64,
    pub(crate) runs: bool,
    /// What went wrong in the last visit that has ended.
    pub(crate) category: Option<Category>,
    pub(crate) usage: Usage,
    #[serde(rename = "elapsed_ms", with = "milliseconds")]
    pub(crate) elapsed: Duration,
}

/// One visit of a step.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StepEntry {
    pub(crate) number: u64,
    pub(crate) flow: u64,
    pub(crate) position: Position,
    pub(crate) node: String,
    pub(crate) visit: u64,
    pub(crate) started_unix_ms: u64,
    pub(crate) ended: Option<Ended>,
    /// When it went on after a pause, while it goes on.
    #[serde(skip)]
    pub(crate) resumed_unix_ms: Option<u64>,
    /// After it, if it is another one than before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) state: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CallEntry {
    pub(crate) number: u64,
    pub(crate) id: CallId,
    pub(crate) parent: Option<CallId>,
    pub(crate) node: String,
    pub(crate) item: Option<u32>,
    /// The visit of a step that made it.
    pub(crate) step: Option<u64>,
    pub(crate) started_unix_ms: u64,
    /// `None`: it runs.
    #[serde(serialize_with = "write_record", deserialize_with = "read_record")]
    pub(crate) record: Option<Arc<CallRecord>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    /// The value that took the place of an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) fallback: Option<String>,
    /// Paths of what corrections changed; names in them may be the model's own. A record that is read has no answers to compare.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) corrected: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) labels: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) exchanges: Vec<Exchange>,
}

fn write_record<S: Serializer>(record: &Option<Arc<CallRecord>>, to: S) -> Result<S::Ok, S::Error> {
    record.as_deref().serialize(to)
}

fn read_record<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Arc<CallRecord>>, D::Error> {
    Ok(Option::<CallRecord>::deserialize(from)?.map(Arc::new))
}

/// The content of an attempt, or of an answer from a journal.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Exchange {
    /// `None`: the answer came from a journal.
    pub(crate) attempt: Option<AttemptId>,
    /// How many messages at the start are those of the exchange before.
    pub(crate) shared: usize,
    pub(crate) messages: Vec<Text>,
    /// How the model was to write, such as a temperature.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) settings: Vec<String>,
    pub(crate) answer: Option<String>,
    /// Of a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    /// What was wrong with the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) violations: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tools: Vec<ToolText>,
    /// What was done to the conversation before this request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) compacted: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Text {
    pub(crate) role: String,
    pub(crate) text: String,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ToolText {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: String,
    /// What a person wrote in their place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) edited: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) result: Option<String>,
}

pub(crate) fn unix_ms(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

impl CallEntry {
    pub(crate) fn exchange_of(&self, attempt: AttemptId) -> Option<&Exchange> {
        self.exchanges
            .iter()
            .find(|exchange| exchange.attempt == Some(attempt))
    }

    pub(crate) fn category(&self) -> Option<Category> {
        self.record.as_ref().and_then(|record| record.category)
    }
}
