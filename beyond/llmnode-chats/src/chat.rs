//! One conversation: what calls do with it, and what a product shows of it.
//!
//! Each change reads the row, asks `turns.rs` for the next one, and writes it over the version that was read. If another process was
//! faster, it begins again.

use std::fmt;
use std::ops::{Bound, RangeBounds};
use std::sync::Arc;
use std::time::Duration;

use llmnode_runtime::{
    Approval, BegunTurn, BoxFuture, Category, Clock, Covers, Message, NewTurn, NodeError, Paused,
    TurnStore, Unfinished,
};
use serde_json::Value;

use crate::body::{self, Written};
use crate::history;
use crate::ids;
use crate::info::ChatInfo;
use crate::store::{Change, ChatRow, KeptTurn, Parent, Pin, Store};
use crate::turns::{self, Claimant, Refused, Verdict, conflict};

/// Tries of a write that others were faster with.
const TRIES: u32 = 200;

const LEASE: Duration = Duration::from_secs(60);

/// Between two looks at a claim of somebody else.
const POLL: Duration = Duration::from_millis(200);

/// One conversation: what [`Call::conversation`](llmnode_runtime::Call::conversation) takes. It is a cheap handle, and knows nothing
/// but the id: each method reads the store.
#[derive(Clone)]
pub struct Chat {
    store: Arc<dyn Store>,
    id: String,
    wait: Duration,
    lease: Duration,
}

/// A message of a conversation, with its number.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChatMessage {
    /// From 1 on; what [`Chat::fork_at`] takes.
    pub number: u64,
    /// The id of its turn, which the messages of a turn have in common.
    pub turn: String,
    /// The program [pinned](Chat::pin) it.
    pub is_pinned: bool,
    /// The message.
    pub message: Message,
}

impl Chat {
    pub(crate) fn new(store: Arc<dyn Store>, id: String) -> Self {
        Chat {
            store,
            id,
            wait: Duration::ZERO,
            lease: LEASE,
        }
    }

    /// Returns the id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Sets how long a call waits while another one has the conversation. Default: not at all, it gets `conflict`. The call's deadline
    /// bounds it, too.
    #[must_use]
    pub fn wait(mut self, longest: Duration) -> Self {
        self.wait = longest;
        self
    }

    /// Sets how long a claim holds without being renewed: how long others are kept away after a process has died. Default: a minute. A
    /// running call renews it three times in that time.
    #[must_use]
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// Returns how many turns were appended, how many messages there are, and what is under way.
    ///
    /// # Errors
    /// `aborted` if the database fails.
    pub async fn info(&self) -> Result<ChatInfo, NodeError> {
        Ok(ChatInfo::of(self.row().await?))
    }

    /// Returns the whole history, as the next call has it. A node with [`compact`](llmnode_runtime::Compact) sends less, once earlier
    /// turns have left out or summed up a part of it.
    ///
    /// # Errors
    /// `config_error` if it is damaged, with the number of the message; `aborted` if the database fails.
    pub async fn history(&self) -> Result<Vec<Message>, NodeError> {
        let row = self.row().await?;
        turns::check_format(&row)?;
        history::whole(&*self.store, &row).await
    }

    /// Returns messages by their numbers, which begin with 1: `..`, `21..=40`.
    ///
    /// # Errors
    /// `config_error` if one of them cannot be read; `aborted` if the database fails.
    pub async fn messages(
        &self,
        numbers: impl RangeBounds<u64> + Send,
    ) -> Result<Vec<ChatMessage>, NodeError> {
        let first = match numbers.start_bound() {
            Bound::Included(first) => *first,
            Bound::Excluded(before) => before.saturating_add(1),
            Bound::Unbounded => 1,
        };
        let last = match numbers.end_bound() {
            Bound::Included(last) => *last,
            Bound::Excluded(behind) => behind.saturating_sub(1),
            Bound::Unbounded => u64::MAX,
        };
        let row = self.row().await?;
        turns::check_format(&row)?;
        let stored = history::stored(&*self.store, &row, first..=last).await?;
        let messages = history::read(&*self.store, &stored).await?;
        let with_number = stored.into_iter().zip(messages);
        Ok(with_number
            .map(|(stored, message)| ChatMessage {
                number: stored.number,
                turn: stored.turn,
                is_pinned: stored.pinned,
                message,
            })
            .collect())
    }

