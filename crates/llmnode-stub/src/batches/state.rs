//! The orders of a server, and how each of them goes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::MutexGuard;
use std::time::SystemTime;

use llmnode_model::TokenUsage;
use serde_json::Value;

use super::super::log::{Log, LoggedRequest};
use super::super::reply::StubReply;

/// What batches need of the server.
pub(in super::super) trait Server {
    fn batches(&self) -> MutexGuard<'_, Batches>;

    /// The reply to a line.
    fn answer_line(&self, request: &LoggedRequest) -> StubReply;

    fn log(&self) -> &Log;
}

/// What came of a line.
#[derive(Clone)]
pub(super) struct Outcome {
    pub(super) line: String,
    pub(super) end: LineEnd,
}

#[derive(Clone)]
pub(super) enum LineEnd {
    Response { status: u16, body: Value },
    Expired,
    Cancelled,
}

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
    pub(super) in_progress: u32,
    pub(super) expires_after: Option<usize>,
    pub(super) cancelled_after: Option<usize>,
    pub(super) reversed: bool,
    pub(super) doubled: bool,
    pub(super) lost: BTreeSet<usize>,
    pub(super) as_texts: bool,
    pub(super) empty_file_ids: bool,
    pub(super) without_files: u32,
    pub(super) refused: Option<(String, String, Option<u64>)>,
    pub(super) cancelling: u32,
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

    /// Is completed for so many looks before it names its files.
    pub fn without_files(mut self, looks: u32) -> Self {
        self.without_files = looks;
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
        self.cancelling(u32::MAX)
    }

    /// After a cancel, is cancelling for so many looks.
    pub fn cancelling(mut self, looks: u32) -> Self {
        self.cancelling = looks;
        self
    }
}

/// What goes wrong with some requests about batches, on the way or at the server.
///
/// ```
/// # mod llmnode { pub mod stub_server { pub use llmnode_stub::*; } }
/// use llmnode::stub_server::StubBatchFault;
///
/// // The second and the third look at lists fail.
/// let fault = StubBatchFault::new("GET", "?", 503).skips(1).times(2);
/// // The batch is created, and the client does not learn of it.
/// let lost = StubBatchFault::new("POST", "/batches", 500).after_all();
/// # let _ = (fault, lost);
/// ```
#[derive(Clone, Debug)]
#[must_use = "a fault is given to the server"]
pub struct StubBatchFault {
    method: String,
    part: String,
    status: u16,
    skips: usize,
    times: usize,
    is_after: bool,
}

impl StubBatchFault {
    /// Answers the next request of this method with this status, if its path and query have this part.
    pub fn new(method: impl Into<String>, part: impl Into<String>, status: u16) -> Self {
        StubBatchFault {
            method: method.into(),
            part: part.into(),
            status,
            skips: 0,
            times: 1,
            is_after: false,
        }
    }

    /// Lets so many of those requests pass before.
    pub fn skips(mut self, requests: usize) -> Self {
        self.skips = requests;
        self
    }

    /// Holds for so many requests.
    pub fn times(mut self, requests: usize) -> Self {
        self.times = requests;
        self
    }

    /// The server does what was asked for, and answers with the status nevertheless.
    pub fn after_all(mut self) -> Self {
        self.is_after = true;
        self
    }

