//! Whether a batch is there that may have been created.

use std::time::{Duration, Instant};

use llmnode_model::batch::{BatchTraces, BatchWire};
use llmnode_model::{Category, Group, ModelError};

use super::parked::Failed;
use super::pool::BatchPool;

/// The request that creates a batch goes on when its process is killed, and the next one may be started within a second. So a batch
/// that was planned since then and is not there is looked for once more, after the wait between two looks.
const UNDER_WAY: Duration = Duration::from_secs(120);

/// Looks for a batch until the provider says whether it is there. An answer that does not come says nothing: whoever took it for
/// a no would send and pay everything twice.
pub(super) async fn find(
    pool: &BatchPool,
    wire: &dyn BatchWire,
    traces: &BatchTraces,
    end: Option<Instant>,
) -> Result<Option<String>, Failed> {
    let mut look = 0;
    loop {
        let error = match wire.find(traces).await {
            Ok(None) if look == 0 && may_be_under_way(pool, traces) => {
                if !pool.pause(pool.api.wait_before(look)).await {
                    let ended = ModelError::new(Category::Network, "the map ended meanwhile");
                    return Err(Failed::unread(&traces.name, &ended));
                }
                look += 1;
                continue;
            }
            Ok(found) => return Ok(found),
            Err(error) => error,
        };
        let is_over = pool.api.once || end.is_none_or(|end| pool.clock.now() >= end);
        let may_change = error.category.group() == Group::Transport;
        if is_over || !may_change || !pool.pause(pool.api.wait_before(look)).await {
            return Err(Failed::unread(&traces.name, &error));
        }
        look += 1;
    }
}

/// A map that waits for nothing is started again too late for that.
fn may_be_under_way(pool: &BatchPool, traces: &BatchTraces) -> bool {
    let age = traces.planned.elapsed().unwrap_or_default();
    !pool.api.once && age < UNDER_WAY
}
