//! Compares the ledger's entries with the server's own log, matched by the client's id of each request.
//!
//! Every response that was read to its end has equal usage; every other request that the server saw is one unknown entry;
//! an entry that the server never saw is unknown, too; and there is nothing else. Pairs are dropped as soon as they are
//! complete, so that millions of requests can be compared.

use std::collections::HashMap;
use std::time::Duration;

use llmnode::stub_server::LoggedRequest;
use llmnode::{AttemptRecord, CallRecord, Category};
use serde::{Deserialize, Serialize};

use super::act::Act;
use super::node::Judged;

/// Input, output and total tokens.
type Tokens = [Option<u64>; 3];

/// What the ledger says of a request.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Entry {
    id: String,
    /// The server's id: the head of a response was read.
    request_id: Option<String>,
    category: Option<String>,
    tokens: Option<Tokens>,
    /// The ledger says that the server refused it, and that it so used nothing.
    refused: bool,
    /// A validator has seen the answer, whatever the ledger says.
    judged: bool,
    /// The wait before the call's next request, if there was one.
    waited: Option<Duration>,
}

impl Entry {
    /// The entries of one call.
    pub(crate) fn of_call(record: &CallRecord, judged: &Judged) -> Vec<Entry> {
        let waits = record
            .attempts
            .iter()
            .skip(1)
            .map(|next| Some(next.wait))
            .chain([None]);
        record
            .attempts
            .iter()
            .zip(waits)
            // What had no connection is no request: the server has not seen it.
            .filter(|(attempt, _)| !attempt.unsent)
            .map(|(attempt, waited)| Entry::new(attempt, waited, judged))
            .collect()
    }

    fn new(attempt: &AttemptRecord, waited: Option<Duration>, judged: &Judged) -> Entry {
        let refused = is_refused(attempt);
        Entry {
            id: attempt.id.to_string(),
            refused,
            judged: attempt
                .request_id
                .as_deref()
                .is_some_and(|id| judged.forget(id)),
            request_id: attempt.request_id.clone(),
            category: attempt
                .category
                .map(|category| category.as_str().to_owned()),
            tokens: attempt
                .usage
                .filter(|_| !refused)
                .map(|usage| [usage.input, usage.output, usage.total]),
            waited,
        }
    }

    /// Whether the response must have been read to its end: its content was looked at.
    fn was_read(&self) -> bool {
        use Category::*;
        let after_reading = [
            SchemaError,
            ValidationError,
            EmptyResponse,
            Refusal,
            ContentFilter,
            TruncatedOutput,
            Aborted,
            Panic,
        ];
        let Some(category) = &self.category else {
            return true;
        };
        self.judged || after_reading.iter().any(|after| after.as_str() == category)
    }

    /// Whether it claims nothing, and may be of a request that never arrived.
    fn may_be_unseen(&self) -> bool {
        let before_reading = [Category::Network, Category::Timeout, Category::Cancelled];
        let lost = before_reading
            .iter()
            .any(|before| self.category.as_deref() == Some(before.as_str()));
        lost && self.tokens.is_none() && self.request_id.is_none() && !self.judged
    }
}

/// Whether the ledger has the zeros of a refusal that reported nothing.
fn is_refused(attempt: &AttemptRecord) -> bool {
    use Category::*;
    let refusals = [
        ApiKeyError,
        BadRequest,
        NotFound,
        QuotaError,
        RateLimitError,
    ];
    let is_refusal = attempt
        .category
        .is_some_and(|category| refusals.contains(&category));
    // A report has no figure of thoughts here.
    let is_none = attempt
        .usage
        .is_some_and(|usage| usage.total() == Some(0) && usage.reasoning == Some(0));
    is_refusal
        && is_none
        && attempt
            .status
            .is_some_and(|status| (400..500).contains(&status))
}

/// What the server says of a request.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Seen {
    id: String,
    request_id: String,
    tokens: Option<Tokens>,
    /// The response was written to its end.
    whole: bool,
    /// The wait that it asked for.
    asked: Option<Duration>,
}