    /// Says something to the model with the next turn, such as a rule that holds from now on: a message of the program before the
    /// question. It moves no revision, and stays in the history once the turn is appended.
    ///
    /// # Errors
    /// `aborted` if the database fails.
    pub async fn pin(&self, text: impl Into<String>) -> Result<(), NodeError> {
        let text = text.into();
        self.change(|row, _| {
            let mut next = row.clone();
            let number = row.pins.last().map_or(1, |pin| pin.number + 1);
            let text = text.clone();
            next.pins.push(Pin { number, text });
            Ok(Next::row(next, false))
        })
        .await
    }

    /// Returns the pause of a turn that waits for decisions, as far as it is decided: what
    /// [`Call::approve`](llmnode_runtime::Call::approve) takes.
    ///
    /// # Errors
    /// `aborted` if the database fails.
    pub async fn paused(&self) -> Result<Option<Paused>, NodeError> {
        let row = self.row().await?;
        self.whole_pause(&row).await
    }

    /// With the messages that are stored in the history alone.
    async fn whole_pause(&self, row: &ChatRow) -> Result<Option<Paused>, NodeError> {
        let Some(pause) = &row.pause else {
            return Ok(None);
        };
        let shared = body::shared(&pause.body)?;
        let stored = history::stored(&*self.store, row, 1..=shared).await?;
        let history = history::read(&*self.store, &stored).await?;
        body::pause_read(&pause.body, &history).map(Some)
    }

    /// Decides on a call that waits, and stores it. Returns the pause with all decisions so far.
    ///
    /// # Errors
    /// `config_error` if no such call waits; `conflict` if nothing waits any more; `aborted` if the database fails.
    pub async fn decide(&self, call: &str, approval: Approval) -> Result<Paused, NodeError> {
        self.give(call, Verdict::Approval(approval)).await
    }

    /// Stores the result of a call whose tool is outside of the program. Returns the pause with all decisions so far.
    ///
    /// # Errors
    /// As of [`decide`](Self::decide).
    pub async fn answer(&self, call: &str, result: impl Into<Value>) -> Result<Paused, NodeError> {
        self.give(call, Verdict::Result(result.into())).await
    }

    async fn give(&self, call: &str, verdict: Verdict) -> Result<Paused, NodeError> {
        let mut decided = None;
        self.change(|row, now| {
            let next = turns::decided(row, call, &verdict, now)?;
            decided = Some(next.clone());
            Ok(Next::row(next, true))
        })
        .await?;
        let paused = match &decided {
            Some(row) => self.whole_pause(row).await?,
            None => None,
        };
        paused.ok_or_else(|| conflict("nothing was decided"))
    }

    /// Returns the turn that has no answer: its question, and the rounds that were paid for. It is there while a call runs, and after
    /// one that failed, was dropped or died, until the next turn begins. [`Call::resume`](llmnode_runtime::Call::resume) goes on.
    ///
    /// # Errors
    /// `aborted` if the database fails.
    pub async fn unfinished(&self) -> Result<Option<Unfinished>, NodeError> {
        let row = self.row().await?;
        let body = row.unfinished.map(|kept| kept.body);
        Ok(body.map(|body| serde_json::from_str(&body)).transpose()?)
    }

    /// Makes a conversation that shares the first messages of this one, and copies none of them: to edit a message, or to have it
    /// answered anew, fork before it. Its id is this one's with `~` and a random text behind it.
    ///
    /// # Errors
    /// `config_error` if a turn would be cut: `messages` is 0 or the number of the last message of a turn; `aborted` if the database
    /// fails.
    pub async fn fork_at(&self, messages: u64) -> Result<Chat, NodeError> {
        let row = self.row().await?;
        turns::check_format(&row)?;
        self.check_place(&row, messages).await?;
        let mut parent = (messages > 0).then(|| Parent {
            chat: self.id.clone(),
            messages,
        });
        // What is shared only is a fork of the conversation that has it.
        while let Some(of) = &parent {
            let Some(above) = self.store.read(&of.chat).await?.and_then(|row| row.parent) else {
                break;
            };
            if messages > above.messages {
                break;
            }
            let chat = above.chat;
            parent = Some(Parent { chat, messages });
        }
        let unique = ids::unique();
        let id = format!("{}~{}", self.id, unique.get(..12).unwrap_or(&unique));
        let fork = ChatRow {
            messages,
            parent,
            changed: self.store.now().await?,
            ..fresh(&id)
        };
        let change = Change {
            row: fork,
            ..Change::default()
        };
        if !self.store.write(&change).await? {
            return Err(conflict(format!(
                "the chat {:?} was deleted while it was forked",
                self.id
            )));
        }
        Ok(Chat { id, ..self.clone() })
    }