    fn is_due(&mut self, request: &LoggedRequest) -> bool {
        let is_it = request.method() == self.method && request.path().contains(&self.part);
        if !is_it || self.times == 0 {
            return false;
        }
        if self.skips > 0 {
            self.skips -= 1;
            return false;
        }
        self.times -= 1;
        true
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
pub(in super::super) struct Batches {
    pub(super) script: VecDeque<StubBatch>,
    pub(super) faults: Vec<StubBatchFault>,
    most_listed: Option<usize>,
    most_lines: Option<usize>,
    pub(super) files: BTreeMap<String, File>,
    pub(super) orders: BTreeMap<String, Order>,
    pub(super) newest: u64,
    pub(super) billed: Vec<BilledLine>,
}

pub(super) struct File {
    pub(super) content: String,
    pub(super) is_deleted: bool,
}

/// An order that was taken.
pub(super) struct Order {
    pub(super) id: String,
    pub(super) number: u64,
    pub(super) way: StubBatch,
    /// The path that each line asks.
    pub(super) path: String,
    pub(super) lines: Vec<Line>,
    pub(super) input_file: String,
    pub(super) metadata: Value,
    /// What is wrong with the order, with numbers of lines from 1.
    pub(super) faults: Vec<(String, String, Option<u64>)>,
    pub(super) looks: u32,
    pub(super) created: SystemTime,
    /// When it was cancelled, and how often it was looked at since.
    pub(super) cancel: Option<Cancel>,
    pub(super) state: State,
    /// How often it was looked at since it ended.
    pub(super) looks_since: u32,
    /// Its lines are answered just now: with the last one it has its end and its results, at once.
    pub(super) is_ending: bool,
    pub(super) results: Vec<Outcome>,
    pub(super) output_file: Option<String>,
    pub(super) error_file: Option<String>,
}

/// Somebody asked for the end of an order.
pub(super) struct Cancel {
    pub(super) time: SystemTime,
    pub(super) looks: u32,
}

impl Order {
    pub(super) fn cancel(&mut self) {
        if self.state == State::UnderWay {
            self.state = State::Cancelling;
            self.cancel = Some(Cancel {
                time: SystemTime::now(),
                looks: 0,
            });
        }
    }

    /// When it ended: at once, unless it was cancelled. How late it is looked at changes nothing.
    pub(super) fn ended(&self) -> Option<SystemTime> {
        let has_ended = !matches!(self.state, State::UnderWay | State::Cancelling);
        let time = self
            .cancel
            .as_ref()
            .map_or(self.created, |cancel| cancel.time);
        has_ended.then_some(time)
    }
}

#[derive(Clone)]
pub(super) struct Line {
    pub(super) id: String,
    pub(super) body: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    UnderWay,
    Completed,
    Refused,
    Expired,
    Cancelling,
    Cancelled,
}

impl Batches {
    pub(in super::super) fn push_fault(&mut self, fault: StubBatchFault) {
        self.faults.push(fault);
    }

    pub(in super::super) fn clear_faults(&mut self) {
        self.faults.clear();
    }

    /// The status that a request is to have, and whether it is done nevertheless.
    pub(super) fn fault(&mut self, request: &LoggedRequest) -> Option<(u16, bool)> {
        let mut faults = self.faults.iter_mut();
        let due = faults.find_map(|fault| fault.is_due(request).then_some(fault))?;
        Some((due.status, due.is_after))
    }

    pub(in super::super) fn push(&mut self, batch: StubBatch) {
        self.script.push_back(batch);
    }

    pub(in super::super) fn billed(&self) -> Vec<BilledLine> {
        self.billed.clone()
    }

    pub(in super::super) fn count(&self) -> usize {
        self.orders.len()
    }

    /// Files that were uploaded or written, and not deleted.
    pub(in super::super) fn files_left(&self) -> usize {
        self.files.values().filter(|file| !file.is_deleted).count()
    }

    /// How many batches one page of a list has.
    pub(super) fn page(&self, request: &LoggedRequest, name: &str) -> usize {
        let page_size = query_value(request, name).and_then(|most| most.parse().ok());
        let page_size = page_size.unwrap_or(20_usize);
        self.most_listed
            .map_or(page_size, |most| page_size.min(most))
    }

    pub(in super::super) fn list_at_most(&mut self, batches: usize) {
        self.most_listed = Some(batches);
    }

    pub(in super::super) fn hold_at_most(&mut self, lines: usize) {
        self.most_lines = Some(lines);
    }

    /// What is wrong with a further order of so many lines: no more than this wait, of all orders.
    pub(super) fn queue_fault(&self, lines: usize) -> Option<(String, String, Option<u64>)> {
        let most = self.most_lines?;
        let waiting: usize = self
            .orders
            .values()
            .filter(|order: &&Order| order.state == State::UnderWay && order.faults.is_empty())
            .map(|order| order.lines.len())
            .sum();
        let message = format!("Enqueued token limit reached: {waiting} of {most} lines wait");
        let fault = ("token_limit_exceeded".to_owned(), message, None);
        (waiting + lines > most).then_some(fault)
    }

    pub(super) fn next_id(&mut self, kind: &str) -> String {
        self.newest += 1;
        format!("{kind}_{}", self.newest)
    }

    pub(super) fn add_file(&mut self, content: String) -> String {
        let id = self.next_id("file");
        let file = File {
            content,
            is_deleted: false,
        };
        self.files.insert(id.clone(), file);
        id
    }

    pub(super) fn add_order(&mut self, kind: &str, path: &str, lines: Vec<Line>) -> &mut Order {
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
            created: SystemTime::now(),
            cancel: None,
            state: State::UnderWay,
            looks_since: 0,
            is_ending: false,
            results: Vec::new(),
            output_file: None,
            error_file: None,
        };
        self.orders.entry(id).or_insert(order)
    }
}

pub(super) fn json(value: &Value) -> StubReply {
    StubReply::raw(200, value.to_string())
}

pub(super) fn parsed(request: &LoggedRequest) -> Value {
    serde_json::from_str(request.body()).unwrap_or(Value::Null)
}

/// The segments of the path behind this prefix, without the query.
pub(super) fn behind<'p>(request: &'p LoggedRequest, prefix: &str) -> Option<Vec<&'p str>> {
    let path = request.path().split('?').next().unwrap_or_default();
    let rest = path.strip_prefix(prefix)?;
    let is_whole = rest.is_empty() || rest.starts_with('/');
    is_whole.then(|| rest.split('/').filter(|part| !part.is_empty()).collect())
}

pub(super) fn query_value<'r>(request: &'r LoggedRequest, name: &str) -> Option<&'r str> {
    let (_, query) = request.path().split_once('?')?;
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(key, _)| *key == name)?;
    Some(value)
}
