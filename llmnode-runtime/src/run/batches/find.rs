//! Whether a batch is there that may have been created.

use std::time::Instant;

use llmnode_model::Group;
use llmnode_model::batch::{BatchTraces, BatchWire};

use super::parked::Failed;
use super::pool::BatchPool;

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
