//! Maps that keep their answers.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use llmnode_flow::flow::RunExt;
use llmnode_flow::journal::{Fsync, Journal, JournalError, JournalFile, MapExt, Record};
use llmnode_runtime::private::{Checks, Coverage, LlmNode, OutputSpec, Prompt, Segment};
use llmnode_runtime::{
    BoxError, BoxFuture, CallReport, Category, Clock, Cx, DynNode, Exec, FnModel, Invalid, Limits,
    Node, NodeError, NodeFacts, Reasoning, Reply, Run, ScriptedModel, Settings, TestClock,
    TokenUsage, Tokens, Toolset,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::killing;
use crate::support::{Memory, Research, model, path, run};

/// Rates a topic; the state is the highest rating there is.
pub(crate) struct Rate(String);

impl Node for Rate {
    type Output = u32;
    const NAME: &'static str = "rate";
    const FACTS: NodeFacts = NodeFacts::new().retries_itself(true);
    const SETTINGS: &'static Settings = &Settings::new().retries(1);
}

impl Exec<u32> for Rate {
    async fn exec(&self, cx: &Cx<'_, u32>) -> Result<u32, BoxError> {
        llmnode_runtime::private::exec(self, cx).await
    }
}

impl LlmNode<u32> for Rate {
    fn render(&self, _: &u32, to: &mut Prompt) {
        to.user(&[Segment::text("Rate "), Segment::value(&self.0)]);
    }

    fn output(&self) -> OutputSpec<u32, u32> {
        fn collect<'a>(rating: &'a u32, to: &mut Checks<'a, u32>) {
            to.sync("is_a_rating", move |most: &u32, _| {
                if rating <= most {
                    Ok(())
                } else {
                    Err(Invalid::new("too high"))
                }
            });
        }
        OutputSpec::json(|_: &mut Coverage| {}, collect)
    }
}

pub(crate) fn topics(topics: &[&str]) -> Vec<Rate> {
    topics
        .iter()
        .map(|topic| Rate((*topic).to_owned()))
        .collect()
}

/// Rates each request one higher than the last, and refuses what is asked from `upto` on.
fn rater(upto: usize) -> FnModel {
    let asked = AtomicUsize::new(0);
    FnModel::new(move |_| match asked.fetch_add(1, Ordering::Relaxed) {
        number if number < upto => Reply::text(number.to_string()),
        _ => Reply::failure(Category::Refusal),
    })
    .named("rater")
}

fn good(results: &[Result<u32, NodeError>]) -> Vec<Option<u32>> {
    results
        .iter()
        .map(|result| result.as_ref().ok().copied())
        .collect()
}

#[tokio::test]
async fn a_map_goes_on_with_the_answers_that_it_has_and_asks_for_the_rest() {
    let path = path("map");
    let file = || JournalFile::open(&path).unwrap();
    // Three of them are equal: each has an answer of its own.
    let nodes = || topics(&["rain", "sun", "rain", "snow", "rain", "fog"]);
    let first = rater(3);
    let run = Run::new(first.clone()).with_state(9);
    let results = run.map(nodes()).concurrency(1).resume(file()).await;
    assert_eq!(
        good(&results),
        [Some(0), Some(1), Some(2), None, None, None]
    );
    assert_eq!(first.requests().len(), 6, "what fails is not kept");

    let second = rater(9);
    let run = Run::new(second.clone())
        .with_state(9)
        .with_limits(Limits::new().requests(6 + 3));
    let reports = run
        .map(nodes())
        .concurrency(1)
        .resume(file())
        .report()
        .try_all()
        .await
        .unwrap();
    let values: Vec<_> = reports.iter().map(|report| report.value).collect();
    assert_eq!(values, [0, 1, 2, 0, 1, 2], "the rest is asked once");
    let attempts: Vec<_> = reports
        .iter()
        .map(|report| report.record.attempts.len())
        .collect();
    assert_eq!(attempts, [0, 0, 0, 1, 1, 1]);
    let asked: Vec<_> = second
        .requests()
        .iter()
        .map(|request| request.messages[0].content.clone())
        .collect();
    assert_eq!(asked, ["Rate snow", "Rate rain", "Rate fog"]);

    let third = rater(0);
    let results = Run::new(third.clone())
        .with_state(9)
        .map(nodes())
        .resume(file())
        .await;
    assert_eq!(good(&results), [0, 1, 2, 0, 1, 2].map(Some));
    assert_eq!(third.requests().len(), 0);
}

