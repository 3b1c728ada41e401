//! What earlier processes spent on a map counts once, and is reported separately from what this one spends.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use llmnode_flow::journal::{JournalFile, MapExt};
use llmnode_runtime::{
    BoxError, BoxFuture, CallReport, Category, ChatModel, Completion, DynNode, FnModel, Limits,
    ModelError, NodeError, Price, Prices, Reply, Request, Run, Sink, TokenUsage, ToolReply,
    Toolset,
};
use serde_json::json;

use crate::maps::{Rate, topics};
use crate::recorder::Recorder;
use crate::support::{Memory, path};

/// What each answer reports.
const TOKENS: u64 = 15;
const CITIES: [&str; 4] = ["Oslo", "Rome", "Bonn", "Lima"];

/// Answers with the next of these replies, and refuses behind the last one.
fn answers(replies: &'static [&'static str]) -> FnModel {
    let asked = AtomicUsize::new(0);
    let usage = TokenUsage::new(10, 5);
    FnModel::new(
        move |_| match replies.get(asked.fetch_add(1, Ordering::Relaxed)) {
            Some(reply) => Reply::text(*reply).usage(usage),
            None => Reply::failure(Category::BadRequest),
        },
    )
    .named("fn")
}

fn run(model: &FnModel) -> Run<u32> {
    let prices = Prices::new().model("fn", Price::per_million(1.0, 2.0));
    Run::new(model.clone()).with_state(9).with_prices(prices)
}

async fn rate(
    run: &Run<u32>,
    limits: Limits,
    journal: &Memory,
) -> Vec<Result<CallReport<u32>, NodeError>> {
    let map = run
        .map(topics(&CITIES))
        .concurrency(1)
        .transport_retries(0)
        .limits(limits);
    map.resume(journal.clone()).report().await
}

/// A process that is given two answers, the second one at the second try, and then none.
async fn first_process() -> Memory {
    let journal = Memory::default();
    let first = answers(&["1", "two", "2"]);
    let results = rate(&run(&first), Limits::new(), &journal).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 2);
    assert_eq!(first.requests().len(), 5);
    journal
}

#[tokio::test]
async fn a_report_tells_what_the_kept_answers_cost_apart_from_what_this_process_spends() {
    let journal = first_process().await;
    let second = answers(&["3", "4"]);
    let run = run(&second);
    let results = rate(&run, Limits::new(), &journal).await;
    let cost = |answers: u32| Some(0.000_02 * f64::from(answers));
    let figures = results.iter().map(|result| {
        let report = result.as_ref().unwrap();
        let (record, total, replayed) = (&report.record, report.total, report.replayed());
        assert_eq!((record.usage(), record.replayed_usage()), (total, replayed));
        let requests = u32::try_from(total.requests + replayed.requests).unwrap();
        assert_eq!(
            report.cost().total(),
            cost(requests),
            "asked now, or by an earlier process"
        );
        (
            total.requests,
            replayed.requests,
            replayed.total.total(),
            replayed.cost.total(),
        )
    });
    let figures: Vec<_> = figures.collect();
    assert_eq!(
        figures,
        [
            (0, 1, Some(TOKENS), cost(1)),
            (0, 2, Some(2 * TOKENS), cost(2)),
            (1, 0, Some(0), cost(0)),
            (1, 0, Some(0), cost(0))
        ],
        "the second one was corrected once"
    );
    let total = run.ledger().total();
    assert_eq!(
        (total.requests, total.total.known, second.requests().len()),
        (7, 5 * TOKENS, 2)
    );
    let rated = run.ledger().of::<Rate>().unwrap();
    assert_eq!(
        (rated.usage, rated.visits),
        (total, 8),
        "each process called each node"
    );
    let ended: Vec<_> = run
        .ledger()
        .calls()
        .iter()
        .map(|call| call.category)
        .collect();
    let limited = Some(Category::BadRequest);
    assert_eq!(
        ended,
        [None, None, limited, limited, None, None, None, None]
    );
}

