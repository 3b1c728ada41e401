//! What a journal is.

use llmnode_runtime::BoxFuture;

use super::error::JournalError;
use super::record::Record;

/// Keeps the records of one run of one flow, where a crash does not reach them.
///
/// [`JournalFile`](super::JournalFile) keeps them in a file. A table of a database or a log of another kind is a journal as well, if
/// it gives back what was appended, all of it, in order.
///
/// - **`append` returns when the record is kept**, as surely as the journal promises at all. A request goes out, and a
///   step begins, only after what says so has been appended.
/// - **Dropped before its end**, an `append` may have kept the record or not; the flow does not append it again.
/// - **After an error** the flow ends with `aborted`, so nothing follows that the journal does not know.
///
/// # Engines that replay
///
/// An engine such as Restate keeps, for each invocation, what its `ctx.run(..)` gave, and starts the handler anew after a crash: each
/// `ctx.run` then gives what it gave before. That is no journal to be read back, and needs none. Requests are what must
/// not be made twice, so the handler makes each of them in a `ctx.run`: a [`ChatModel`](llmnode_runtime::ChatModel) around the model whose
/// `complete` is `ctx.run(|| inner.complete(request))`, named by node and attempt. Then every attempt is one entry of the engine's own journal,
/// flows and loops run as they are, and since prep, post and validators come to the same results from the same answers, a
/// replay goes the same way to the place of the crash without a request. Waits go through a [`Clock`](llmnode_runtime::Clock) around `ctx.sleep`. The ledger of
/// the process that ends the flow has each attempt once. Nodes with effects of their own do these in a `ctx.run`, too.
///
/// Where such an engine holds only data, as Restate's virtual objects do, a handler `append` that adds a record to the object's state,
/// and a handler `read` that gives it back, are this trait.
pub trait Journal: Send {
    /// Gives all records that were appended, oldest first; none, if there are none yet.
    ///
    /// # Errors
    /// It cannot be read, or what it holds is not what was appended.
    fn read<'j>(
        &'j mut self,
        each: &'j mut (dyn FnMut(Record) + Send),
    ) -> BoxFuture<'j, Result<(), JournalError>>;

    /// Appends a record.
    ///
    /// # Errors
    /// It could not be kept, or another writer has taken over.
    fn append<'j>(&'j mut self, record: &'j Record) -> BoxFuture<'j, Result<(), JournalError>>;
}

impl<J: Journal + ?Sized> Journal for Box<J> {
    fn read<'j>(
        &'j mut self,
        each: &'j mut (dyn FnMut(Record) + Send),
    ) -> BoxFuture<'j, Result<(), JournalError>> {
        (**self).read(each)
    }

    fn append<'j>(&'j mut self, record: &'j Record) -> BoxFuture<'j, Result<(), JournalError>> {
        (**self).append(record)
    }
}
