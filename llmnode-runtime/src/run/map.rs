//! Many calls side by side, with a bound.

use std::fmt;
use std::future::{IntoFuture, poll_fn};

use super::call::{Call, Within};
use super::pool::Pool;
use super::run::RunCore;
use crate::BoxFuture;
use crate::error::NodeError;
use crate::node::Exec;
use crate::settings::Settings;

type Start<'r, T> = Box<dyn FnOnce(Settings) -> BoxFuture<'r, Result<T, NodeError>> + Send + 'r>;

/// Calls of many nodes that start when the map is awaited.
#[must_use = "a map does nothing until it is awaited"]
pub struct Map<'r, T> {
    calls: Box<dyn Iterator<Item = Start<'r, T>> + Send + 'r>,
    concurrency: usize,
    settings: Settings,
}

impl<'r, T: Send + 'r> Map<'r, T> {
    pub(super) fn new<S, N>(
        core: &'r RunCore,
        within: Within<'r>,
        state: &'r S,
        nodes: impl Iterator<Item = N> + Send + 'r,
    ) -> Self
    where
        S: ?Sized,
        N: Exec<S, Output = T> + Send + 'r,
    {
        let calls = nodes.map(move |node| -> Start<'r, T> {
            Box::new(move |settings| {
                Box::pin(async move { Call::new(core, within, state, &node).settings(settings).await })
            })
        });
        Map { calls: Box::new(calls), concurrency: 8, settings: Settings::new() }
    }

    /// How many calls are under way at most. Default 8; 0 counts as 1.
    pub fn concurrency(mut self, calls: usize) -> Self {
        self.concurrency = calls.max(1);
        self
    }

    /// Settings of every call.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// All outputs, or the first error, with which [`NodeError::item`] says where it happened. The calls under way
    /// are cancelled then, and no further one begins.
    ///
    /// # Errors
    /// That of the call that failed first, in time.
    pub async fn try_all(self) -> Result<Vec<T>, NodeError> {
        let Map { calls, concurrency, settings } = self;
        let mut pool: Pool<'_, Result<T, NodeError>> = Pool::new();
        let mut outputs: Vec<Option<T>> = Vec::new();
        for start in calls {
            if pool.len() == concurrency {
                let (index, result) = next(&mut pool).await;
                outputs[index] = Some(result.map_err(|error| error.of_item(index))?);
            }
            pool.push(outputs.len(), start(settings.clone()));
            outputs.push(None);
        }
        while pool.len() > 0 {
            let (index, result) = next(&mut pool).await;
            outputs[index] = Some(result.map_err(|error| error.of_item(index))?);
        }
        Ok(outputs.into_iter().flatten().collect())
    }
}

impl<'r, T: Send + 'r> IntoFuture for Map<'r, T> {
    type Output = Vec<Result<T, NodeError>>;
    type IntoFuture = BoxFuture<'r, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        let Map { calls, concurrency, settings } = self;
        Box::pin(async move {
            let mut pool = Pool::new();
            let mut results: Vec<Option<Result<T, NodeError>>> = Vec::new();
            for start in calls {
                if pool.len() == concurrency {
                    let (index, result) = next(&mut pool).await;
                    results[index] = Some(result);
                }
                pool.push(results.len(), start(settings.clone()));
                results.push(None);
            }
            while pool.len() > 0 {
                let (index, result) = next(&mut pool).await;
                results[index] = Some(result);
            }
            // Every slot is filled: each pushed future has come back from the pool.
            results.into_iter().flatten().collect()
        })
    }
}

/// The next call that has ended. Gives other tasks a turn now and then, also if no call ever has to wait.
async fn next<T>(pool: &mut Pool<'_, T>) -> (usize, T) {
    tokio::task::consume_budget().await;
    poll_fn(|cx| pool.poll_next(cx)).await
}

impl<T> fmt::Debug for Map<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Map").field("concurrency", &self.concurrency).finish_non_exhaustive()
    }
}