#[tokio::test]
async fn what_earlier_processes_spent_counts_for_the_limits_of_the_map_the_run_and_the_node() {
    // Five requests were made; tokens and money count those of the three that were answered.
    let limits = [
        Limits::new().requests(6),
        Limits::new().tokens(3 * TOKENS + 1),
        Limits::new().money(0.000_061),
    ];
    for limits in limits {
        let none = Limits::new();
        for (of_map, of_run, of_node) in [
            (limits, none, none),
            (none, limits, none),
            (none, none, limits),
        ] {
            let (journal, second) = (first_process().await, answers(&["3", "4"]));
            let run = run(&second)
                .with_limits(of_run)
                .with_node_limits::<Rate>(of_node);
            let results = rate(&run, of_map, &journal).await;
            let said: Vec<_> = results
                .iter()
                .map(|result| result.as_ref().err().map(NodeError::category))
                .collect();
            assert_eq!(
                said,
                [None, None, None, Some(Category::LimitExceeded)],
                "{limits:?}"
            );
            assert_eq!(second.requests().len(), 1);
        }
    }
}

#[tokio::test]
async fn a_run_that_resumes_its_own_map_counts_nothing_twice() {
    let (journal, model) = (first_process().await, answers(&["3"]));
    let run = run(&model);
    for requests in [7, 8, 9] {
        // One more at each time, for the last of them; the third is answered at the first time.
        let results = rate(&run, Limits::new().requests(20), &journal).await;
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 3);
        assert_eq!(run.ledger().total().requests, requests);
    }
    let results = rate(&run, Limits::new().requests(9), &journal).await;
    let error = results[3].as_ref().unwrap_err();
    assert_eq!(
        error.category(),
        Category::LimitExceeded,
        "what the run itself spent on it counts, too: {error}"
    );
}

#[tokio::test]
async fn a_request_under_way_when_the_process_died_counts_as_one_without_a_report() {
    let journal = first_process().await;
    let mut begun = 0;
    journal.records.lock().unwrap().retain(|record| {
        begun += usize::from(record.kind() == "attempt_began");
        begun < 3
    });
    // The second request was under way.
    let second = answers(&["2", "3", "4"]);
    let run = run(&second);
    journal.records.lock().unwrap().truncate(5);
    let results = rate(&run, Limits::new().requests(5), &journal).await;
    assert!(results.iter().all(Result::is_ok));
    let total = run.ledger().total();
    assert_eq!(
        (
            total.requests,
            total.total.known,
            total.total.unreported_calls
        ),
        (5, 4 * TOKENS, 1)
    );
    let calls = run.ledger().calls();
    assert_eq!(
        (&*calls[1].node, calls[1].category),
        ("rate", Some(Category::Cancelled))
    );
}

#[tokio::test]
async fn kept_answers_that_nobody_asks_for_any_more_are_listed_with_their_cost() {
    let journal = first_process().await;
    let (seen, _guard) = Recorder::start();
    let nodes = topics(&["Oslo", "Rome, in spring"]);
    let run = run(&answers(&["3", "4"]));
    let results = run.map(nodes).concurrency(1).resume(journal).await;
    assert!(results.iter().all(Result::is_ok));
    let [unused] = &seen.events("llmnode::journal")[..] else {
        panic!("{}", seen.everything())
    };
    // Rome's answer and the one that was not accepted before it.
    assert_eq!(
        (&*unused.fields["unused"], &*unused.fields["unknown"]),
        ("1", "0")
    );
    assert_eq!(unused.fields["tokens"], (2 * TOKENS).to_string());
    assert_eq!(unused.fields["cost"].parse::<f64>().unwrap(), 0.000_04);
}

#[tokio::test]
async fn a_journal_of_version_2_is_read_and_its_answers_are_asked_for_anew() {
    let path = path("map-v2");
    std::fs::copy(
        concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/map-v2.journal"),
        &path,
    )
    .unwrap();
    // `rain` was asked for twice.
    let nodes = || topics(&["rain", "sun", "rain", "snow"]);
    let snow = FnModel::new(|_| Reply::text("7")).named("rater");
    // Names of 64 bits can be forged: each is asked for once more, and known by its new name from then on.
    for asked in [1, 0] {
        let run = Run::new(snow.clone()).with_state(9);
        let file = JournalFile::open(&path).unwrap();
        let reports = run
            .map(nodes())
            .concurrency(1)
            .resume(file)
            .report()
            .try_all()
            .await
            .unwrap();
        let values: Vec<_> = reports.iter().map(|report| report.value).collect();
        assert_eq!((values, reports[3].total.requests), (vec![7; 4], asked));
        assert_eq!(reports[0].replayed().requests, 1 - asked);
        assert_eq!(run.ledger().total().requests, 4);
    }
    assert_eq!(snow.requests().len(), 4);
}