impl Seen {
    pub(crate) fn of(request: &LoggedRequest, act: Act) -> Seen {
        Seen {
            id: request
                .header("x-client-request-id")
                .unwrap_or_default()
                .to_owned(),
            request_id: request.request_id().to_owned(),
            tokens: request
                .usage()
                .map(|usage| [usage.input, usage.output, usage.total]),
            whole: request.is_complete(),
            asked: act.asked(),
        }
    }
}

/// Sums over all requests.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Figures {
    /// Entries of the ledger.
    pub(crate) entries: u64,
    /// Requests that the server saw.
    pub(crate) seen: u64,
    /// Pairs of which both sides give the same usage.
    pub(crate) equal: u64,
    /// Pairs of which the ledger claims no usage, rightly.
    pub(crate) unknown: u64,
    /// Entries that the server never saw.
    pub(crate) unseen: u64,
    /// The tokens of all entries.
    pub(crate) tokens: u64,
    /// Entries that are wrong.
    pub(crate) wrong: u64,
}

/// The books of both sides, as far as they have not been matched yet.
#[derive(Default)]
pub(crate) struct Account {
    entries: HashMap<String, Entry>,
    seen: HashMap<String, Seen>,
    figures: Figures,
    /// The first things that were wrong.
    complaints: Vec<String>,
}

impl Account {
    pub(crate) fn entry(&mut self, entry: Entry) {
        self.figures.entries += 1;
        self.figures.tokens += entry.tokens.and_then(|tokens| tokens[2]).unwrap_or(0);
        if let Some(seen) = self.seen.remove(&entry.id) {
            self.compare(&entry, &seen);
        } else if let Some(other) = self.entries.insert(entry.id.clone(), entry) {
            self.complain(format!("two entries for one request: {other:?}"));
        }
    }

    pub(crate) fn seen(&mut self, seen: Seen) {
        self.figures.seen += 1;
        if let Some(entry) = self.entries.remove(&seen.id) {
            self.compare(&entry, &seen);
        } else if let Some(other) = self.seen.insert(seen.id.clone(), seen) {
            self.complain(format!("the server saw one request twice: {other:?}"));
        }
    }

    /// The sums so far.
    pub(crate) fn figures(&self) -> &Figures {
        &self.figures
    }

    /// Both books are closed: what has no counterpart is judged. Gives the figures and what is wrong.
    pub(crate) fn close(mut self) -> (Figures, Vec<String>) {
        for seen in std::mem::take(&mut self.seen).into_values() {
            self.complain(format!("the ledger knows nothing of {seen:?}"));
        }
        for entry in std::mem::take(&mut self.entries).into_values() {
            self.figures.unseen += 1;
            if !entry.may_be_unseen() {
                self.complain(format!("the server knows nothing of {entry:?}"));
            }
        }
        (self.figures, self.complaints)
    }

    fn compare(&mut self, entry: &Entry, seen: &Seen) {
        let known = entry.tokens.is_some();
        if entry.refused && !(seen.whole && seen.tokens.is_none()) {
            self.complain(format!("no refusal: {entry:?} {seen:?}"));
        } else if entry
            .request_id
            .as_ref()
            .is_some_and(|id| *id != seen.request_id)
        {
            self.complain(format!("another request's id: {entry:?} {seen:?}"));
        } else if (known || entry.was_read()) && !(seen.whole && entry.tokens == seen.tokens) {
            self.complain(format!("another usage: {entry:?} {seen:?}"));
        } else if known {
            self.figures.equal += 1;
        } else {
            self.figures.unknown += 1;
        }
        // A wait of which the client never read is none of its business.
        let asked = seen.asked.filter(|_| entry.request_id.is_some());
        if entry
            .waited
            .zip(asked)
            .is_some_and(|(waited, asked)| waited < asked)
        {
            self.complain(format!("waited less than asked: {entry:?} {seen:?}"));
        }
    }

    fn complain(&mut self, what: String) {
        self.figures.wrong += 1;
        if self.complaints.len() < 10 {
            self.complaints.push(what);
        }
    }
}
