//! Why a call has no output, and what happened in all its attempts.

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use llmnode_model::media::AttachmentError;
use llmnode_model::{BoxError, Category, Group, ModelError};
use llmnode_reader::internal::{one_line, plural, same_name};

use crate::ledger::{AttemptKind, AttemptRecord, CallRecord, ChildCalls, FailedTry, Usage};
use crate::position::Position;
use crate::text::shortened;

/// Why a call has no output.
///
/// `Display` writes a few lines about all attempts: categories, paths and violations, never the raw answer. `Debug`,
/// which `main` and `unwrap` print, has the last message unless that quotes the model.
pub struct NodeError(Box<Inner>);

struct Inner {
    category: Category,
    node: Cow<'static, str>,
    /// The innermost first.
    items: Vec<usize>,
    position: Option<Position>,
    message: String,
    retry_after: Option<Duration>,
    record: Option<Arc<CallRecord>>,
    /// Of the outermost failed call: the calls that it made, and the usage of all.
    children: ChildCalls,
    /// The node asked models, and was retried as its settings say.
    already_retried: bool,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl NodeError {
    /// Creates an error, for nodes that are written by hand.
    pub fn new(category: Category, message: impl Into<String>) -> Self {
        let message = message.into();
        NodeError(Box::new(Inner {
            category,
            node: Cow::Borrowed(""),
            items: Vec::new(),
            position: None,
            message,
            retry_after: None,
            record: None,
            children: ChildCalls::default(),
            already_retried: false,
            source: None,
        }))
    }

    pub(crate) fn refuse(faults: Vec<String>) -> Result<(), Self> {
        if faults.is_empty() { Ok(()) } else { Err(NodeError::new(Category::ConfigError, faults.join("; "))) }
    }

    /// Sets the source of the error.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    pub(crate) fn with_retry_after(mut self, wait: Option<Duration>) -> Self {
        self.0.retry_after = wait;
        self
    }

    /// An error that came from an inner call keeps its own record.
    pub(crate) fn with_record(mut self, record: Arc<CallRecord>) -> Self {
        if self.0.record.is_none() {
            self.0.node = record.node.clone();
            self.0.record = Some(record);
        }
        self
    }

    pub(crate) fn with_record_and_children(mut self, record: Arc<CallRecord>, children: ChildCalls) -> Self {
        self.0.children = children;
        self.0.children.usage.merge(&record.usage());
        self.with_record(record)
    }

    pub(crate) fn has_failed_call(&self) -> bool {
        failed_calls(self).next().is_some()
    }

    /// For nested batches, the innermost item is set first.
    pub(crate) fn of_item(mut self, index: usize) -> Self {
        self.0.items.push(index);
        self
    }

    /// A `NodeError` is kept. Any other error gets the category of the failed call among its sources, or else is an
    /// `exec_error`.
    pub(crate) fn of_execution(error: Box<dyn Error + Send + Sync>) -> Self {
        match NodeError::downcast(error) {
            Ok(error) => error,
            Err(error) => {
                let call = failed_calls(&*error).next();
                let category = call.map_or(Category::ExecError, NodeError::category);
                let retry_after = call.and_then(NodeError::retry_after);
                NodeError::new(category, error.to_string()).with_retry_after(retry_after).with_source(error)
            }
        }
    }

    /// For a node that asked models: a node that delegated to it does not repeat it.
    pub(crate) fn already_retried(mut self) -> Self {
        self.0.already_retried = true;
        self
    }

    pub(crate) fn with_message(mut self, message: String) -> Self {
        self.0.message = message;
        self
    }

    /// For a call that has not ended: its end attaches the whole record.
    pub(crate) fn without_record(mut self) -> Self {
        self.0.record = None;
        self
    }

    /// Returns the category of the last failure.
    pub fn category(&self) -> Category {
        self.0.category
    }

    /// Returns the message of the last failure, without the attempts before it.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the index, from 0, of the failed item of a map, a batch or a batch of flows. If these are nested, it
    /// is the index in the outermost one. `None`: no item failed.
    pub fn item(&self) -> Option<usize> {
        self.0.items.last().copied()
    }

    /// Returns the same for nested batches, the innermost first.
    pub fn items(&self) -> &[usize] {
        &self.0.items
    }

    /// Returns the step at which the flow ended, from which it can continue (`FlowCall::from`). `None`: there was no
    /// flow.
    pub fn position(&self) -> Option<&Position> {
        self.0.position.as_ref()
    }

    /// Returns the attempts of the failed call, in order. Those of other calls are in [`calls`](NodeError::calls).
    pub fn attempts(&self) -> &[AttemptRecord] {
        self.0.record.as_deref().map_or(&[], |record| &record.attempts)
    }

    /// Returns the failed executions of a node without a model, in order: the newest 64.
    pub fn failed_tries(&self) -> &[FailedTry] {
        self.0.record.as_deref().map_or(&[], |record| &record.failed_tries)
    }

