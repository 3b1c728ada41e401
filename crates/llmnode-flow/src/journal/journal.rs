//! The trait of journals.

use llmnode_runtime::BoxFuture;

use super::error::JournalError;
use super::record::Record;

/// Keeps the records of one run of a flow, or of a map, where a crash does not reach them.
///
/// [`JournalFile`](super::JournalFile) keeps them in a file. A database table or another log can be a journal, too,
/// if it returns everything that was appended, in order.
/// - **`append` returns when the record is kept**, as safely as the journal
///   promises. A request is sent, and a step begins, only after the record of it
///   has been appended.
/// - **If an `append` is dropped before its end**, the record may be kept or not.
///   The flow does not append it again.
/// - **After an error**, the flow ends with `aborted`, so nothing happens that the
///   journal does not know.
///
/// On an engine that replays, such as Restate, [`Replay`](super::Replay) is the journal.
///
/// # A journal in a store of your own
///
/// A [`Record`] is JSON, so the store needs a list of texts for each run, and a way
/// to add one *only if the list is as long as this process knows*. With that, of
/// two processes that go on with one run, the slower one is refused before it sends
/// a request. Here with the commands of Redis, whose place a list in memory takes:
///
/// ```
/// # mod llmnode { pub use llmnode_runtime::*; pub use llmnode_flow::{flow, journal}; }
/// use std::sync::{Arc, Mutex};
///
/// use llmnode::journal::{Journal, JournalError, MapExt, Record};
/// use llmnode::{BoxError, BoxFuture, DynNode, Run, ScriptedModel};
///
/// /// One list of Redis.
/// #[derive(Clone, Default)]
/// struct List(Arc<Mutex<Vec<String>>>);
///
/// impl List {
///     /// `LRANGE key 0 -1`
///     async fn all(&self) -> Vec<String> {
///         self.0.lock().unwrap().clone()
///     }
///
///     /// A script: `if redis.call("LLEN", KEYS[1]) == tonumber(ARGV[1]) then return redis.call("RPUSH", KEYS[1], ARGV[2]) end`
///     async fn push_at(&self, length: usize, text: String) -> bool {
///         let mut list = self.0.lock().unwrap();
///         let is_next = list.len() == length;
///         if is_next {
///             list.push(text);
///         }
///         is_next
///     }
/// }
///
/// struct RedisJournal {
///     list: List,
///     known: usize,
/// }
///
/// impl RedisJournal {
///     async fn read_all(&mut self, each: &mut (dyn FnMut(Record) + Send)) -> Result<(), BoxError> {
///         let texts = self.list.all().await;
///         self.known = texts.len();
///         for text in texts {
///             each(serde_json::from_str(&text)?);
///         }
///         Ok(())
///     }
///
///     async fn append_one(&mut self, record: &Record) -> Result<(), BoxError> {
///         let text = serde_json::to_string(record)?;
///         if !self.list.push_at(self.known, text).await {
///             return Err("another process goes on with this run".into());
///         }
///         self.known += 1;
///         Ok(())
///     }
/// }
///
/// impl Journal for RedisJournal {
///     fn read<'j>(
///         &'j mut self,
///         each: &'j mut (dyn FnMut(Record) + Send),
///     ) -> BoxFuture<'j, Result<(), JournalError>> {
///         Box::pin(async { self.read_all(each).await.map_err(JournalError::Other) })
///     }
///
///     fn append<'j>(&'j mut self, record: &'j Record) -> BoxFuture<'j, Result<(), JournalError>> {
///         Box::pin(async { self.append_one(record).await.map_err(JournalError::Other) })
///     }
/// }
///
/// # let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
/// # runtime.block_on(async {
/// let list = List::default();
/// let journal = || RedisJournal { list: list.clone(), known: 0 };
/// let rate = DynNode::builder("rate").system_prompt("Rate it from 1 to 10.").text().build()?;
/// let topics = || ["rain", "sun"].map(|topic| rate.ask(topic));
///
/// // This process gets one answer.
/// let run = Run::new(ScriptedModel::new().reply("7"));
/// let ratings = run.map(topics()).concurrency(1).resume(journal()).await;
/// assert!(ratings[0].is_ok() && ratings[1].is_err());
///
/// // The next one asks for the other.
/// let model = ScriptedModel::new().reply("9");
/// let run = Run::new(model.clone());
/// let ratings = run.map(topics()).concurrency(1).resume(journal()).try_all().await?;
/// assert_eq!((ratings, model.requests().len()), (vec!["7".into(), "9".into()], 1));
///
/// // A third one that read the list before somebody else added to it sends nothing.
/// let mut late = journal();
/// late.read(&mut |_| {}).await?;
/// list.push_at(late.known, list.all().await[0].clone()).await;
/// let record = serde_json::from_str(&list.all().await[0])?;
/// assert!(late.append(&record).await.is_err());
/// # Ok::<(), BoxError>(()) }).unwrap();
/// ```
///
/// In a table of Postgres, the record's number is the key: `engines/postgres/src/journal.rs`.
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
