//! A stream of nodes over a batch API, which may have no node for a while.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use llmnode::journal::MapExt as _;
use tokio::sync::mpsc;

use crate::support::{APIS, Api, Place, Sort, label, letters, quick, run, sorting};

/// What is sent to it.
struct Letters {
    sent: mpsc::UnboundedReceiver<Sort>,
}

impl Stream for Letters {
    type Item = Sort;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Sort>> {
        self.sent.poll_recv(cx)
    }
}

fn open_stream() -> (mpsc::UnboundedSender<Sort>, Letters) {
    let (sender, sent) = mpsc::unbounded_channel();
    (sender, Letters { sent })
}

#[tokio::test]
async fn a_stream_that_gives_nothing_for_a_while_sends_what_it_gave() {
    for api in APIS {
        let server = sorting().start().await.unwrap();
        let place = Place::new("linger");
        let run = run(&server, api);
        let (sender, nodes) = open_stream();
        let mut letters = letters(7).into_iter();
        let mut send = |count: usize| {
            for letter in letters.by_ref().take(count) {
                sender.send(letter).unwrap();
            }
        };
        let mut results = run
            .map_stream(nodes)
            .resume(place.open())
            .batch_api(quick().linger(Duration::from_millis(50)))
            .as_completed();
        // The stream stays open, and gives no fourth letter before these are sorted.
        send(3);
        for _ in 0..3 {
            let (number, outcome) = results.next().await.unwrap();
            assert_eq!(outcome.unwrap(), label(number), "{api:?}");
        }
        assert_eq!(server.batches_seen(), 1, "{api:?}");
        // Letter 3 is corrected in a third batch.
        send(4);
        for _ in 0..4 {
            let (number, outcome) = results.next().await.unwrap();
            assert_eq!(outcome.unwrap(), label(number), "{api:?}");
        }
        assert_eq!(server.batches_seen(), 3, "{api:?}");
        drop(sender);
        assert!(results.next().await.is_none(), "{api:?}");
    }
}

#[tokio::test]
async fn until_then_and_while_the_stream_is_open_nothing_is_sent() {
    let server = sorting().start().await.unwrap();
    let place = Place::new("lingers");
    let run = run(&server, Api::Chat);
    let (sender, nodes) = open_stream();
    for letter in letters(3) {
        sender.send(letter).unwrap();
    }
    let mut results = run
        .map_stream(nodes)
        .resume(place.open())
        .batch_api(quick().linger(Duration::from_secs(3_600)))
        .as_completed();
    let waiting = tokio::time::timeout(Duration::from_millis(300), results.next()).await;
    assert!(waiting.is_err());
    assert_eq!(server.batches_seen(), 0);
    // At its end, there is nothing to wait for.
    drop(sender);
    while let Some((number, outcome)) = results.next().await {
        assert_eq!(outcome.unwrap(), label(number));
    }
    assert_eq!(server.batches_seen(), 1);
}
