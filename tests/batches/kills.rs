//! Processes that are killed at each record of the journal of a map over a batch API.

use std::time::Duration;

use llmnode::StubServer;
use llmnode::journal::{JournalFile, MapExt as _};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::killing::{self, Killing};
use crate::support::{APIS, Api, Place, label, letters, quick, run_at, sorting, until_sent};

/// Four letters, of which one is corrected.
const LETTERS: usize = 4;

const REQUESTS: usize = LETTERS + 1;

#[derive(Serialize, Deserialize)]
struct Orders {
    url: String,
    kind: Kind,
    kill_at: usize,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Kind {
    api: usize,
    /// Of a batch. With fewer than there are letters, several are under way side by side.
    most: usize,
}

/// The process that is killed: this test program, started again.
#[tokio::test]
async fn child() {
    let Some((journal, orders)) = killing::orders::<Orders>() else {
        return;
    };
    let file = JournalFile::open(&journal).unwrap();
    run_at(&orders.url, APIS[orders.kind.api])
        .map(letters(LETTERS))
        .resume(Killing::new(file, Some(orders.kill_at)))
        .batch_api(quick().max_requests(orders.kind.most))
        .await;
}

/// Waits until the server has done with what a killed process had sent: a batch is created even if nobody is left to hear of it. The
/// next process of a program finds it by longer waits than these tests have.
async fn is_done_with(server: &StubServer) {
    // Connections are accepted in their order, so all of the killed process are counted once this one is answered.
    let mut last = TcpStream::connect(server.address()).await.unwrap();
    let request = b"GET /v1/models HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    last.write_all(request).await.unwrap();
    last.read_to_end(&mut Vec::new()).await.unwrap();
    while server.open_connections() > 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Kills a process there, and a second one half as far; a third one ends the map. Returns whether the first had ended before.
async fn killed_at(kind: Kind, moment: usize) -> bool {
    let Kind { api, most } = kind;
    let what = format!("{:?} by {most}, killed at {moment}", APIS[api]);
    let server = sorting().start().await.unwrap();
    let place = Place::new(&format!("kill-{api}-{most}-{moment}"));
    let kill = async |kill_at| {
        let orders = Orders {
            url: server.base_url(),
            kind,
            kill_at,
        };
        let mut child = killing::start("kills::child", &place.path(), orders);
        // The server is in this process.
        tokio::task::spawn_blocking(move || killing::was_killed(&mut child))
            .await
            .unwrap()
    };
    let has_ended = !kill(moment).await;
    is_done_with(&server).await;
    kill(moment / 2).await;
    is_done_with(&server).await;

    let run = run_at(&server.base_url(), APIS[api]);
    let outcomes = run
        .map(letters(LETTERS))
        .resume(place.open())
        .batch_api(quick().max_requests(most))
        .await;
    for (number, outcome) in outcomes.into_iter().enumerate() {
        let found = outcome.unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(found, label(number), "{what}");
    }
    let billed = server.billed_lines();
    let mut lines: Vec<&str> = billed.iter().map(|billed| &*billed.line).collect();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), REQUESTS, "each is sent: {what}");
    assert_eq!(billed.len(), REQUESTS, "none is sent twice: {what}");
    let total = run.ledger().total();
    assert_eq!(total.requests as usize, REQUESTS, "{what}");
    assert_eq!(total.total.known as usize, REQUESTS * 110, "{what}");
    assert_eq!(total.total.unreported_calls, 0, "{what}");
    let history = place.open().history().unwrap();
    assert!(
        history.unknown().is_empty(),
        "{what}: {:?}",
        history.unknown()
    );
    assert_eq!(
        history.ledger().total().requests as usize,
        REQUESTS,
        "{what}"
    );
    has_ended
}

/// As many processes as there are records, twice over.
async fn is_killed_at_any_record(kind: Kind) {
    let mut moment = 0;
    while !killed_at(kind, moment).await {
        moment += 1;
    }
    assert!(moment > 20, "{moment} moments of {kind:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_at_any_record_nothing_is_sent_twice_and_everything_is_counted_once() {
    for api in 0..APIS.len() {
        let most = LETTERS;
        is_killed_at_any_record(Kind { api, most }).await;
    }
}

/// Anthropic's list of batches has no names: those of one map are told apart by their lines.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_beside_other_batches_nothing_is_sent_twice_and_everything_is_counted_once() {
    for api in [Api::Chat, Api::Anthropic] {
        let api = APIS.iter().position(|one| *one == api).unwrap();
        is_killed_at_any_record(Kind { api, most: 2 }).await;
    }
}

#[tokio::test]
async fn a_killed_process_shows_its_batch_as_under_way() {
    let server = sorting().start().await.unwrap();
    let place = Place::new("under-way");
    let run = run_at(&server.base_url(), Api::Chat);
    let map = run
        .map(letters(3))
        .resume(place.open())
        .batch_api(quick().poll(Duration::from_secs(60)));
    // Dropped while it waits.
    tokio::select! {
        _ = map => panic!("it looks a minute later"),
        () = until_sent(&server) => {}
    }
    let history = place.open().history().unwrap();
    assert_eq!(history.unknown().len(), 3);
    assert_eq!(server.batches_seen(), 1);
    let outcomes = run
        .map(letters(3))
        .resume(place.open())
        .batch_api(quick())
        .await;
    assert!(outcomes.iter().all(Result::is_ok));
    assert_eq!(server.batches_seen(), 1);
    assert_eq!(server.billed_lines().len(), 3);
}

/// The journal is synced when a batch is planned, and next when it is uploaded or created. So a power cut in between leaves the plan alone.
#[tokio::test]
async fn a_batch_of_which_a_power_cut_left_the_plan_is_not_sent_twice() {
    for api in APIS {
        let server = sorting().start().await.unwrap();
        let place = Place::new("power-cut");
        let run = run_at(&server.base_url(), api);
        let map = run
            .map(letters(3))
            .resume(place.open())
            .batch_api(quick().poll(Duration::from_secs(60)));
        tokio::select! {
            _ = map => panic!("it looks a minute later"),
            () = until_sent(&server) => {}
        }
        let written = std::fs::read_to_string(place.path()).unwrap();
        let plan = written.find("batch_planned").unwrap();
        let end = plan + written[plan..].find('\n').unwrap() + 1;
        std::fs::write(place.path(), &written[..end]).unwrap();

        let outcomes = run
            .map(letters(3))
            .resume(place.open())
            .batch_api(quick())
            .await;
        assert!(outcomes.iter().all(Result::is_ok), "{api:?} {outcomes:?}");
        assert_eq!(server.batches_seen(), 1, "{api:?}");
        assert_eq!(server.billed_lines().len(), 3, "{api:?}");
        let total = run.ledger().total();
        assert_eq!(total.total.known, 330, "{api:?}");
    }
}
