//! Random schedules of answers, faults, drops and overrides over real sockets: requests keep to their bound, waits are at
//! least the server's, and the ledger agrees with the server's own log.

#[path = "../faults/mod.rs"]
mod faulty;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use faulty::account::{Account, Figures, Seen};
use faulty::{Act, Ask, Caller, REFUSING};
use llmnode::stub_server::{LoggedRequest, StubReply};
use llmnode::{AttemptKind, CallRecord, Category, Settings, StubServer};
use proptest::prelude::*;
use tokio::task::JoinSet;

/// Long enough for an answer on a busy machine, short enough for stalls.
const TIMEOUT: Duration = Duration::from_millis(300);

/// A server that does what its schedule says, in the order in which requests arrive, and then is good.
struct Scheduled {
    server: StubServer,
    account: Arc<Mutex<Account>>,
}

impl Scheduled {
    async fn start(acts: Vec<Act>) -> Scheduled {
        let account = Arc::new(Mutex::new(Account::default()));
        let (told, acts) = (Arc::clone(&account), Arc::new(acts));
        let of = move |request: &LoggedRequest| {
            let number: usize = request
                .request_id()
                .trim_start_matches("req-")
                .parse()
                .unwrap();
            acts.get(number - 1).copied().unwrap_or(Act::Good)
        };
        let reply = of.clone();
        let server = StubServer::builder()
            .default_reply(StubReply::for_request(move |request| {
                reply(request).reply(request)
            }))
            .log_limit(0)
            .on_exchange(move |request| told.lock().unwrap().seen(Seen::of(request, of(request))))
            .start();
        Scheduled {
            server: server.await.unwrap(),
            account,
        }
    }

    /// Stops the server and compares both books.
    async fn compare(self, caller: &Caller) -> Figures {
        let seen = self.server.requests_seen();
        self.server.stop().await;
        let (figures, complaints) = Arc::into_inner(self.account)
            .unwrap()
            .into_inner()
            .unwrap()
            .close();
        assert!(complaints.is_empty(), "{complaints:#?}");
        assert_eq!(figures.seen, seen);
        let total = caller.run.ledger().total();
        assert_eq!(
            (total.requests, total.total.known),
            (figures.entries, figures.tokens),
            "the run's own sums"
        );
        figures
    }

    fn enter(&self, caller: &Caller, record: &CallRecord) {
        let mut account = self.account.lock().unwrap();
        caller
            .entries(record)
            .into_iter()
            .for_each(|entry| account.entry(entry));
    }
}

/// One call: what it overrides, and after how many polls it is dropped.
#[derive(Clone, Debug)]
struct Plan {
    retries: Option<u32>,
    transport_retries: Option<u32>,
    max_wait: u64,
    refused: bool,
    polls: Option<u32>,
}

impl Plan {
    fn settings(&self) -> Settings {
        let mut settings = Settings::new().max_wait(Duration::from_secs(self.max_wait));
        (settings.retries, settings.transport_retries) = (self.retries, self.transport_retries);
        settings.model = self.refused.then(|| REFUSING.into());
        settings
    }

    /// What holds of every call by itself. `alone`: no other call moves the clock, or closes the gate before it.
    fn check(&self, record: &CallRecord, alone: bool) {
        let learned = record
            .attempts
            .iter()
            .filter(|one| one.kind == AttemptKind::Adapted)
            .count();
        let (retries, transport_retries) = (
            self.retries.unwrap_or(2),
            self.transport_retries.unwrap_or(2),
        );
        let bound = 1 + (retries + transport_retries) as usize + learned;
        assert!(record.attempts.len() <= bound, "{self:?} {record:#?}");
        for attempt in &record.attempts {
            assert!(
                !alone || attempt.wait <= Duration::from_secs(self.max_wait),
                "{attempt:?}"
            );
            assert!(
                attempt.wait.is_zero() || attempt.kind == AttemptKind::Retry,
                "{attempt:?}"
            );
        }
        let last = record.attempts.last().and_then(|last| last.category);
        // Refused at the gate, which another call closed, it makes no attempt.
        let at_gate = !alone && record.category == Some(Category::RateLimitError);
        let dropped = record.category == Some(Category::Cancelled);
        assert!(record.category == last || at_gate || dropped, "{record:#?}");
    }
}

fn ask() -> impl Strategy<Value = Ask> {
    prop::sample::select(vec![
        Ask::Seconds,
        Ask::Milliseconds,
        Ask::Date,
        Ask::Renamed,
        Ask::Body,
    ])
}

fn act() -> impl Strategy<Value = Act> {
    let waits = (ask(), prop_oneof![6 => 1..30_u16, 1 => 30..4000_u16]);
    let of = |acts: &[Act]| prop::sample::select(acts.to_vec());
    prop_oneof![
        3 => waits.prop_map(|wait| Act::Busy(Some(wait))),
        6 => of(&[Act::NoJson, Act::WrongType, Act::Invalid, Act::Invalid, Act::Empty, Act::NoContent]),
        6 => of(&[
            Act::Busy(None), Act::Failed, Act::HalfError, Act::ErrorPage, Act::NoChoices, Act::Compressed,
            Act::HangUp, Act::Reset, Act::Garbage, Act::HalfBody, Act::ResetMidway, Act::Moved,
        ]),
        1 => of(&[
            Act::Good, Act::GoodWithoutUsage, Act::GoodButStopped, Act::GoodInTwo, Act::Stopped, Act::Refused,
            Act::Filtered, Act::Page, Act::WrongKey, Act::TooLong, Act::Huge, Act::Stall, Act::StallMidway,
        ]),
    ]
}

