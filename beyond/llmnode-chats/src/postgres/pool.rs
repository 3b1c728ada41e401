//! Connections to Postgres, a few for any number of users.
//!
//! Who wants one waits for a permit, in order. With a permit an idle connection is taken, or a new one is made. Where the database
//! allows fewer connections than there are permits, as a role's `CONNECTION LIMIT` does, that is found out at the first one too many:
//! the permit goes, and who had it waits again, for a connection of somebody else. Now and then one permit comes back, since the other
//! programs that had the connections may have gone.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use llmnode_model::internal::lock;
use llmnode_runtime::{BoxError, BoxFuture, Category, NodeError};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

/// Connections at once. An operation takes milliseconds.
const CONNECTIONS: usize = 8;

/// Of one operation: a claim holds as long.
const LONGEST: Duration = Duration::from_secs(60);

/// After so many operations one connection more is tried, if the database has refused one.
const OPERATIONS_TO_TRY_AGAIN: u32 = 256;

/// Makes a connection, and sees to it that it is driven.
pub(crate) type Connect =
    dyn Fn() -> BoxFuture<'static, Result<Client, BoxError>> + Send + Sync + 'static;

pub(super) struct Pool {
    connect: Arc<Connect>,
    state: Mutex<State>,
    permits: Semaphore,
}

struct State {
    idle: Vec<Client>,
    /// Permits that there are, taken or not.
    size: usize,
    /// Since the database has last refused a connection, or allowed one more.
    operations: u32,
}

/// A connection in use, which counts until it is dropped or given back.
pub(super) struct UsedClient<'s> {
    client: Client,
    permit: SemaphorePermit<'s>,
}

impl Deref for UsedClient<'_> {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl DerefMut for UsedClient<'_> {
    fn deref_mut(&mut self) -> &mut Client {
        &mut self.client
    }
}

/// Ends an operation that waits for a lock, or for a network that is gone, so that its connection and its permit are free again.
pub(super) async fn in_time<F: Future>(operation: F) -> Result<F::Output, NodeError> {
    let outcome = tokio::time::timeout(LONGEST, operation).await;
    outcome.map_err(|late| {
        let why = format!(
            "Postgres has not answered for {LONGEST:?}; check its address, and whether somebody holds a lock on its tables"
        );
        NodeError::new(Category::Aborted, why).with_source(late)
    })
}

impl Pool {
    pub(super) fn new(connect: Arc<Connect>) -> Self {
        let state = State {
            idle: Vec::new(),
            size: CONNECTIONS,
            operations: 0,
        };
        Pool {
            connect,
            state: Mutex::new(state),
            permits: Semaphore::new(CONNECTIONS),
        }
    }

    /// # Errors
    /// `aborted`, if no connection can be made, and nobody has one that could be waited for.
    pub(super) async fn client(&self) -> Result<UsedClient<'_>, NodeError> {
        loop {
            let permit = self.permits.acquire().await.map_err(|closed| {
                NodeError::new(Category::Aborted, "the connections to Postgres are closed")
                    .with_source(closed)
            })?;
            if let Some(client) = self.idle() {
                return Ok(UsedClient { client, permit });
            }
            match in_time((self.connect)()).await? {
                Ok(client) => return Ok(UsedClient { client, permit }),
                Err(fault) if is_one_too_many(&fault) && self.shrinks() => permit.forget(),
                Err(fault) => return Err(unreachable(fault)),
            }
        }
    }

    fn idle(&self) -> Option<Client> {
        let mut state = lock(&self.state);
        while let Some(client) = state.idle.pop() {
            if !client.is_closed() {
                return Some(client);
            }
        }
        None
    }

    /// Whether there is a permit less from now on. The last one stays: without it, nobody would try again.
    fn shrinks(&self) -> bool {
        let mut state = lock(&self.state);
        if state.size < 2 {
            return false;
        }
        state.size -= 1;
        state.operations = 0;
        true
    }

    /// Of an operation that failed, the connection is closed: nobody knows what state it is in.
    pub(super) fn give_back(&self, used: UsedClient<'_>) {
        let UsedClient { client, permit } = used;
        let mut state = lock(&self.state);
        if !client.is_closed() {
            state.idle.push(client);
        }
        state.operations = state.operations.saturating_add(1);
        let tries_again = state.size < CONNECTIONS && state.operations >= OPERATIONS_TO_TRY_AGAIN;
        if tries_again {
            state.size += 1;
            state.operations = 0;
            self.permits.add_permits(1);
        }
        // Behind the connection, so that who gets the permit finds it.
        drop(permit);
    }
}

/// Whether the database has no room for one more, and works.
fn is_one_too_many(fault: &BoxError) -> bool {
    let fault = fault.downcast_ref::<tokio_postgres::Error>();
    fault.and_then(tokio_postgres::Error::code) == Some(&SqlState::TOO_MANY_CONNECTIONS)
}

fn unreachable(fault: BoxError) -> NodeError {
    let why = format!("Postgres cannot be reached: {fault}; check its address, and that it runs");
    NodeError::new(Category::Aborted, why).with_source(fault)
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}
