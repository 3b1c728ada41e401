//! The interface to a store of conversations: what a call needs of it, and no more.
//!
//! A call with a conversation has one *turn* in it. It comes in as a [`NewTurn`] before the first request; what comes out is the
//! history, what was left out of it or summed up, and a claim that keeps other writers away ([`BegunTurn`]). While the call runs it renews the claim and writes down what
//! was paid for; its end is one of `append`, `pause` and `fail`. The order is always this one, and nothing is asked of a model
//! before `begin` and the first `keep` have returned.

use std::fmt;
use std::time::Duration;

use llmnode_model::{BoxFuture, Category, Message};

use crate::clock::Clock;
use crate::error::NodeError;
use crate::pause::{Paused, Unfinished};

/// A conversation that a store keeps: what [`Call::conversation`](crate::Call::conversation) takes.
///
/// `Chat` of the feature `chats` is one, over SQLite, Postgres or any store of one's own. Implement this trait only for a history
/// that is kept in another way than as messages in a table.
///
/// Its errors end the call. [`conflict`](crate::Category::Conflict) says that the turn belongs to somebody else.
pub trait TurnStore: Send + Sync {
    /// Returns the id of the conversation. It is a part of the names of its turns, so that equal questions in two conversations are
    /// turns of their own for a journal.
    fn id(&self) -> &str;

    /// Claims the conversation for a turn, and returns its history.
    ///
    /// # Errors
    /// `conflict` if another call has it, if its calls wait for a decision, or if what is stored was [decided
    /// otherwise](NewTurn::check_decisions); `config_error` if it cannot be read.
    fn begin<'a>(&'a self, turn: NewTurn<'a>) -> BoxFuture<'a, Result<BegunTurn, NodeError>>;

    /// Renews the claim. It is called each [`renew_after`](BegunTurn::renew_after).
    ///
    /// # Errors
    /// `conflict` if somebody else has the conversation by now: the call ends at once. Other errors are ignored, since the claim
    /// may still be there.
    fn renew<'a>(&'a self, turn: &'a BegunTurn) -> BoxFuture<'a, Result<(), NodeError>>;

    /// Keeps the turn as far as it came, in place of what was kept before. The first time, a pause that the turn continues is
    /// deleted in the same transaction, so that it runs once.
    ///
    /// # Errors
    /// `conflict` as above, or the store's own.
    fn keep<'a>(
        &'a self,
        turn: &'a BegunTurn,
        so_far: &'a Unfinished,
    ) -> BoxFuture<'a, Result<(), NodeError>>;

    /// Appends the whole turn in one transaction: question, rounds of tools, answer. A turn that is there already is left as it is.
    ///
    /// `covers`: what was left out or summed up in this turn, or in one before that has [no answer](BegunTurn::unfinished), behind those
    /// that the turn [began with](BegunTurn::covers). A store that keeps none of them has each turn shorten the whole history anew.
    ///
    /// # Errors
    /// `conflict` as above, or the store's own.
    fn append<'a>(
        &'a self,
        turn: &'a BegunTurn,
        messages: &'a [Message],
        covers: &'a [Covers],
    ) -> BoxFuture<'a, Result<(), NodeError>>;

    /// Keeps a turn that waits for a person, in place of what was kept before, and gives up the claim.
    ///
    /// # Errors
    /// `conflict` as above, or the store's own.
    fn pause<'a>(
        &'a self,
        turn: &'a BegunTurn,
        paused: &'a Paused,
    ) -> BoxFuture<'a, Result<(), NodeError>>;

    /// Gives up the claim of a turn that failed. `None`: what was kept last stays.
    ///
    /// # Errors
    /// Those of the store. They are logged, since the call has an error already.
    fn fail<'a>(
        &'a self,
        turn: &'a BegunTurn,
        so_far: Option<&'a Unfinished>,
    ) -> BoxFuture<'a, Result<(), NodeError>>;

    /// Gives up the claim of a call that was dropped. It must not wait.
    fn abandon(&self, turn: &BegunTurn);
}