    async fn check_place(&self, row: &ChatRow, messages: u64) -> Result<(), NodeError> {
        if messages == 0 || messages == row.messages {
            return Ok(());
        }
        let around = messages..=messages.saturating_add(1);
        let around = history::stored(&*self.store, row, around).await?;
        let why = match &around[..] {
            [last, next] if last.turn != next.turn => return Ok(()),
            [_, _] => "is within a turn; take the number of the last message of a turn",
            _ => "is more than the chat has",
        };
        let why = format!(
            "{messages} messages of the chat {:?} cannot be shared: that {why}",
            self.id
        );
        Err(NodeError::new(Category::ConfigError, why))
    }

    async fn row(&self) -> Result<ChatRow, NodeError> {
        let row = self.store.read(&self.id).await?;
        Ok(row.unwrap_or_else(|| fresh(&self.id)))
    }

    /// Writes what follows on the stored row, and begins again if somebody else was faster. `next` gets the row and the time.
    async fn change(
        &self,
        mut next: impl FnMut(&ChatRow, u64) -> Result<Next, NodeError> + Send,
    ) -> Result<(), NodeError> {
        for _ in 0..TRIES {
            let now = self.store.now().await?;
            let stored = self.store.read(&self.id).await?;
            let over = stored.as_ref().map(|row| row.version);
            let row = stored.unwrap_or_else(|| fresh(&self.id));
            turns::check_format(&row)?;
            let mut change = match next(&row, now)? {
                Next::Nothing => return Ok(()),
                Next::Change(change) => *change,
            };
            change.over = over;
            change.row.changed = now;
            change.row.version = over.map_or(row.version, |version| version.wrapping_add(1));
            if self.store.write(&change).await? {
                return Ok(());
            }
        }
        Err(conflict(format!(
            "the chat {:?} is written by others all the time; try again later",
            self.id
        )))
    }

    async fn claim(&self, by: &Claimant<'_>, guard: &mut ClaimGuard<'_>) -> Result<u64, Refused> {
        let mut busy = None;
        let mut last_pin = 0;
        let claimed = self
            .change(|row, now| {
                last_pin = turns::last_pin(row, by);
                match turns::claim(row, by, now) {
                    Ok(next) => {
                        guard.may_be_written = true;
                        guard.may_create = is_missing(row);
                        Ok(Next::row(next, false))
                    }
                    Err(Refused::Never(error)) => {
                        guard.may_be_written = false;
                        Err(error)
                    }
                    Err(Refused::Busy(error)) => {
                        guard.may_be_written = false;
                        busy = Some(error);
                        Ok(Next::Nothing)
                    }
                }
            })
            .await;
        match (claimed, busy) {
            (Err(error), _) => Err(Refused::Never(error)),
            (Ok(()), Some(error)) => Err(Refused::Busy(error)),
            (Ok(()), None) => Ok(last_pin),
        }
    }

    /// Claims now, or as soon as others have ended.
    async fn claim_in_time(
        &self,
        by: &Claimant<'_>,
        guard: &mut ClaimGuard<'_>,
    ) -> Result<u64, NodeError> {
        let clock: &dyn Clock = by.new.clock;
        let begun = clock.now();
        loop {
            let busy = match self.claim(by, guard).await {
                Ok(last_pin) => return Ok(last_pin),
                Err(Refused::Never(error)) => return Err(error),
                Err(Refused::Busy(error)) => error,
            };
            let waited = clock.now().saturating_duration_since(begun);
            match self.wait.checked_sub(waited) {
                Some(left) if left > Duration::ZERO => clock.sleep(left.min(POLL)).await,
                _ => return Err(busy),
            }
        }
    }

    /// A turn that an earlier process appended: it has the history that it had then.
    async fn appended_turn(&self, id: &str) -> Result<Option<BegunTurn>, NodeError> {
        let Some(first) = self.store.turn(&self.id, id).await? else {
            return Ok(None);
        };
        let row = self.row().await?;
        let stored = history::stored(&*self.store, &row, 1..=row.messages).await?;
        let had = stored
            .into_iter()
            .take_while(|one| one.number < first || (one.pinned && one.turn == id))
            .collect::<Vec<_>>();
        let pins = had.iter().filter(|one| one.number >= first).count();
        let history = history::read(&*self.store, &had).await?;
        let mut turn = BegunTurn::new(id, row.revision, history);
        turn.covers = history::covers(&*self.store, &row, first.saturating_sub(1)).await?;
        turn.pins = pins;
        turn.is_appended = true;
        Ok(Some(turn))
    }

