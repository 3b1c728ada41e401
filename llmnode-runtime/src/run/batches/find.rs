//! Whether a batch is there that may have been created.

use std::time::{Duration, Instant};

use llmnode_model::batch::{BatchTraces, BatchWire};
use llmnode_model::{Category, Group, ModelError};

use super::parked::Failed;
use super::pool::BatchPool;

/// The request that creates a batch goes on when its process is killed, and the next one may be started within a second. So a batch
/// that was planned since then and is not there is looked for once more, after the wait between two looks. Between a plan and the end
/// of its last creation are the notes of all lines, the upload, the creation of 200 MB, and more tries for an hour.
const UNDER_WAY: Duration = Duration::from_secs(2 * 3_600);

/// Looks for a batch until the provider says whether it is there. An answer that does not come says nothing: whoever took it for
/// a no would send and pay everything twice. So it is no first look, either.
pub(super) async fn find(
    pool: &BatchPool,
    wire: &dyn BatchWire,
    traces: &BatchTraces,
    end: Option<Instant>,
) -> Result<Option<String>, Failed> {
    let mut looks = 0;
    let mut was_missing = false;
    loop {
        let error = match wire.find(traces).await {
            Ok(None) if !was_missing && may_be_under_way(pool, traces) => {
                was_missing = true;
                None
            }
            Ok(found) => return Ok(found),
            Err(error) => Some(error),
        };
        if let Some(error) = &error {
            let is_over = pool.api.once || end.is_none_or(|end| pool.clock.now() >= end);
            // `paused`: one that may be it has not ended yet.
            let is_open = error.category == Category::Paused;
            let may_change = is_open || error.category.group() == Group::Transport;
            if is_over || !may_change {
                return Err(Failed::unread(&traces.name, error));
            }
        }
        if !pool.pause(pool.api.wait_before(looks)).await {
            let error = error.unwrap_or_else(map_ended);
            return Err(Failed::unread(&traces.name, &error));
        }
        looks += 1;
    }
}

fn map_ended() -> ModelError {
    ModelError::new(Category::Network, "the map ended meanwhile")
}

