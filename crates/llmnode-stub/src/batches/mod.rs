//! Batches: OpenAI's, of files, Anthropic's and Gemini's, of lists.
//!
//! In: orders. Each line is answered as its request would be, with the script and the refusals of the server, when the batch
//! comes to its end: at the look at it that its [`StubBatch`] says. Out: results in the form of the API, with whatever fault the
//! batch has. Orders that a provider refuses are refused: two lines of one id, a stream, another path than that of the batch.

mod anthropic;
mod gemini;
mod openai;
mod run;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::MutexGuard;

use llmnode_model::TokenUsage;
use serde_json::Value;

use super::log::{LoggedRequest, lock};
use super::reply::StubReply;
use super::routes::Shared;

/// How a batch goes: when it ends, and what is wrong with its results.
///
/// ```
/// # mod llmnode { pub mod stub_server { pub use llmnode_stub::*; } }
/// use llmnode::stub_server::StubBatch;
///
/// let late = StubBatch::new().in_progress(3);
/// let partial = StubBatch::new().expires_after(10);
/// # let _ = (late, partial);
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a batch is as the server's script says"]
pub struct StubBatch {
    in_progress: u32,
    expires_after: Option<usize>,
    cancelled_after: Option<usize>,
    reversed: bool,
    doubled: bool,
    lost: BTreeSet<usize>,
    as_texts: bool,
    empty_file_ids: bool,
    refused: Option<(String, String, Option<u64>)>,
    hangs_when_cancelled: bool,
}

impl StubBatch {
    /// Ends at the first look, with an answer to each line, in their order.
    pub fn new() -> Self {
        StubBatch::default()
    }

    /// Is in progress for so many looks.
    pub fn in_progress(mut self, looks: u32) -> Self {
        self.in_progress = looks;
        self
    }

    /// Expires when so many lines are answered.
    pub fn expires_after(mut self, lines: usize) -> Self {
        self.expires_after = Some(lines);
        self
    }

    /// Is cancelled, by somebody else, when so many lines are answered.
    pub fn cancelled_after(mut self, lines: usize) -> Self {
        self.cancelled_after = Some(lines);
        self
    }

    /// Returns its results in the opposite order.
    pub fn reversed(mut self) -> Self {
        self.reversed = true;
        self
    }

    /// Returns each result twice.
    pub fn doubled(mut self) -> Self {
        self.doubled = true;
        self
    }

    /// Returns no result for these lines, counted from 0, although they were answered.
    pub fn loses(mut self, lines: impl IntoIterator<Item = usize>) -> Self {
        self.lost.extend(lines);
        self
    }

    /// Writes bodies of results as texts of JSON.
    pub fn bodies_as_texts(mut self) -> Self {
        self.as_texts = true;
        self
    }

    /// Writes `""` for a file that it has not, in place of `null`.
    pub fn empty_file_ids(mut self) -> Self {
        self.empty_file_ids = true;
        self
    }

    /// Is refused as a whole, after its creation. `line`: the one at fault, from 1.
    pub fn refused(
        mut self,
        code: impl Into<String>,
        message: impl Into<String>,
        line: Option<u64>,
    ) -> Self {
        self.refused = Some((code.into(), message.into(), line));
        self
    }

    /// Never ends: in progress for ever, and after a cancel cancelling for ever.
    pub fn never_ends(mut self) -> Self {
        self.in_progress = u32::MAX;
        self.hangs_when_cancelled = true;
        self
    }
}

/// A line of a batch that was answered, and so is billed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BilledLine {
    /// The id of the batch.
    pub batch: String,
    /// The id of the line.
    pub line: String,
    /// The status of its answer.
    pub status: u16,
    /// What the answer used.
    pub usage: Option<TokenUsage>,
}

/// All orders of a server.
#[derive(Default)]
pub(super) struct Batches {
    script: VecDeque<StubBatch>,
    files: BTreeMap<String, File>,
    orders: BTreeMap<String, Order>,
    newest: u64,
    billed: Vec<BilledLine>,
}

struct File {
    content: String,
    is_deleted: bool,
}

/// An order that was taken.
struct Order {
    id: String,
    number: u64,
    way: StubBatch,
    /// The path that each line asks.
    path: String,
    lines: Vec<Line>,
    input_file: String,
    metadata: Value,
    /// What is wrong with the order, with numbers of lines from 1.
    faults: Vec<(String, String, Option<u64>)>,
    looks: u32,
    is_cancelled: bool,
    state: State,
    results: Vec<run::Outcome>,
    output_file: Option<String>,
    error_file: Option<String>,
}

#[derive(Clone)]
struct Line {
    id: String,
    body: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    UnderWay,
    Completed,
    Refused,
    Expired,
    Cancelling,
    Cancelled,
}

impl Batches {
    pub(super) fn push(&mut self, batch: StubBatch) {
        self.script.push_back(batch);
    }

    pub(super) fn billed(&self) -> Vec<BilledLine> {
        self.billed.clone()
    }

    pub(super) fn count(&self) -> usize {
        self.orders.len()
    }

    /// Files that were uploaded or written, and not deleted.
    pub(super) fn files_left(&self) -> usize {
        self.files.values().filter(|file| !file.is_deleted).count()
    }

    fn next_id(&mut self, kind: &str) -> String {
        self.newest += 1;
        format!("{kind}_{}", self.newest)
    }

    fn add_file(&mut self, content: String) -> String {
        let id = self.next_id("file");
        let file = File {
            content,
            is_deleted: false,
        };
        self.files.insert(id.clone(), file);
        id
    }

    fn add_order(&mut self, kind: &str, path: &str, lines: Vec<Line>) -> &mut Order {
        let id = self.next_id(kind);
        let order = Order {
            id: id.clone(),
            number: self.newest,
            way: self.script.pop_front().unwrap_or_default(),
            path: path.to_owned(),
            lines,
            input_file: String::new(),
            metadata: Value::Null,
            faults: Vec::new(),
            looks: 0,
            is_cancelled: false,
            state: State::UnderWay,
            results: Vec::new(),
            output_file: None,
            error_file: None,
        };
        self.orders.entry(id).or_insert(order)
    }
}

/// `None`: the request is not about batches.
pub(super) fn reply(shared: &Shared, request: &LoggedRequest) -> Option<StubReply> {
    openai::reply(shared, request)
        .or_else(|| anthropic::reply(shared, request))
        .or_else(|| gemini::reply(shared, request))
}

fn batches(shared: &Shared) -> MutexGuard<'_, Batches> {
    lock(&shared.batches)
}

fn json(value: &Value) -> StubReply {
    StubReply::raw(200, value.to_string())
}

fn parsed(request: &LoggedRequest) -> Value {
    serde_json::from_str(request.body()).unwrap_or(Value::Null)
}

/// The segments of the path behind this prefix, without the query.
fn behind<'p>(request: &'p LoggedRequest, prefix: &str) -> Option<Vec<&'p str>> {
    let path = request.path().split('?').next().unwrap_or_default();
    let rest = path.strip_prefix(prefix)?;
    let is_whole = rest.is_empty() || rest.starts_with('/');
    is_whole.then(|| rest.split('/').filter(|part| !part.is_empty()).collect())
}
