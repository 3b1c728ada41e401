//! The trait of journals.

use llmnode_runtime::BoxFuture;

use super::error::JournalError;
use super::record::Record;

/// Keeps the records of one run of a flow, or of a map, where a crash does not reach them.
///
/// [`JournalFile`](super::JournalFile) keeps them in a file. A database table or another log can be a journal, too,
/// if it returns everything that was appended, in order.
/// - **`append` returns when the record is kept**, as safely as the journal promises. A request is sent, and a step begins,
///   only after the record of it has been appended.
/// - **If an `append` is dropped before its end**, the record may be kept or not. The flow does not append it again.
/// - **After an error**, the flow ends with `aborted`, so nothing happens that the journal does not know.
///
/// On an engine that replays, such as Restate, [`Replay`](super::Replay) is the journal.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a journal",
    label = "not a journal",
    note = "opening a journal may fail, so it ends with `?`: `JournalFile::open(path)?`"
)]
pub trait Journal: Send {
    /// Reads all records that were appended, oldest first.
    ///
    /// # Errors
    /// The journal cannot be read, or its content is not what was appended.
    fn read<'j>(
        &'j mut self,
        each: &'j mut (dyn FnMut(Record) + Send),
    ) -> BoxFuture<'j, Result<(), JournalError>>;

    /// Appends a record.
    ///
    /// # Errors
    /// The record could not be kept, or another writer has taken over.
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