fn plan() -> impl Strategy<Value = Plan> {
    let polls = prop_oneof![3 => Just(None), 1 => (0..25_u32).prop_map(Some)];
    let few = || prop::option::of(0..5_u32);
    let plan = (
        few(),
        few(),
        prop::sample::select(vec![10, 60]),
        prop::bool::weighted(0.1),
        polls,
    );
    plan.prop_map(
        |(retries, transport_retries, max_wait, refused, polls)| Plan {
            retries,
            transport_retries,
            max_wait,
            refused,
            polls,
        },
    )
}

async fn play(acts: Vec<Act>, plans: Vec<Plan>) {
    let server = Scheduled::start(acts).await;
    let caller = Arc::new(Caller::new(&server.server.base_url(), TIMEOUT).unwrap());
    let alone = plans.len() == 1;
    let mut calls = JoinSet::new();
    for (number, plan) in (0..).zip(plans) {
        let caller = Arc::clone(&caller);
        calls.spawn(async move {
            let record = caller.call(number, plan.settings(), plan.polls).await;
            plan.check(&record, alone);
            record
        });
    }
    let mut waited = Duration::ZERO;
    let mut dropped = false;
    for record in calls.join_all().await {
        dropped |= record.category == Some(Category::Cancelled);
        waited += record
            .attempts
            .iter()
            .map(|attempt| attempt.wait)
            .sum::<Duration>();
        server.enter(&caller, &record);
    }
    // A wait at the gate is measured, and not added up.
    let by_clock = caller.clock.waited();
    assert!(
        !alone || waited < by_clock + TIMEOUT,
        "who asked again, waited"
    );
    // A call that is dropped between two steps of its wait has waited for an attempt that it does not make.
    assert!(
        !alone || dropped || by_clock < waited + TIMEOUT,
        "who waited, asked again"
    );

    // Whatever came before, the run is usable: the schedule is at its end some time.
    for number in 100.. {
        let record = caller.call(number, Settings::new(), None).await;
        server.enter(&caller, &record);
        if record.category.is_none() {
            break;
        }
        assert!(number < 200, "the schedule never ends");
    }
    server.compare(&caller).await;
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 200, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn every_schedule_keeps_to_its_bounds_and_both_books_agree(
        acts in prop::collection::vec(act(), 0..16),
        plans in prop::collection::vec(plan(), 1..4),
    ) {
        block_on(play(acts, plans));
    }
}

/// Its second wait has two steps, its own and the gate's: the call is dropped before, between and after them.
#[test]
fn a_call_is_dropped_between_the_steps_of_a_wait() {
    for polls in 0..20 {
        let acts = vec![
            Act::Busy(Some((Ask::Seconds, 1))),
            Act::Busy(None),
            Act::HalfError,
        ];
        let plan = Plan {
            retries: None,
            transport_retries: Some(4),
            max_wait: 10,
            refused: false,
            polls: Some(polls),
        };
        block_on(play(acts, vec![plan]));
    }
}

/// Calls that fail and recover in several ways, dropped after each number of polls until they end by themselves.
#[test]
fn a_call_dropped_at_any_await_over_sockets_leaves_true_books() {
    let schedules = [
        vec![
            Act::Busy(Some((Ask::Seconds, 5))),
            Act::Invalid,
            Act::GoodInTwo,
        ],
        vec![Act::Reset, Act::HalfBody, Act::Good],
        vec![Act::NoJson, Act::Failed, Act::Good],
    ];
    for acts in schedules {
        for polls in 0.. {
            let ended = block_on(async {
                let server = Scheduled::start(acts.clone()).await;
                let caller = Caller::new(&server.server.base_url(), 30 * TIMEOUT).unwrap();
                let record = caller.call(0, Settings::new(), Some(polls)).await;
                server.enter(&caller, &record);
                let cancelled = record.category == Some(Category::Cancelled);
                assert!(cancelled || record.category.is_none(), "{record:#?}");
                // No more is asked for a call that nobody awaits.
                let seen = server.server.requests_seen();
                tokio::time::sleep(Duration::from_millis(2)).await;
                assert!(server.server.requests_seen() <= seen + 1, "{polls}");
                server.compare(&caller).await;
                !cancelled
            });
            if ended {
                assert!(polls >= 5, "each request, wait and validation has an await");
                break;
            }
        }
    }
}

/// The server finds the client gone, before it is stopped and whatever it is about to do.
#[test]
fn a_dropped_call_leaves_no_request_behind() {
    for act in [Act::Stall, Act::StallMidway] {
        block_on(async {
            let server = Scheduled::start(vec![act]).await;
            let caller = Caller::new(&server.server.base_url(), 1000 * TIMEOUT).unwrap();
            let arrived = async {
                while server.server.requests_seen() == 0 {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            };
            tokio::select! {
                record = caller.call(0, Settings::new(), None) => unreachable!("{record:?}"),
                () = arrived => {}
            }
            let record = caller.run.ledger().calls().pop().unwrap();
            assert_eq!(record.category, Some(Category::Cancelled));
            server.enter(&caller, &record);
            let gone = async {
                while server.account.lock().unwrap().figures().seen == 0 {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            };
            tokio::time::timeout(100 * TIMEOUT, gone)
                .await
                .expect("the connection is closed");
            server.compare(&caller).await;
        });
    }
}
