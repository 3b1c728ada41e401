//! Why a call has no output, and what happened in all its attempts.

use std::any::Any;
use std::borrow::Cow;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use llmnode_model::media::AttachmentError;
use llmnode_model::{BoxError, Category, ModelError};
use llmnode_reader::{ReadError, StrictError};

use crate::format::FormatError;
use crate::ledger::{AttemptRecord, CallRecord, ChildCalls, FailedTry, Usage};
use crate::position::Position;
use crate::text::{capped, shortened};

/// Bytes of a message: a program's error may hold a whole file.
const LONGEST_MESSAGE: usize = 64 << 10;

mod debug;
mod display;

/// Why a call has no output.
///
/// `{error}` writes a few lines about all attempts: categories, paths and violations, never the raw answer. `{error:#}` writes
/// the first of them alone. `{error:?}`, which `main` and `unwrap` print, has the paths and reasons of the violations without
/// what they quote, and no other text of the model.
///
/// ```
/// # use llmnode_runtime as llmnode;
/// use llmnode::{Category, NodeError, Run, ScriptedModel};
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// let run = Run::new(ScriptedModel::new().reply("twelve").reply("12,5 or so"));
/// let error = run.extract::<u8>("How many are a dozen?").retries(1).await.unwrap_err();
/// assert_eq!(error.category(), Category::SchemaError);
/// assert_eq!((error.attempts().len(), error.last_answer()), (2, Some("12,5 or so")));
/// assert!(format!("{error:#}").starts_with("extract: schema_error after 2 requests: "));
/// // One line for all, one for each attempt, and one for the tokens.
/// assert_eq!(format!("{error}").lines().count(), 4);
/// assert!(!format!("{error:?}").contains("12,5")); // for logs
///
/// # Ok::<(), NodeError>(()) }).unwrap();
/// ```
pub struct NodeError(Box<Inner>);

struct Inner {
    category: Category,
    node: Cow<'static, str>,
    items: Vec<usize>,
    position: Option<Position>,
    message: String,
    retry_after: Option<Duration>,
    record: Option<Arc<CallRecord>>,
    children: ChildCalls,
    already_retried: bool,
    source: Option<Box<dyn Error + Send + Sync>>,
    /// The conversation as far as it came. Its type belongs to a room above.
    unfinished: Option<Box<dyn Any + Send + Sync>>,
}