#[tokio::test]
async fn a_correction_is_kept_as_the_answer_to_the_first_request() {
    let journal = Memory::default();
    let replies = ["no rating", "7"];
    let asked = AtomicUsize::new(0);
    let model =
        FnModel::new(move |_| replies[asked.fetch_add(1, Ordering::Relaxed)]).named("rater");
    let results = Run::new(model.clone())
        .with_state(9)
        .map(topics(&["rain"]))
        .resume(journal.clone())
        .await;
    assert_eq!((good(&results), model.requests().len()), (vec![Some(7)], 2));
    let again = Run::new(rater(0))
        .with_state(9)
        .map(topics(&["rain"]))
        .resume(journal)
        .await;
    assert_eq!(good(&again), [Some(7)]);
}

#[tokio::test]
async fn an_answer_is_asked_for_anew_where_it_is_not_good_any_more_or_something_else_is_asked() {
    let journal = Memory::default();
    let rate = async |model: FnModel, most: u32, settings: Settings| {
        let run = Run::new(model.clone()).with_state(most);
        let results = run
            .map(topics(&["rain", "sun"]))
            .settings(settings)
            .concurrency(1)
            .allow_changes()
            .resume(journal.clone())
            .await;
        (good(&results), model.requests().len())
    };
    let plain = Settings::new;
    assert_eq!(
        rate(rater(9), 9, plain()).await,
        (vec![Some(0), Some(1)], 2)
    );
    // 1 is too high now, and the model says 0.
    assert_eq!(
        rate(rater(9), 0, plain()).await,
        (vec![Some(0), Some(0)], 1)
    );
    for settings in [
        plain().temperature(0.5),
        plain().max_tokens(5),
        plain().reasoning(Reasoning::Low),
        plain().model("other"),
        plain().extra("seed", 1),
    ] {
        assert_eq!(rate(rater(9), 9, settings).await.1, 2, "another request");
    }
    assert_eq!(
        rate(rater(9).named("newer"), 9, plain()).await.1,
        2,
        "another model"
    );
    assert_eq!(
        rate(rater(9), 9, plain().retries(7)).await.1,
        0,
        "the same request"
    );
}

#[tokio::test]
async fn an_answer_that_took_the_place_of_one_no_longer_good_is_kept_too() {
    let journal = Memory::default();
    let rate = async |model: FnModel, most: u32| {
        let run = Run::new(model.clone()).with_state(most);
        let results = run
            .map(topics(&["rain", "rain"]))
            .concurrency(1)
            .resume(journal.clone())
            .await;
        (good(&results), model.requests().len())
    };
    assert_eq!(rate(rater(9), 9).await, (vec![Some(0), Some(1)], 2));
    assert_eq!(
        rate(rater(9), 0).await,
        (vec![Some(0), Some(0)], 1),
        "1 is too high now"
    );
    assert_eq!(rate(rater(0), 0).await, (vec![Some(0), Some(0)], 0));
}

#[tokio::test]
async fn models_registered_under_two_names_have_answers_of_their_own() {
    let journal = Memory::default();
    let rate = async |model: &str| {
        let unnamed = |said: &'static str| FnModel::new(move |_| said);
        let run = Run::new(unnamed("1"))
            .model("fast", unnamed("2"))
            .model("smart", unnamed("3"));
        let run = run.with_state(9);
        let map = run.map(topics(&["rain"]));
        let map = if model.is_empty() {
            map
        } else {
            map.model(model.to_owned())
        };
        good(&map.allow_changes().resume(journal.clone()).await)
    };
    assert_eq!(rate("").await, [Some(1)]);
    assert_eq!(rate("fast").await, [Some(2)]);
    assert_eq!(rate("smart").await, [Some(3)]);
}