#[tokio::test]
async fn the_call_of_a_tool_has_the_same_id_in_every_process_and_another_one_in_every_journal() {
    let ids = std::sync::Arc::new(Mutex::new(Vec::new()));
    let agent = |fails: bool| {
        let ids = ids.clone();
        let tools = Toolset::new().calling(
            "charge",
            "Charges a card.",
            json!({"type": "object"}),
            std::sync::Arc::new(move |cx, _| {
                ids.lock().unwrap().push(cx.call_id().unwrap());
                Box::pin(async move {
                    if fails {
                        let died: BoxError =
                            llmnode_runtime::ToolError::abort("the process dies").into();
                        return Err(NodeError::new(Category::Aborted, "it dies").with_source(died));
                    }
                    Ok((ToolReply::new("charged"), None))
                })
            }),
        );
        DynNode::builder("agent")
            .output::<String>()
            .tools(tools)
            .build()
            .unwrap()
    };
    let model = || {
        FnModel::new(|request| match request.messages.len() {
            1 => Reply::text("").call("charge", json!({})),
            _ => Reply::text(r#"{"value": "done"}"#),
        })
        .named("fn")
    };
    for _ in 0..2 {
        let journal = Memory::default();
        for fails in [true, false] {
            // Two of them are equal.
            let agent = agent(fails);
            let nodes = [agent.ask("1"), agent.ask("1"), agent.ask("2")];
            let results = Run::new(model())
                .map(nodes)
                .concurrency(1)
                .resume(journal.clone())
                .await;
            assert!(
                results.iter().all(|result| result.is_ok() != fails),
                "{results:?}"
            );
        }
    }
    let ids = ids.lock().unwrap();
    let (first, second) = ids.split_at(6);
    assert_eq!(
        (&first[..3], &second[..3]),
        (&first[3..], &second[3..]),
        "the same in every process"
    );
    let different: std::collections::HashSet<_> = ids.iter().collect();
    assert_eq!(different.len(), 6, "{ids:?}");
}

/// A model that reports another name than the one that it is asked by.
struct Hosted(FnModel);

impl ChatModel for Hosted {
    fn complete<'a>(
        &'a self,
        request: &'a Request,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        Box::pin(async {
            let mut answer = self.0.complete(request, sink).await?;
            answer.model = Some("vendor/fn-7b".to_owned());
            Ok(answer)
        })
    }

    fn model(&self) -> Option<&str> {
        self.0.model()
    }
}

#[tokio::test]
async fn a_price_of_the_name_that_was_asked_for_is_known_after_a_resume() {
    let journal = Memory::default();
    for cities in [1, 2] {
        let run = Run::new(Hosted(answers(&["1", "2"]))).with_state(9_u32);
        let run = run.with_prices(Prices::new().model("fn", Price::per_million(1.0, 2.0)));
        let map = run
            .map(topics(&CITIES[..cities]))
            .limits(Limits::new().money(1.0));
        let results = map.resume(journal.clone()).await;
        assert!(results.iter().all(Result::is_ok), "{results:?}");
        assert_eq!(
            run.ledger().total().cost.total(),
            Some(0.000_02 * cities as f64)
        );
    }
}

#[tokio::test]
async fn a_cost_that_was_unknown_stays_so_after_a_resume() {
    let journal = Memory::default();
    let mut usage = TokenUsage::new(10, 5);
    usage.cache_write = Some(10);
    let writes = FnModel::new(move |_| Reply::text("1").usage(usage)).named("fn");
    let results = run(&writes)
        .map(topics(&CITIES[..1]))
        .resume(journal.clone())
        .await;
    assert!(results.iter().all(Result::is_ok), "{results:?}");

    let price = Price::per_million(1.0, 2.0);
    for (price, known) in [(price, false), (price.cache_write(1.25, 2.0), true)] {
        let run = run(&answers(&["2"])).with_prices(Prices::new().model("fn", price));
        let records = journal.records.lock().unwrap().clone();
        let journal = Memory {
            records: Arc::new(Mutex::new(records)),
            full_at: None,
        };
        let results = rate(&run, Limits::new().money(1.0), &journal).await;
        assert_eq!(results[1].is_ok(), known, "{results:?}");
        if !known {
            let error = results[1].as_ref().unwrap_err();
            assert_eq!(error.category(), Category::LimitUnenforceable);
            assert!(error.message().contains("wrote to a cache"), "{error}");
        }
    }
}