/// A turn that is about to begin.
#[non_exhaustive]
pub struct NewTurn<'a> {
    /// The id of the turn, the same in each process that repeats the call of a flow with a journal. `None`: the call has no journal.
    pub id: Option<String>,
    /// The id that an older version gave to this turn. A store that knows a turn of it goes on with that one.
    pub older_id: Option<String>,
    /// The pause that it continues.
    pub approves: Option<&'a Paused>,
    /// The clock of the run, for waits.
    pub clock: &'a dyn Clock,
}

impl<'a> NewTurn<'a> {
    /// A turn with a question of its own, and without a journal. For tests of stores.
    pub fn new(clock: &'a dyn Clock) -> Self {
        NewTurn {
            id: None,
            older_id: None,
            approves: None,
            clock,
        }
    }

    /// Sets the id of the turn.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Sets the pause that it continues.
    #[must_use]
    pub fn approving(mut self, paused: &'a Paused) -> Self {
        self.approves = Some(paused);
        self
    }

    /// Compares the pause that it continues with the stored one: a tool must not run by a decision that somebody has replaced since.
    ///
    /// # Errors
    /// `conflict` with the calls about which the stored one has another decision.
    pub fn check_decisions(&self, stored: &Paused) -> Result<(), NodeError> {
        let Some(approves) = self.approves else {
            return Ok(());
        };
        let calls = approves.decided_otherwise_in(stored);
        if calls.is_empty() {
            return Ok(());
        }
        let why = format!(
            "somebody has decided otherwise since: {}; nothing was run; take the pause as it is stored now, with `chat.paused()`, and \
             pass that one to `.approve(..)`",
            calls.join(", ")
        );
        Err(NodeError::new(Category::Conflict, why))
    }
}

impl fmt::Debug for NewTurn<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewTurn")
            .field("id", &self.id)
            .field("approves", &self.approves.map(Paused::id))
            .finish_non_exhaustive()
    }
}

/// A turn that has begun: its claim, and what it stands on.
#[non_exhaustive]
#[derive(Debug)]
pub struct BegunTurn {
    /// The id of the turn.
    pub id: String,
    /// The id of the claim, another one in each process that has the turn.
    pub owner: String,
    /// The revision of the conversation that it stands on.
    pub revision: u64,
    /// The earlier messages, and what the program says before the question ([pins](Self::pins)).
    pub history: Vec<Message>,
    /// What earlier turns left out of this history or summed up, in the order in which they did.
    pub covers: Vec<Covers>,
    /// What the store [kept](TurnStore::keep) of a turn on this history that has no answer. What that one paid for a summary of the
    /// history is not paid again, though the question is another one.
    pub unfinished: Option<Unfinished>,
    /// How many of these messages, the last ones, are appended with the turn.
    pub pins: usize,
    /// The number of the newest pin that the turn has.
    pub last_pin: u64,
    /// The [id](Paused::id) of the pause that it continues, which the first `keep` deletes.
    pub approves: Option<String>,
    /// How long after a renewal the next one is due.
    pub renew_after: Duration,
    /// The turn is in the conversation already: an earlier process appended it. It is answered from the journal, and nothing is
    /// written.
    pub is_appended: bool,
}

impl BegunTurn {
    /// A turn on this history.
    pub fn new(id: impl Into<String>, revision: u64, history: Vec<Message>) -> Self {
        BegunTurn {
            id: id.into(),
            owner: String::new(),
            revision,
            history,
            covers: Vec::new(),
            unfinished: None,
            pins: 0,
            last_pin: 0,
            approves: None,
            renew_after: Duration::from_secs(20),
            is_appended: false,
        }
    }
}

/// Messages of a conversation that others stand for: what a turn left out of the prompt or summed up, since the node has
/// [`compact`](crate::Compact). The messages themselves stay in the conversation as they are.
///
/// Later turns are sent the same, without a summary being made again, if their node has `compact`, too.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(
    clippy::exhaustive_structs,
    reason = "stores make it from what they read"
)]
pub struct Covers {
    /// How many messages the conversation had then: it is for histories that begin with them.
    pub messages: u64,
    /// The number of the first message that is not sent as it is, from 1 on.
    pub first: u64,
    /// The number of the last one. Some between them may be sent as they are.
    pub last: u64,
    /// What stands for them, as JSON.
    pub body: String,
}