/// Takes five seconds for each answer.
struct Slow(Memory, TestClock);

impl Journal for Slow {
    fn read<'j>(
        &'j mut self,
        each: &'j mut (dyn FnMut(Record) + Send),
    ) -> BoxFuture<'j, Result<(), JournalError>> {
        self.0.read(each)
    }

    fn append<'j>(&'j mut self, record: &'j Record) -> BoxFuture<'j, Result<(), JournalError>> {
        Box::pin(async move {
            if record.kind() == "answered" {
                self.1.sleep(Duration::from_secs(5)).await;
            }
            self.0.append(record).await
        })
    }
}

#[tokio::test]
async fn an_answer_that_came_in_time_is_not_lost_to_a_deadline_while_it_is_kept() {
    let (journal, clock) = (Memory::default(), TestClock::new());
    let run = Run::new(rater(9)).with_state(9).with_clock(clock.clone());
    let map = run
        .map(topics(&["rain", "sun", "snow"]))
        .deadline(Duration::from_secs(2));
    let results = map
        .concurrency(3)
        .resume(Slow(journal.clone(), clock))
        .await;
    assert_eq!(good(&results), [0, 1, 2].map(Some));
    let again = Run::new(rater(0))
        .with_state(9)
        .map(topics(&["rain", "sun", "snow"]))
        .resume(journal)
        .await;
    assert_eq!(good(&again), [0, 1, 2].map(Some));
}

#[tokio::test]
async fn each_journal_is_that_of_a_map_or_of_a_flow() {
    let flows = path("map-of-flow");
    run(model())
        .flow(Research)
        .journal(JournalFile::open(&flows).unwrap())
        .await
        .unwrap();
    let rate = |journal: JournalFile| async {
        Run::new(rater(9))
            .with_state(9)
            .map(topics(&["rain", "sun"]))
            .resume(journal)
            .await
    };
    let results = rate(JournalFile::open(&flows).unwrap()).await;
    let [Err(error)] = &results[..] else {
        panic!("its error is the only result")
    };
    assert_eq!(error.category(), Category::ConfigError);
    assert_eq!(
        error.message(),
        "the journal is that of a flow; give the map a journal of its own"
    );

    let maps = path("flow-of-map");
    assert!(
        rate(JournalFile::open(&maps).unwrap())
            .await
            .iter()
            .all(Result::is_ok)
    );
    let error = run(model())
        .flow(Research)
        .resume(JournalFile::open(&maps).unwrap())
        .await
        .unwrap_err();
    assert_eq!(
        error.message(),
        "the journal is that of a map; give the flow a journal of its own"
    );
}

#[tokio::test]
async fn a_map_has_one_journal() {
    let (one, other) = (Memory::default(), Memory::default());
    let results = Run::new(rater(9))
        .with_state(9)
        .map(topics(&["rain", "sun"]))
        .resume(one)
        .resume(other)
        .await;
    let [Err(error)] = &results[..] else {
        panic!("its error is the only result")
    };
    assert_eq!(error.category(), Category::ConfigError);
    assert!(
        error
            .message()
            .starts_with("the map has more than one journal"),
        "{error}"
    );
}

#[tokio::test]
async fn an_answer_that_cannot_be_kept_ends_its_call() {
    // The start of the map, and begin, answer and end of the first call; of the second one, less and less is kept.
    for (full_at, asked) in [(6, 2), (5, 2), (4, 1)] {
        let (journal, model) = (
            Memory {
                full_at: Some(full_at),
                ..Memory::default()
            },
            rater(9),
        );
        let run = Run::new(model.clone()).with_state(9);
        let results = run
            .map(topics(&["rain", "sun"]))
            .concurrency(1)
            .resume(journal)
            .await;
        let kept = full_at == 6;
        assert_eq!(
            (good(&results), model.requests().len()),
            (vec![Some(0), kept.then_some(1)], asked)
        );
        assert!(kept || results[1].as_ref().unwrap_err().category() == Category::Aborted);
    }
}

