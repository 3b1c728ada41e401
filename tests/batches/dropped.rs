//! Calls that are dropped while the others of their batch go on: what was paid for is found by the next process.

use std::pin::pin;
use std::time::Duration;

use llmnode::journal::MapExt as _;
use llmnode::stub_server::{StubBatch, StubServer};
use llmnode::{BatchApi, BoxError, Cx, Exec, Node};

use crate::support::{APIS, Label, Place, Sort, label, letters, run, sorting, until_sent};

/// Letters of which none is corrected.
const LETTERS: usize = 3;

/// Sorts a letter, or gives up as soon as its batch is sent.
struct Hasty<'s> {
    letter: Sort,
    gives_up: Option<&'s StubServer>,
}

impl Node for Hasty<'_> {
    type Output = Option<Label>;
    const NAME: &'static str = "hasty";
}

impl Exec<()> for Hasty<'_> {
    async fn exec(&self, cx: &Cx<'_, ()>) -> Result<Option<Label>, BoxError> {
        let sorted = pin!(async { cx.call(&self.letter).await });
        let Some(server) = self.gives_up else {
            return Ok(Some(sorted.await?));
        };
        tokio::select! {
            sorted = sorted => Ok(Some(sorted?)),
            () = until_sent(server) => Ok(None),
        }
    }
}

#[tokio::test]
async fn the_answer_to_a_dropped_call_is_read_by_the_next_process() {
    for api in APIS {
        let what = format!("{api:?}");
        // It ends long after the call is dropped.
        let slow = StubBatch::new().in_progress(25);
        let server = sorting().batches([slow]).start().await.unwrap();
        let place = Place::new("dropped");
        let run = run(&server, api);
        let sort = async |gives_up: bool| {
            let nodes = letters(LETTERS).into_iter().enumerate();
            let nodes = nodes.map(|(number, letter)| Hasty {
                letter,
                gives_up: (gives_up && number == 1).then_some(&server),
            });
            run.map(nodes)
                .resume(place.open())
                .batch_api(BatchApi::new().poll(Duration::from_millis(20)))
                .await
        };

        let outcomes = sort(true).await;
        for (number, outcome) in outcomes.into_iter().enumerate() {
            let sorted = outcome.unwrap_or_else(|error| panic!("{what} {number}: {error}"));
            assert_eq!(sorted.is_none(), number == 1, "{what} {number}");
        }
        let history = place.open().history().unwrap();
        assert_eq!(history.unknown().len(), 1, "{what}");

        let outcomes = sort(false).await;
        for (number, outcome) in outcomes.into_iter().enumerate() {
            let sorted = outcome.unwrap_or_else(|error| panic!("{what} {number}: {error}"));
            assert_eq!(sorted, Some(label(number)), "{what}");
        }
        assert_eq!(server.batches_seen(), 1, "{what}");
        assert_eq!(server.billed_lines().len(), LETTERS, "{what}");
        assert_eq!(server.files_left(), 0, "{what}");
        let history = place.open().history().unwrap();
        assert!(history.unknown().is_empty(), "{what}");
        let total = history.ledger().total();
        assert_eq!(total.requests as usize, LETTERS, "{what}");
        assert_eq!(total.total.known as usize, LETTERS * 110, "{what}");
    }
}