    /// Returns the calls that the outermost failed call made through its [`Cx`](crate::Cx), with those that they
    /// made, in the order in which they ended: the newest 64, with those that succeeded. Empty if the node asked a
    /// model itself.
    pub fn calls(&self) -> impl ExactSizeIterator<Item = &Arc<CallRecord>> {
        self.0.children.calls.iter()
    }

    /// Returns the usage of all attempts, with those of all calls within.
    pub fn usage(&self) -> Usage {
        self.0.children.usage
    }

    /// Returns the last text of the model, if there is one, cut at 64 KiB.
    pub fn last_answer(&self) -> Option<&str> {
        self.0.record.as_deref().and_then(CallRecord::last_answer)
    }

    /// Returns the wait that the server asked for with the last failure.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// Returns the record of the call, once it has ended.
    pub fn record(&self) -> Option<&Arc<CallRecord>> {
        self.0.record.as_ref()
    }
}

/// How deep calls may be nested, and flows.
const MAX_NESTING: usize = 100;

/// The inside of an error, for the crates above.
pub trait ErrorInternals: Sized {
    /// Converts the error of a node's code to one with a category.
    fn of_execution(error: Box<dyn Error + Send + Sync>) -> Self;

    /// A `NodeError` as it is, or that of a model which made no request, such as for a missing key.
    ///
    /// # Errors
    /// Any other error, unchanged.
    fn downcast(error: BoxError) -> Result<Self, BoxError>;

    /// The error of the node with this name, unless it has another's.
    #[must_use]
    fn of_node(self, name: impl Into<Cow<'static, str>>) -> Self;

    /// The error of the step at this position of a flow. The outermost flow has the last word: it is the one that can
    /// continue there.
    #[must_use]
    fn at(self, position: &Position) -> Self;

    /// The error of one of many items.
    #[must_use]
    fn of_item(self, index: usize) -> Self;

    /// The error of the item at which the iterator or stream of the items panicked.
    fn items_panicked(said: &str) -> Self;

    /// Refuses calls or flows that are nested too deep.
    ///
    /// # Errors
    /// A `config_error` with the path to them.
    fn check_nesting<'p>(what: &str, depth: usize, path: impl FnOnce() -> Vec<&'p str>) -> Result<(), Self>;
}

impl ErrorInternals for NodeError {
    fn downcast(error: BoxError) -> Result<Self, BoxError> {
        let error = match error.downcast::<NodeError>() {
            Ok(error) => return Ok(*error),
            Err(error) => error,
        };
        match error.downcast::<ModelError>() {
            Ok(error) if !error.sent => Ok(NodeError::from(*error)),
            Ok(error) => Err(error),
            Err(error) => Err(error),
        }
    }

    fn of_execution(error: Box<dyn Error + Send + Sync>) -> Self {
        NodeError::of_execution(error)
    }

    fn of_node(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        if self.0.node.is_empty() {
            self.0.node = name.into();
        }
        self
    }

    fn at(mut self, position: &Position) -> Self {
        self.0.position = Some(position.clone());
        self
    }

    fn of_item(self, index: usize) -> Self {
        NodeError::of_item(self, index)
    }

    fn items_panicked(said: &str) -> Self {
        let message = format!("the iterator of items panicked, and no further items are taken: {said}");
        NodeError::new(Category::Panic, message)
    }

    fn check_nesting<'p>(what: &str, depth: usize, path: impl FnOnce() -> Vec<&'p str>) -> Result<(), Self> {
        if depth < MAX_NESTING {
            return Ok(());
        }
        let message = format!("{what} are nested more than {MAX_NESTING} deep: {}", shortened(&path()));
        Err(NodeError::new(Category::ConfigError, message))
    }
}

fn failed_calls<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e NodeError> {
    let chain = std::iter::successors(Some(error), |&error| error.source());
    chain
        .filter_map(|error| error.downcast_ref::<NodeError>())
        .filter(|error| error.0.already_retried || error.record().is_some())
}

impl NodeError {
    /// What the program has to fix is shown whole; other messages may quote what came from outside.
    fn shown(&self) -> Cow<'_, str> {
        match self.0.category {
            Category::ConfigError => Cow::Borrowed(&self.0.message),
            _ => Cow::Owned(one_line(&self.0.message, 1000)),
        }
    }

    /// If a step has the name of its node, the name is written once.
    fn write_place(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { node, items, position, .. } = &*self.0;
        let step = position.as_ref().filter(|position| !position.is_start());
        let says_both =
            step.and_then(|step| step.labels().last()).is_some_and(|label| same_name(label, node));
        let node = Some(&**node).filter(|node| !node.is_empty() && !says_both);
        let place = step.map(|step| one_line(step.to_string(), 300));
        let items: Vec<_> = items.iter().rev().map(usize::to_string).collect();
        let item = (!items.is_empty()).then(|| format!("item {}", items.join("/")));
        let mut place = place.into_iter().chain(node.map(str::to_owned)).chain(item);
        let Some(outermost) = place.next() else { return Ok(()) };
        f.write_str(&outermost)?;
        let rest: Vec<_> = place.collect();
        if rest.is_empty() { f.write_str(": ") } else { write!(f, " ({}): ", rest.join(", ")) }
    }
}