    async fn begun(&self, id: &str, owner: &str, last_pin: u64) -> Result<BegunTurn, NodeError> {
        let row = self.row().await?;
        let mut history = history::whole(&*self.store, &row).await?;
        let pins = row.pins.iter().filter(|pin| pin.number <= last_pin);
        let pins: Vec<Message> = pins.map(|pin| Message::user(&*pin.text).pinned()).collect();
        let count = pins.len();
        history.extend(pins);
        let mut turn = BegunTurn::new(id, row.revision, history);
        turn.covers = history::covers(&*self.store, &row, row.messages).await?;
        turn.unfinished = row.unfinished.as_ref().and_then(readable);
        owner.clone_into(&mut turn.owner);
        turn.pins = count;
        turn.last_pin = last_pin;
        turn.renew_after = (self.lease / 3).max(Duration::from_millis(10));
        Ok(turn)
    }

    async fn release(&self, turn: &BegunTurn, body: Option<String>) -> Result<(), NodeError> {
        self.change(|row, _| {
            Ok(match turns::failed(row, turn, body.clone()) {
                Some(next) => Next::row(next, body.is_some()),
                None => Next::Nothing,
            })
        })
        .await
    }

    async fn append_all(
        &self,
        turn: &BegunTurn,
        messages: &[Message],
        covers: &[Covers],
    ) -> Result<(), NodeError> {
        let pins = turn.history.len().saturating_sub(turn.pins);
        let pins = turn.history.get(pins..).unwrap_or_default();
        let count = (pins.len() + messages.len()) as u64;
        self.change(|row, _| {
            let next = turns::appended(row, turn, count)?;
            let mut change = Change {
                row: next,
                has_new_bodies: true,
                covers: covers.to_vec(),
                ..Change::default()
            };
            let pinned = pins.iter().map(|message| (true, message));
            let turn_messages = messages.iter().map(|message| (false, message));
            for (number, (is_pinned, message)) in
                (row.messages + 1..).zip(pinned.chain(turn_messages))
            {
                let Written { message, blobs } =
                    body::written(number, &turn.id, is_pinned, message)?;
                change.messages.push(message);
                change.blobs.extend(blobs);
            }
            Ok(Next::Change(Box::new(change)))
        })
        .await
    }
}

/// What another version has written may be unreadable. Only a summary is lost, which is made again.
fn readable(kept: &KeptTurn) -> Option<Unfinished> {
    serde_json::from_str(&kept.body).ok()
}

/// What follows on a row.
enum Next {
    Nothing,
    Change(Box<Change>),
}

impl Next {
    fn row(row: ChatRow, has_new_bodies: bool) -> Self {
        Next::Change(Box::new(Change {
            row,
            has_new_bodies,
            ..Change::default()
        }))
    }
}

/// Whether it stands for a chat that is not stored: each write sets the time.
fn is_missing(row: &ChatRow) -> bool {
    row.changed == 0
}

fn fresh(id: &str) -> ChatRow {
    ChatRow {
        id: id.to_owned(),
        version: ids::first_version(),
        format: ChatRow::FORMAT,
        ..ChatRow::default()
    }
}

impl TurnStore for Chat {
    fn id(&self) -> &str {
        &self.id
    }

    fn begin<'a>(&'a self, turn: NewTurn<'a>) -> BoxFuture<'a, Result<BegunTurn, NodeError>> {
        Box::pin(async move {
            for id in [&turn.id, &turn.older_id].into_iter().flatten() {
                if let Some(appended) = self.appended_turn(id).await? {
                    return Ok(appended);
                }
            }
            let begun_as = match &turn.older_id {
                Some(_) => turns::id_of(&self.row().await?, &turn).map(str::to_owned),
                None => turn.id.clone(),
            };
            let id = begun_as.unwrap_or_else(ids::unique);
            let owner = ids::unique();
            let approves = turn.approves.map(Paused::id);
            let by = Claimant {
                new: &turn,
                turn: &id,
                owner: &owner,
                approves: approves.as_deref(),
                lease: u64::try_from(self.lease.as_millis()).unwrap_or(u64::MAX),
            };
            let mut guard = ClaimGuard {
                chat: self,
                owner: &owner,
                may_be_written: false,
                may_create: false,
            };
            let last_pin = self.claim_in_time(&by, &mut guard).await?;
            guard.may_create = false;
            let mut begun = self.begun(&id, &owner, last_pin).await?;
            begun.approves = approves;
            guard.may_be_written = false;
            Ok(begun)
        })
    }

