//! What a server says of its limits, over sockets and on each API: a map slows down before the first refusal, and a refusal is kept.

use std::time::{Duration, SystemTime};

use llmnode::prelude::*;
use llmnode::stub_server::StubReply;
use llmnode::{StubServer, TestClock};

use crate::apis::Api;

#[llm_node(prompt = "Row {number}.")]
struct Row {
    number: usize,
}

const ROWS: usize = 6;

/// What a map of a few rows did, of which the first is answered with this.
struct Seen {
    /// All waits together, by the run's clock.
    waited: Duration,
    requests: usize,
    refused: usize,
    lost: usize,
}

async fn map(api: Api, first: StubReply) -> Seen {
    let server = StubServer::builder()
        .script([first])
        .default_reply(StubReply::text("done"));
    let server = server.start().await.unwrap();
    let clock = TestClock::new();
    let run = Run::new(api.model(&server.base_url())).with_clock(clock.clone());
    let results = run
        .map((0..ROWS).map(|number| Row { number }))
        .concurrency(1)
        .report()
        .await;
    let calls = run.ledger().calls();
    let attempts = calls.iter().flat_map(|call| &call.attempts);
    Seen {
        waited: clock.waits().iter().sum(),
        requests: server.requests_seen() as usize,
        refused: attempts
            .filter(|attempt| attempt.category == Some(Category::RateLimitError))
            .count(),
        lost: results.iter().filter(|result| result.is_err()).count(),
    }
}

/// The headers of one limit, as the providers of this API write them.
fn limit(api: Api, kind: &str, remaining: u64, seconds: u64) -> StubReply {
    let reply = StubReply::text("done");
    if api == Api::Anthropic {
        let at = SystemTime::now() + Duration::from_secs(seconds);
        let name = |figure: &str| format!("anthropic-ratelimit-{kind}-{figure}");
        return reply
            .header(name("limit"), "50")
            .header(name("remaining"), remaining.to_string())
            .header(name("reset"), rfc3339(at));
    }
    let name = |figure: &str| format!("x-ratelimit-{figure}-{kind}");
    reply
        .header(name("limit"), "50")
        .header(name("remaining"), remaining.to_string())
        .header(name("reset"), format!("{seconds}s"))
}

/// Of a time in 2026 to 2099, by counting days.
fn rfc3339(time: SystemTime) -> String {
    let seconds = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let mut days = seconds / 86_400;
    let mut year = 1970;
    let is_leap = |year: u64| year.is_multiple_of(4);
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let of_day = seconds % 86_400;
    let hour = of_day / 3_600;
    let minute = of_day / 60 % 60;
    format!(
        "{year}-{month:02}-{:02}T{hour:02}:{minute:02}:{:02}Z",
        days + 1,
        of_day % 60
    )
}

#[tokio::test]
async fn a_limit_that_is_used_up_holds_a_map_before_it_is_refused() {
    for api in Api::ALL {
        for kind in ["requests", "tokens"] {
            let seen = map(api, limit(api, kind, 0, 30)).await;
            assert_eq!(
                (seen.lost, seen.refused, seen.requests),
                (0, 0, ROWS),
                "{api:?}: {kind}"
            );
            // A time of day has whole seconds.
            assert!(
                seen.waited >= Duration::from_secs(28),
                "{api:?}: {kind}: {:?}",
                seen.waited
            );
        }
    }
}

/// A server that is nobody's says what it likes: only an empty limit is believed, and none makes a map faster.
#[tokio::test]
async fn a_limit_that_is_not_used_up_holds_nobody() {
    for api in Api::ALL {
        for remaining in [1, 25, 50, 5_000_000] {
            let seen = map(api, limit(api, "requests", remaining, 30)).await;
            assert_eq!(
                (seen.lost, seen.requests, seen.waited),
                (0, ROWS, Duration::ZERO),
                "{api:?}"
            );
        }
    }
}

#[tokio::test]
async fn what_a_refusal_asks_for_is_waited_for_once() {
    for api in Api::ALL {
        for wait in [1, 20, 45] {
            let busy =
                StubReply::failure(Category::RateLimitError).retry_after(Duration::from_secs(wait));
            let seen = map(api, busy).await;
            assert_eq!(
                (seen.lost, seen.refused, seen.requests),
                (0, 1, ROWS + 1),
                "{api:?}: {wait}"
            );
            assert!(
                seen.waited >= Duration::from_secs(wait),
                "{api:?}: {wait}: {:?}",
                seen.waited
            );
            // The gate opens slowly, and never waits so long again.
            assert!(
                seen.waited < Duration::from_secs(wait + 12),
                "{api:?}: {wait}: {:?}",
                seen.waited
            );
        }
    }
}
