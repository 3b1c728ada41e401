//! What a database has to do for conversations: read a row, and write it over the one that was read.

use std::ops::RangeInclusive;

use llmnode_runtime::{BoxFuture, Covers, NodeError};

/// Where conversations are kept. [`Conversations::over`](crate::Conversations::over) takes one.
///
/// A store decides nothing. It has to keep two promises, which [`check_store`](crate::Conversations::check_store) tries: `write` and `delete` are one
/// transaction each, and `write` changes nothing unless the stored row has the version that it is written over. Errors of the database
/// are `aborted`, what no retry mends is `config_error`.
pub trait Store: Send + Sync + 'static {
    /// Returns the time, in milliseconds since 1970. All processes that share the store should have the same.
    fn now(&self) -> BoxFuture<'_, Result<u64, NodeError>>;

    /// Returns the row of a conversation.
    fn read<'a>(&'a self, chat: &'a str) -> BoxFuture<'a, Result<Option<ChatRow>, NodeError>>;

    /// Returns the conversation's own messages with these numbers, in order. Those that it shares with its parent are the parent's.
    fn messages<'a>(
        &'a self,
        chat: &'a str,
        numbers: RangeInclusive<u64>,
    ) -> BoxFuture<'a, Result<Vec<StoredMessage>, NodeError>>;

    /// Returns what stands for the conversation's own messages where `compact` shortened it, for a history of so many messages: those
    /// [`Covers`] that were made with no more of them, in the order in which they were written.
    fn covers<'a>(
        &'a self,
        chat: &'a str,
        messages: u64,
    ) -> BoxFuture<'a, Result<Vec<Covers>, NodeError>>;

    /// Returns blobs by their hashes, in any order.
    fn blobs<'a>(&'a self, hashes: &'a [String]) -> BoxFuture<'a, Result<Vec<Blob>, NodeError>>;

    /// Returns the number of the first message of a turn.
    fn turn<'a>(
        &'a self,
        chat: &'a str,
        turn: &'a str,
    ) -> BoxFuture<'a, Result<Option<u64>, NodeError>>;

    /// Writes a row, new messages with their blobs, and new covers in one transaction. `false`: the stored row does not have the version that it is
    /// written over, or the parent of a new row is gone; then nothing is written.
    fn write<'a>(&'a self, change: &'a Change) -> BoxFuture<'a, Result<bool, NodeError>>;

    /// Returns the ids of the conversations whose parent this is.
    fn forks<'a>(&'a self, chat: &'a str) -> BoxFuture<'a, Result<Vec<String>, NodeError>>;

    /// Returns rows by their ids: those that begin with the prefix and come behind `after`, at most so many. The ids are in the order of
    /// their bytes.
    fn list<'a>(
        &'a self,
        prefix: &'a str,
        after: Option<&'a str>,
        most: u32,
    ) -> BoxFuture<'a, Result<Vec<ChatRow>, NodeError>>;

    /// Deletes conversations with all that belongs to them, and blobs that nothing needs any more, in one transaction. `false`: one of
    /// them has a fork that is not in the list, or was [changed](ChatRow::changed) at `before` or since; then nothing is deleted.
    /// `before: None`: whenever they were changed.
    fn delete<'a>(
        &'a self,
        chats: &'a [String],
        before: Option<u64>,
    ) -> BoxFuture<'a, Result<bool, NodeError>>;
}

/// All of a conversation but its messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(
    clippy::exhaustive_structs,
    reason = "stores of others make it from what they read"
)]
pub struct ChatRow {
    /// The name that the program gives it, such as `"acme/42"`.
    pub id: String,
    /// Another one after each write. It begins at random, so that a conversation that was deleted and made again has another one.
    pub version: i64,
    /// How many turns were appended.
    pub revision: u64,
    /// How many messages it has, with those that it shares.
    pub messages: u64,
    /// What it was forked from.
    pub parent: Option<Parent>,
    /// The format of its messages and bodies.
    pub format: u32,
    /// When it was last written, in milliseconds since 1970.
    pub changed: u64,
    /// Who has it.
    pub claim: Option<Claim>,
    /// The calls that wait for a decision.
    pub pause: Option<KeptPause>,
    /// The turn that is under way, or that failed.
    pub unfinished: Option<KeptTurn>,
    /// What goes with the next turn, in order.
    pub pins: Vec<Pin>,
}

impl ChatRow {
    /// The format that this version writes.
    pub const FORMAT: u32 = 1;
}

/// What a fork shares.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "as `ChatRow`")]
pub struct Parent {
    /// The conversation that has the messages.
    pub chat: String,
    /// How many of them are shared: the first ones.
    pub messages: u64,
}

/// The right to append the next turn.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "as `ChatRow`")]
pub struct Claim {
    /// One call in one process.
    pub owner: String,
    /// The id of the turn.
    pub turn: String,
    /// When others may take it, in milliseconds since 1970.
    pub until: u64,
}

/// A turn that waits, with its `Paused` as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "as `ChatRow`")]
pub struct KeptPause {
    /// The id of the turn.
    pub turn: String,
    /// The id of the pause, which is the same before and after decisions.
    pub pause: String,
    /// The newest pin that the turn has.
    pub last_pin: u64,
    /// The `Paused`.
    pub body: String,
}

/// A turn that has no answer, with its `Unfinished` as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "as `ChatRow`")]
pub struct KeptTurn {
    /// The id of the turn.
    pub turn: String,
    /// The newest pin that the turn has.
    pub last_pin: u64,
    /// The `Unfinished`.
    pub body: String,
}

/// A message of the program that goes with the next turn.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "as `ChatRow`")]
pub struct Pin {
    /// From 1 on, in the order in which they came.
    pub number: u64,
    /// The text.
    pub text: String,
}

/// A message as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "as `ChatRow`")]
pub struct StoredMessage {
    /// From 1 on.
    pub number: u64,
    /// The id of the turn that it belongs to.
    pub turn: String,
    /// The program pinned it.
    pub pinned: bool,
    /// It is the result of a tool that failed, which the JSON of a message does not say.
    pub failed: bool,
    /// The message as JSON, in which large attachments are `{"$blob": hash}`.
    pub body: String,
    /// The hashes of these attachments.
    pub blobs: Vec<String>,
}

/// A large attachment, which is stored once.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "as `ChatRow`")]
pub struct Blob {
    /// The SHA-256 of its text, as hexadecimal digits.
    pub hash: String,
    /// The text that stood in the message.
    pub body: String,
}

/// What one transaction writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs, reason = "as `ChatRow`")]
pub struct Change {
    /// The whole row, with its new version.
    pub row: ChatRow,
    /// The version that the stored row must have. `None`: there must be none.
    pub over: Option<i64>,
    /// Whether `pause` or `unfinished` are others than in the stored row; if not, a store may leave them as they are.
    pub has_new_bodies: bool,
    /// Messages behind those that are there.
    pub messages: Vec<StoredMessage>,
    /// The blobs of these messages. Those that are there already are left as they are.
    pub blobs: Vec<Blob>,
    /// What stands for messages of this turn or of earlier ones, behind those that are there.
    pub covers: Vec<Covers>,
}