impl NodeError {
    /// Creates an error, for nodes that are written by hand. A message of more than 64 KiB is cut.
    pub fn new(category: Category, message: impl Into<String>) -> Self {
        let message = capped(message.into(), LONGEST_MESSAGE);
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
            unfinished: None,
        }))
    }

    pub(crate) fn refuse(faults: Vec<String>) -> Result<(), Self> {
        if faults.is_empty() {
            Ok(())
        } else {
            Err(NodeError::new(Category::ConfigError, faults.join("; ")))
        }
    }

    /// Sets the source of the error.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    pub(crate) fn with_unfinished(mut self, conversation: impl Any + Send + Sync) -> Self {
        self.0.unfinished = Some(Box::new(conversation));
        self
    }

    /// Of this error alone, not of its sources.
    pub(crate) fn own_unfinished<T: 'static>(&self) -> Option<&T> {
        self.0.unfinished.as_deref()?.downcast_ref()
    }

    pub(crate) fn with_retry_after(mut self, wait: Option<Duration>) -> Self {
        self.0.retry_after = wait;
        self
    }

    /// The error of an inner call keeps its own record.
    pub(crate) fn with_record(mut self, record: Arc<CallRecord>) -> Self {
        if self.0.record.is_none() {
            self.0.node = record.node.clone();
            self.0.record = Some(record);
        }
        self
    }

    pub(crate) fn with_record_and_children(
        mut self,
        record: Arc<CallRecord>,
        children: ChildCalls,
    ) -> Self {
        self.0.children = children;
        self.0.children.usage.merge(&record.usage());
        self.with_record(record)
    }

    pub(crate) fn has_failed_call(&self) -> bool {
        failed_calls(self).next().is_some()
    }

    /// In nested batches, the innermost item is set first.
    pub(crate) fn of_item(mut self, index: usize) -> Self {
        self.0.items.push(index);
        self
    }

    /// Keeps a `NodeError`. Others get the category of the failed call among their sources, or else `exec_error`.
    pub(crate) fn of_execution(error: Box<dyn Error + Send + Sync>) -> Self {
        match NodeError::downcast(error) {
            Ok(error) => error,
            Err(error) => {
                let call = failed_calls(&*error).next();
                let category = call.map_or(Category::ExecError, NodeError::category);
                let retry_after = call.and_then(NodeError::retry_after);
                NodeError::new(category, error.to_string())
                    .with_retry_after(retry_after)
                    .with_source(error)
            }
        }
    }

    pub(crate) fn already_retried(mut self) -> Self {
        self.0.already_retried = true;
        self
    }

    pub(crate) fn with_message(mut self, message: String) -> Self {
        self.0.message = capped(message, LONGEST_MESSAGE);
        self
    }

    /// For a call that has not ended: its end attaches the complete record.
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
        self.0
            .record
            .as_deref()
            .map_or(&[], |record| &record.attempts)
    }

    /// Returns the failed executions of a node without a model, in order: the newest 64.
    pub fn failed_tries(&self) -> &[FailedTry] {
        self.0
            .record
            .as_deref()
            .map_or(&[], |record| &record.failed_tries)
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
    fn items_panicked(panic: &str) -> Self;

    /// Refuses calls or flows that are nested too deep.
    ///
    /// # Errors
    /// A `config_error` with the path to them.
    fn check_nesting<'p>(
        what: &str,
        depth: usize,
        path: impl FnOnce() -> Vec<&'p str>,
    ) -> Result<(), Self>;
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

    fn items_panicked(panic: &str) -> Self {
        let message =
            format!("the iterator of items panicked, and no further items are taken: {panic}");
        NodeError::new(Category::Panic, message)
    }

    fn check_nesting<'p>(
        what: &str,
        depth: usize,
        path: impl FnOnce() -> Vec<&'p str>,
    ) -> Result<(), Self> {
        if depth < MAX_NESTING {
            return Ok(());
        }
        let message = format!(
            "{what} are nested more than {MAX_NESTING} deep: {}",
            shortened(&path())
        );
        Err(NodeError::new(Category::ConfigError, message))
    }
}

fn failed_calls<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e NodeError> {
    let chain = std::iter::successors(Some(error), |&error| error.source());
    chain
        .filter_map(|error| error.downcast_ref::<NodeError>())
        .filter(|error| error.0.already_retried || error.record().is_some())
}

impl Error for NodeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

/// For what a model reports before any call, such as `OpenAi::from_env()`. The request's error is the source, with its
/// status and usage.
impl From<ModelError> for NodeError {
    fn from(error: ModelError) -> Self {
        let converted = NodeError::new(error.category, error.message.clone())
            .with_retry_after(error.retry_after);
        if error.sent {
            return converted.with_source(error);
        }
        match error.source {
            Some(source) => converted.with_source(source),
            None => converted,
        }
    }
}

/// Of the program's own JSON, such as a history that is stored.
impl From<serde_json::Error> for NodeError {
    fn from(error: serde_json::Error) -> Self {
        NodeError::new(Category::ExecError, error.to_string()).with_source(error)
    }
}

/// Of a text that a [`Reader`](crate::Reader) was given.
impl From<ReadError> for NodeError {
    fn from(error: ReadError) -> Self {
        NodeError::new(Category::SchemaError, error.to_string()).with_source(error)
    }
}

impl From<StrictError> for NodeError {
    fn from(error: StrictError) -> Self {
        NodeError::new(Category::ConfigError, error.to_string()).with_source(error)
    }
}

/// Of a stored ledger, evaluation, recording or journal.
impl From<FormatError> for NodeError {
    fn from(error: FormatError) -> Self {
        NodeError::new(Category::ConfigError, error.to_string()).with_source(error)
    }
}

impl From<AttachmentError> for NodeError {
    fn from(error: AttachmentError) -> Self {
        NodeError::new(Category::PrepError, error.to_string()).with_source(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_of_an_error_of_any_length_is_cut() {
        let file = "ä".repeat(1 << 20);
        let error = NodeError::of_execution(file.into());
        assert_eq!(error.category(), Category::ExecError);
        assert!(
            error.message().len() < LONGEST_MESSAGE + 100,
            "{}",
            error.message().len()
        );
        assert!(error.message().ends_with("[cut: 65536 of 2097152 bytes]"));
    }
}