/// Charges a card.
struct Charge(&'static AtomicUsize);

impl Node for Charge {
    type Output = ();
    const NAME: &'static str = "charge";
    const FACTS: NodeFacts = NodeFacts::new().idempotent(false);
}

impl Exec<()> for Charge {
    async fn exec(&self, _: &Cx<'_, ()>) -> Result<(), BoxError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

#[tokio::test]
async fn what_must_not_be_executed_again_is_not_executed() {
    static CHARGED: AtomicUsize = AtomicUsize::new(0);
    let run = Run::new(rater(0));
    let results = run
        .map([Charge(&CHARGED), Charge(&CHARGED)])
        .resume(Memory::default())
        .await;
    for result in results {
        let error = result.unwrap_err();
        assert_eq!(error.category(), Category::Aborted);
        assert_eq!(
            error.message(),
            "the node `charge` has `idempotent = false`, but a map with `resume` executes its nodes again when it continues; \
             leave out `resume`, or call the node in a flow with a journal"
        );
    }
    assert_eq!(CHARGED.load(Ordering::Relaxed), 0);
}

const ITEMS: usize = 120;

/// The process that is killed: this test program, started anew.
#[tokio::test]
async fn child() {
    let Some((journal, ())) = killing::orders() else {
        return;
    };
    let asked = std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(journal.with_extension("asked"))
        .unwrap();
    let model = FnModel::new(move |request| {
        let number = request.messages[0].content.rsplit(' ').next().unwrap();
        std::io::Write::write_all(&mut &asked, format!("{number}\n").as_bytes()).unwrap();
        let usage = TokenUsage::new(1, 0);
        Reply::text(number)
            .usage(usage)
            .after(Duration::from_millis(number.parse::<u64>().unwrap() % 7))
    });
    let nodes = (0..ITEMS).map(|number| Rate(number.to_string()));
    let file = JournalFile::open(&journal).unwrap().fsync(Fsync::Never);
    let run = Run::new(model.named("rater")).with_state(u32::MAX);
    let reports = run
        .map(nodes)
        .concurrency(8)
        .resume(file)
        .report()
        .try_all()
        .await
        .unwrap();
    assert!(
        reports
            .iter()
            .map(|report| report.value)
            .eq(0..ITEMS as u32)
    );
    let answers: u64 = reports
        .iter()
        .map(|report| report.total.requests + report.replayed().requests)
        .sum();
    assert_eq!(
        answers, ITEMS as u64,
        "what is paid for each answer is told once"
    );
    let Tokens {
        known,
        unreported_calls,
        ..
    } = run.ledger().total().total;
    std::fs::write(
        journal.with_extension("ended"),
        format!("{known} {unreported_calls}"),
    )
    .unwrap();
}

/// The answers in the journal, by what was rated.
fn kept(journal: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(journal).unwrap_or_default();
    // A torn line is none.
    let lines = text
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'));
    let answer = |line: &str| {
        let json: serde_json::Value = serde_json::from_str(&line[18..]).unwrap();
        Some(json["record"]["answered"]["answer"].as_str()?.to_owned())
    };
    lines.filter_map(answer).collect()
}

/// As many as `MAP_KILLS` says, or 10.
#[test]
fn killed_at_any_moment_a_map_asks_for_no_answer_that_it_has() {
    let kills = std::env::var("MAP_KILLS").map_or(10, |kills| kills.parse().unwrap());
    let (mut killed, mut random, mut repeated, mut unreported) = (0, 0x9e37_79b9_u64, 0, 0);
    for map in 0.. {
        if killed >= kills {
            break;
        }
        let journal = path(&format!("map-kills-{map}"));
        for file in ["asked", "ended"] {
            let _ = std::fs::remove_file(journal.with_extension(file));
        }
        let lines =
            |file: &str| std::fs::read_to_string(journal.with_extension(file)).unwrap_or_default();
        // Each process has a little more time, so that a slow machine ends, too.
        let mut longest = 60_000;
        while !journal.with_extension("ended").exists() {
            longest += 2_000;
            let (had, asked) = (kept(&journal), lines("asked").lines().count());
            let mut child = killing::start("maps::child", &journal, ());
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            std::thread::sleep(Duration::from_micros((random >> 33) % longest));
            // It may have ended by then.
            let _ = child.kill();
            killed += u32::from(killing::was_killed(&mut child));
            let again = lines("asked");
            for number in again.lines().skip(asked) {
                assert!(!had.iter().any(|kept| kept == number), "{number} was kept");
            }
        }
        let asked = lines("asked").lines().count();
        assert_eq!(kept(&journal).len(), ITEMS);
        repeated += asked - ITEMS;
        let ended = lines("ended");
        let figures: Vec<usize> = ended
            .split(' ')
            .map(|figure| figure.parse().unwrap())
            .collect();
        // One may have been begun and not sent yet.
        assert!(
            figures[0] <= ITEMS && figures[0] + figures[1] >= asked,
            "{asked} were asked: {ended}"
        );
        unreported += figures[1];
    }
    println!(
        "{killed} processes were killed; {repeated} requests that were under way then were made again; the ledgers have \
         {unreported} without a report"
    );
}

/// A word changed in a prompt makes all requests others: it is said before anything is paid again.
#[tokio::test]
async fn a_changed_prompt_is_refused_before_anything_is_sent_unless_changes_are_allowed() {
    let path = path("changed-prompts");
    let file = || JournalFile::open(&path).unwrap();
    let nodes = |word: &str| {
        topics(
            &["rain", "sun", "snow"]
                .map(|topic| format!("{word} {topic}"))
                .each_ref()
                .map(|it| &**it),
        )
    };
    let run_of = |model: &FnModel| Run::new(model.clone()).with_state(9);
    let first = rater(9);
    run_of(&first)
        .map(nodes("today's"))
        .resume(file())
        .try_all()
        .await
        .unwrap();

    let second = rater(9);
    let results = run_of(&second).map(nodes("this")).resume(file()).await;
    assert_eq!(
        (second.requests().len(), results.len()),
        (0, 3),
        "nothing was sent"
    );
    for result in results {
        let error = result.unwrap_err();
        assert_eq!(error.category(), Category::ConfigError);
        let message = error.message();
        assert!(
            message.contains("3 answers (") && message.contains("`.allow_changes()`"),
            "{message}"
        );
    }

    // One of the first requests that is known settles it.
    let mixed = || nodes("this").into_iter().chain(nodes("today's"));
    run_of(&second)
        .map(mixed())
        .resume(file())
        .try_all()
        .await
        .unwrap();
    assert_eq!(second.requests().len(), 3);

    let third = rater(9);
    run_of(&third)
        .map(nodes("that"))
        .allow_changes()
        .resume(file())
        .try_all()
        .await
        .unwrap();
    assert_eq!(third.requests().len(), 3);
    let history = file().history().unwrap();
    assert_eq!(history.dropped().len(), 6, "{history:?}");
    assert!(
        history
            .dropped()
            .iter()
            .all(|dropped| dropped.usage.is_some())
    );
    // What was asked anew is there the next time.
    let fourth = rater(9);
    run_of(&fourth)
        .map(nodes("that"))
        .resume(file())
        .try_all()
        .await
        .unwrap();
    assert_eq!(fourth.requests().len(), 0);
}

/// An agent's call has an answer for each turn.
#[tokio::test]
async fn all_answers_of_an_agent_are_dropped() {
    let path = path("dropped-turns");
    let file = || JournalFile::open(&path).unwrap();
    let count = |_: Value| async { Ok::<_, BoxError>("3 books") };
    let tools = Toolset::new().json_function(
        "count",
        "Counts the books.",
        json!({"type": "object"}),
        count,
    );
    let agent = DynNode::builder("librarian")
        .text()
        .tools(tools)
        .build()
        .unwrap();
    let model = || {
        ScriptedModel::new()
            .reply(Reply::text("").call("count", json!({})))
            .reply("Three.")
    };
    for question in ["How many?", "How many books?"] {
        let run = Run::new(model());
        run.map([agent.ask(question)])
            .allow_changes()
            .resume(file())
            .try_all()
            .await
            .unwrap();
    }
    let history = file().history().unwrap();
    let answers: Vec<&str> = history
        .dropped()
        .iter()
        .map(|dropped| &*dropped.answer)
        .collect();
    assert_eq!(answers, ["", "Three."]);
    let requests = history
        .dropped()
        .iter()
        .map(|dropped| dropped.usage.unwrap().requests);
    assert_eq!(requests.sum::<u64>(), 2);
}

/// An item that failed because of a rate limit is asked again, and the next process finds its answer: of equal requests, too.
#[tokio::test(start_paused = true)]
async fn what_was_put_back_is_found_again() {
    let path = path("put-back");
    let file = || JournalFile::open(&path).unwrap();
    let nodes = || topics(&["rain"; 20]);
    let asked = AtomicUsize::new(0);
    let model = FnModel::new(move |_| match asked.fetch_add(1, Ordering::Relaxed) {
        4..30 => Reply::failure(Category::RateLimitError),
        number => Reply::text((number % 10).to_string()),
    })
    .named("rater");
    let run = Run::new(model).with_state(9);
    let settings = || Settings::new().transport_retries(0);
    let reports = run
        .map(nodes())
        .settings(settings())
        .resume(file())
        .report()
        .try_all()
        .await
        .unwrap();
    assert!(reports.iter().any(|report| report.record.put_back > 0));
    let answers: Vec<u32> = reports.iter().map(|report| report.value).collect();

    let second = rater(0);
    let run = Run::new(second.clone()).with_state(9);
    let again = run
        .map(nodes())
        .settings(settings())
        .resume(file())
        .try_all()
        .await
        .unwrap();
    let sorted = |mut answers: Vec<u32>| {
        answers.sort_unstable();
        answers
    };
    assert_eq!(
        (sorted(again), second.requests().len()),
        (sorted(answers), 0)
    );
}

/// Both have had a turn when the provider refuses them, and the second one is asked again first.
#[tokio::test(start_paused = true)]
async fn of_equal_agents_that_are_put_back_each_goes_on_with_its_own_conversation() {
    let path = path("put-back-agents");
    let file = || JournalFile::open(&path).unwrap();
    let count = |_: Value| async { Ok::<_, BoxError>("3 books") };
    let tools = Toolset::new().json_function(
        "count",
        "Counts the books.",
        json!({"type": "object"}),
        count,
    );
    let agent = DynNode::builder("librarian")
        .text()
        .tools(tools)
        .build()
        .unwrap();
    let nodes = || [agent.ask("How many?"), agent.ask("How many?")];
    let asked = AtomicUsize::new(0);
    let model = FnModel::new(move |_| {
        let called = || Reply::text("").call("count", json!({}));
        let refused = || Reply::failure(Category::RateLimitError);
        match asked.fetch_add(1, Ordering::Relaxed) {
            0 => called().after(Duration::from_millis(5)),
            1 => called(),
            2 => refused().after(Duration::from_millis(10)),
            3 => refused().after(Duration::from_millis(20)),
            _ => Reply::text("Three."),
        }
    })
    .named("librarian");
    let reports = Run::new(model)
        .map(nodes())
        .concurrency(2)
        .transport_retries(0)
        .resume(file())
        .report()
        .try_all()
        .await
        .unwrap();
    for report in reports {
        assert_eq!(report.value, "Three.");
        assert_eq!(report.record.put_back, 1);
    }

    let second = FnModel::new(|_| Reply::failure(Category::ServerError)).named("librarian");
    let run = Run::new(second);
    let again = run.map(nodes()).transport_retries(0).resume(file());
    assert_eq!(again.try_all().await.unwrap(), ["Three.", "Three."]);
}

/// Some of the nodes make the same request.
const TEN: [&str; 10] = [
    "rain", "sun", "rain", "wind", "snow", "rain", "fog", "ice", "hail", "dew",
];

async fn ratings_kept(
    run: &Run<u32>,
    rows: usize,
    in_flight: usize,
    journal: &Memory,
) -> Vec<Result<CallReport<u32>, NodeError>> {
    let map = run
        .map(topics(&TEN[..rows]))
        .concurrency(in_flight)
        .transport_retries(1)
        .allow_changes();
    map.resume(journal.clone()).report().await
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// However the endpoint fails, and whenever a process is stopped: the next one finds each answer that there is, what all of them
    /// spent is in the books once, and in the end nothing is asked for.
    #[test]
    fn stopped_maps_that_put_items_back_keep_answers_and_books(
        kinds in prop::collection::vec(0..8_u8, 1..60),
        rows in 1..10_usize,
        in_flight in 1..6_usize,
        stops in prop::collection::vec(0..4_000_u64, 0..4),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let script = Mutex::new(kinds.into_iter());
            let model = FnModel::new(move |_| {
                let reply = match script.lock().unwrap().next() {
                    Some(0) => Reply::failure(Category::RateLimitError).retry_after(Duration::from_millis(700)),
                    Some(1) => Reply::failure(Category::ServerError),
                    Some(2) => Reply::failure(Category::Timeout),
                    _ => Reply::text("7"),
                };
                reply.after(Duration::from_millis(150))
            })
            .named("rater");
            let journal = Memory::default();
            for stop in stops {
                let run = Run::new(model.clone()).with_state(9);
                let process = ratings_kept(&run, rows, in_flight, &journal);
                let _ = tokio::time::timeout(Duration::from_millis(stop), process).await;
            }
            for _ in 0..60 {
                let run = Run::new(model.clone()).with_state(9);
                let results = ratings_kept(&run, rows, in_flight, &journal).await;
                assert_eq!(results.len(), rows);
                assert_eq!(run.ledger().total().requests, model.requests().len() as u64, "each once");
                if results.iter().all(Result::is_ok) {
                    break;
                }
            }
            let last = rater(0);
            let run = Run::new(last.clone()).with_state(9);
            let results = ratings_kept(&run, rows, in_flight, &journal).await;
            let values: Vec<u32> = results.into_iter().map(|result| result.unwrap().value).collect();
            assert_eq!((values, last.requests().len()), (vec![7; rows], 0));
        });
    }
}

/// Ctrl-C while a map is held: it ends at once, and goes on where it was.
#[tokio::test(start_paused = true)]
async fn a_held_map_that_is_dropped_goes_on_where_it_was() {
    let path = path("held");
    let file = || JournalFile::open(&path).unwrap();
    let topics_of = || (0..40).map(|number| Rate(format!("topic {number}")));
    let asked = AtomicUsize::new(0);
    let model = FnModel::new(move |_| match asked.fetch_add(1, Ordering::Relaxed) {
        0..20 => Reply::text("1"),
        _ => Reply::failure(Category::RateLimitError).retry_after(Duration::from_secs(30)),
    })
    .named("rater");
    let run = Run::new(model).with_state(9);
    let began = tokio::time::Instant::now();
    let held = run.map(topics_of()).resume(file());
    tokio::time::timeout(Duration::from_secs(10), held)
        .await
        .unwrap_err();
    assert_eq!(began.elapsed(), Duration::from_secs(10));

    let second = rater(99);
    let run = Run::new(second.clone()).with_state(99);
    let results = run.map(topics_of()).concurrency(1).resume(file()).await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 40);
    assert_eq!(second.requests().len(), 20);
}