    fn renew<'a>(&'a self, turn: &'a BegunTurn) -> BoxFuture<'a, Result<(), NodeError>> {
        let lease = u64::try_from(self.lease.as_millis()).unwrap_or(u64::MAX);
        Box::pin(async move {
            self.change(|row, now| {
                let next = turns::renewed(row, turn, now.saturating_add(lease))?;
                Ok(Next::row(next, false))
            })
            .await
        })
    }

    fn keep<'a>(
        &'a self,
        turn: &'a BegunTurn,
        so_far: &'a Unfinished,
    ) -> BoxFuture<'a, Result<(), NodeError>> {
        Box::pin(async move {
            let body = serde_json::to_string(so_far)?;
            self.change(|row, _| Ok(Next::row(turns::kept(row, turn, body.clone())?, true)))
                .await
        })
    }

    fn append<'a>(
        &'a self,
        turn: &'a BegunTurn,
        messages: &'a [Message],
        covers: &'a [Covers],
    ) -> BoxFuture<'a, Result<(), NodeError>> {
        Box::pin(async move {
            let outcome = self.append_all(turn, messages, covers).await;
            // The answer of the database may have been lost behind a commit.
            if outcome.is_err() && self.store.turn(&self.id, &turn.id).await?.is_some() {
                return Ok(());
            }
            outcome
        })
    }

    fn pause<'a>(
        &'a self,
        turn: &'a BegunTurn,
        paused: &'a Paused,
    ) -> BoxFuture<'a, Result<(), NodeError>> {
        Box::pin(async move {
            let kept = turn.history.len().saturating_sub(turn.pins);
            let kept = turn.history.get(..kept).unwrap_or_default();
            let body = body::pause_written(paused, kept)?;
            self.change(|row, _| {
                let next = turns::paused(row, turn, paused, body.clone())?;
                Ok(Next::row(next, true))
            })
            .await
        })
    }

    fn fail<'a>(
        &'a self,
        turn: &'a BegunTurn,
        so_far: Option<&'a Unfinished>,
    ) -> BoxFuture<'a, Result<(), NodeError>> {
        Box::pin(async move {
            let body = so_far.map(serde_json::to_string).transpose()?;
            self.release(turn, body).await
        })
    }

    fn abandon(&self, turn: &BegunTurn) {
        // Without a runtime, the claim ends by itself.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let chat = self.clone();
        let mut claim = BegunTurn::new(&*turn.id, turn.revision, Vec::new());
        turn.owner.clone_into(&mut claim.owner);
        runtime.spawn(async move {
            if let Err(error) = chat.release(&claim, None).await {
                tracing::warn!(target: "llmnode::chat", "a claim was not given up: {error:#}");
            }
        });
    }
}

/// A claim that is given up if its history cannot be read, or if the call is dropped meanwhile: also while the claim is written,
/// since a database may go on with what nobody waits for.
struct ClaimGuard<'a> {
    chat: &'a Chat,
    owner: &'a str,
    may_be_written: bool,
    /// Whether the claim that is on its way would be the first row of its chat.
    may_create: bool,
}

impl Drop for ClaimGuard<'_> {
    fn drop(&mut self) {
        if !self.may_be_written {
            return;
        }
        // Without a runtime, the claim ends by itself.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let chat = self.chat.clone();
        let owner = self.owner.to_owned();
        let may_create = self.may_create;
        runtime.spawn(async move {
            // Over a row that was written meanwhile, a claim that is still on its way is not written.
            let given_up = chat.change(|row, _| match is_missing(row) && !may_create {
                // The chat was deleted.
                true => Ok(Next::Nothing),
                false => Ok(Next::row(turns::without_claim(row, &owner), false)),
            });
            if let Err(error) = given_up.await {
                tracing::warn!(target: "llmnode::chat", "a claim was not given up: {error:#}");
            }
        });
    }
}

impl fmt::Debug for Chat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chat")
            .field("id", &self.id)
            .field("wait", &self.wait)
            .finish_non_exhaustive()
    }
}