impl Error for NodeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

impl fmt::Display for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { category, message, .. } = &*self.0;
        self.write_place(f)?;
        write!(f, "{category}")?;
        let attempts = self.attempts();
        if let (true, [.., last]) = (attempts.is_empty(), self.failed_tries()) {
            return write_tries(last, self.failed_tries(), message, f);
        }
        // A single attempt that failed like the call has nothing to add.
        if matches!(attempts, []) || matches!(attempts, [only] if only.category == Some(*category)) {
            return write!(f, ": {}", self.shown());
        }
        let what = if attempts.iter().any(|attempt| attempt.unsent) { "attempt" } else { "request" };
        let requests = plural(attempts.len() as u64, what);
        write!(f, " after {requests}: {}", one_line(message, 1000))?;
        write_attempts(attempts, f)?;
        let tokens = self.0.record.as_deref().map(CallRecord::usage).unwrap_or_default().total;
        match tokens.unreported_calls {
            0 => write!(f, "\n  in all: {} tokens", tokens.known)?,
            all if all == attempts.len() as u64 => write!(f, "\n  in all: no tokens were reported")?,
            some => {
                let some = plural(some, "request");
                write!(f, "\n  in all: {} tokens and what {some} did not report", tokens.known)?;
            }
        }
        let elapsed = self.0.record.as_deref().map(|record| record.elapsed).unwrap_or_default();
        write!(f, ", {elapsed:.1?}")
    }
}

fn write_tries(
    last: &FailedTry,
    tries: &[FailedTry],
    message: &str,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    if last.number == 1 {
        return write!(f, ": {}", one_line(message, 1000));
    }
    write!(f, " after {} tries: {}", last.number, one_line(message, 1000))?;
    write_some(tries, f, |one, _, f| {
        write!(f, "\n  {}. ", one.number)?;
        write_wait(one.wait, f)?;
        write!(f, "{}: {}", one.category, one_line(&one.message, 300))
    })
}

fn write_some<T>(
    all: &[T],
    f: &mut fmt::Formatter<'_>,
    write: impl Fn(&T, usize, &mut fmt::Formatter<'_>) -> fmt::Result,
) -> fmt::Result {
    const SHOWN: usize = 8;
    let hidden = all.len().saturating_sub(SHOWN);
    for (index, one) in all.iter().enumerate() {
        match index {
            3 if hidden > 0 => write!(f, "\n  … {hidden} more …")?,
            index if (3..3 + hidden).contains(&index) => {}
            index => write(one, index, f)?,
        }
    }
    Ok(())
}

fn write_wait(wait: Duration, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if wait > Duration::ZERO { write!(f, "(after {wait:.1?}) ") } else { Ok(()) }
}

fn write_attempts(attempts: &[AttemptRecord], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write_some(attempts, f, |attempt, index, f| {
        write!(f, "\n  {}. ", index + 1)?;
        write_wait(attempt.wait, f)?;
        if let (AttemptKind::FallbackModel, Some(model)) = (attempt.kind, &attempt.model) {
            write!(f, "(model {}) ", one_line(model, 100))?;
        }
        match attempt.category {
            Some(category) => write!(f, "{category}: {}", one_line(&attempt.message, 300)),
            None if attempt.tools.is_empty() => f.write_str("accepted"),
            None => {
                let tools = attempt
                    .tools
                    .iter()
                    .take(8)
                    .map(|tool| format!("{} {}", one_line(&tool.name, 64), tool.outcome));
                write!(f, "tools: {}", tools.collect::<Vec<_>>().join(", "))
            }
        }
    })
}

/// For what a model reports before any call, such as `OpenAi::from_env()`. The error of a request is the source, with its
/// status and usage.
impl From<ModelError> for NodeError {
    fn from(error: ModelError) -> Self {
        let converted =
            NodeError::new(error.category, error.message.clone()).with_retry_after(error.retry_after);
        if error.sent {
            return converted.with_source(error);
        }
        match error.source {
            Some(source) => converted.with_source(source),
            None => converted,
        }
    }
}

impl From<AttachmentError> for NodeError {
    fn from(error: AttachmentError) -> Self {
        NodeError::new(Category::PrepError, error.to_string()).with_source(error)
    }
}

impl fmt::Debug for NodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let category = &self.0.category;
        // Violations and refusals quote the answer, and the panic of a validator may show what it looked at.
        let quotes_model =
            category.group() == Group::Answer || matches!(category, Category::Refusal | Category::Panic);
        let message = if quotes_model {
            "may quote the model: see `Display`".to_owned()
        } else {
            self.shown().into_owned()
        };
        f.debug_struct("NodeError")
            .field("category", category)
            .field("message", &message)
            .field("node", &self.0.node)
            .field("position", &self.0.position)
            .field("attempts", &self.attempts().len())
            .field("retry_after", &self.0.retry_after)
            .finish_non_exhaustive()
    }
}