/// A map that waits for nothing is started again too late for that.
fn may_be_under_way(pool: &BatchPool, traces: &BatchTraces) -> bool {
    let age = traces.planned.elapsed().unwrap_or_default();
    !pool.api.once && age < UNDER_WAY
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::time::SystemTime;

    use llmnode_model::batch::{
        BatchBounds, BatchLine, BatchOrder, BatchResults, BatchStatus, LineResponse,
    };
    use llmnode_model::{BoxFuture, Completion, Request, Sink};

    use super::*;
    use crate::clock::{Clock as _, TestClock};
    use crate::prices::Prices;
    use crate::run::batches::api::BatchApi;

    const SECOND: Duration = Duration::from_secs(1);

    type Answer = Result<Option<String>, ModelError>;
    type Asked<'a, T> = BoxFuture<'a, Result<T, ModelError>>;

    /// Answers looks in the order of a script, and nothing else.
    struct Scripted(Mutex<Vec<Answer>>);

    impl BatchWire for Scripted {
        fn place(&self) -> usize {
            0
        }

        fn has_api(&self, _: &str) -> bool {
            true
        }

        fn bounds(&self) -> BatchBounds {
            unreachable!()
        }

        fn line(&self, _: &Request, _: &mut dyn Sink) -> Result<BatchLine, ModelError> {
            unreachable!()
        }

        fn upload<'a>(&'a self, _: &'a BatchOrder) -> Asked<'a, Option<String>> {
            unreachable!()
        }

        fn create<'a>(&'a self, _: &'a BatchOrder, _: Option<&'a str>) -> Asked<'a, String> {
            unreachable!()
        }

        fn find<'a>(&'a self, _: &'a BatchTraces) -> Asked<'a, Option<String>> {
            let next = self.0.lock().unwrap().remove(0);
            Box::pin(std::future::ready(next))
        }

        fn poll<'a>(&'a self, _: &'a str) -> Asked<'a, BatchStatus> {
            unreachable!()
        }

        fn results<'a>(&'a self, _: &'a BatchStatus) -> Asked<'a, Box<dyn BatchResults>> {
            unreachable!()
        }

        fn cancel<'a>(&'a self, _: &'a str) -> Asked<'a, ()> {
            unreachable!()
        }

        fn delete<'a>(&'a self, _: &'a [String]) -> Asked<'a, ()> {
            unreachable!()
        }

        fn answer(
            &self,
            _: &Request,
            _: LineResponse,
            _: &mut dyn Sink,
        ) -> Result<Completion, ModelError> {
            unreachable!()
        }
    }

    /// What was found of a batch that was planned so long ago, the answers that nobody asked for, and the waits between the looks.
    struct Found {
        outcome: Result<Option<String>, Failed>,
        left: usize,
        waits: Vec<Duration>,
    }

    async fn found(api: BatchApi, age: Duration, answers: Vec<Answer>) -> Found {
        let clock = TestClock::new();
        let pool = BatchPool::new(api, Arc::new(clock.clone()), Arc::new(Prices::new()), 8);
        let wire = Scripted(Mutex::new(answers));
        let traces = BatchTraces {
            name: "llmnode-1".to_owned(),
            api: "chat".to_owned(),
            model: "gpt-x".to_owned(),
            file: None,
            planned: SystemTime::now().checked_sub(age).unwrap(),
            lines: 1,
            line: None,
        };
        let end = clock.now().checked_add(3_600 * SECOND);
        let outcome = find(&pool, &wire, &traces, end).await;
        let left = wire.0.lock().unwrap().len();
        Found {
            outcome,
            left,
            waits: clock.waits(),
        }
    }

    fn missing() -> Answer {
        Ok(None)
    }

    fn there() -> Answer {
        Ok(Some("batch_1".to_owned()))
    }

    fn away() -> Answer {
        Err(ModelError::new(Category::Network, "nobody answers"))
    }

    #[tokio::test]
    async fn one_that_was_planned_a_moment_ago_is_looked_for_once_more() {
        let api = BatchApi::new().poll(20 * SECOND);
        for second in [there(), missing()] {
            let is_there = second.as_ref().unwrap().clone();
            let found = found(api.clone(), SECOND, vec![missing(), second, there()]).await;
            assert_eq!(found.outcome.ok(), Some(is_there));
            assert_eq!(found.left, 1);
            assert_eq!(found.waits, [20 * SECOND]);
        }
    }

    #[tokio::test]
    async fn one_that_was_planned_long_ago_is_looked_for_once() {
        let found = found(BatchApi::new(), UNDER_WAY, vec![missing(), there()]).await;
        assert_eq!(found.outcome.ok(), Some(None));
        assert_eq!(found.left, 1);
        assert!(found.waits.is_empty());
    }

    #[tokio::test]
    async fn a_map_that_waits_for_nothing_looks_once() {
        for answer in [missing(), away()] {
            let is_missing = answer.is_ok();
            let found = found(BatchApi::once(), SECOND, vec![answer, there()]).await;
            assert_eq!(found.outcome.is_ok(), is_missing);
            assert_eq!(found.left, 1);
            assert!(found.waits.is_empty());
        }
    }

    /// By then, the creation may have been on its way for longer; but who does not answer is busy, and may not list it yet.
    #[tokio::test]
    async fn an_answer_that_does_not_come_is_no_look() {
        let answers = vec![away(), away(), missing(), away(), there(), missing()];
        let found = found(BatchApi::new(), SECOND, answers).await;
        assert_eq!(found.outcome.ok(), Some(there().unwrap()));
        assert_eq!(found.left, 1);
        let minutes: Vec<Duration> = (1..=4).map(|minutes| 60 * minutes * SECOND).collect();
        assert_eq!(found.waits, minutes);
    }

    #[tokio::test]
    async fn a_refusal_ends_the_search_and_says_that_it_may_be_there() {
        let refused = || Err(ModelError::new(Category::ApiKeyError, "no such key"));
        let found = found(BatchApi::new(), SECOND, vec![missing(), refused(), there()]).await;
        let failed = found.outcome.err().unwrap();
        assert_eq!(failed.category, Category::ApiKeyError);
        assert!(
            failed.message.contains("may be paid for"),
            "{}",
            failed.message
        );
        assert_eq!(found.left, 1);
    }
}
