//! The ledger as JSON: what each version is, and that it is read back.

use std::time::{Duration, SystemTime};

use crate::support::{BAD, GOAL, GOOD, Say, World, say, world};
use llmnode_runtime::private::{LlmNode, OutputSpec, Prompt, Segment};
use llmnode_runtime::{
    AttemptKind, BoxError, Category, Cx, Exec, FormatError, LedgerSnapshot, ModelError, Node,
    NodeFacts, Price, Prices, Reply, Run, ScriptedModel, Settings, TestClock, TokenUsage,
    UsedFallback,
};

/// The form of version 2. Every file of this version that was ever written is read by what reads this one.
/// Before attempts had a start.
const GOLDEN: &str = include_str!("../data/ledger-v2.json");

const WRITTEN: &str = include_str!("../data/ledger-v2-started.json");

/// The same calls in the form of version 1. Never rewritten.
const VERSION_1: &str = include_str!("../data/ledger-v1.json");

/// Calls another node.
struct Outer;

impl Node for Outer {
    type Output = String;
    const NAME: &'static str = "outer";
}

impl Exec<World> for Outer {
    async fn exec(&self, cx: &Cx<'_, World>) -> Result<String, BoxError> {
        Ok(cx.call(&say("inner")).await?)
    }
}

/// Asks another model once the first one fails.
pub(crate) struct Steady;

impl Node for Steady {
    type Output = String;
    const NAME: &'static str = "steady";
    const FACTS: NodeFacts = NodeFacts::new().retries_itself(true);
    const SETTINGS: &'static Settings = &Settings::new()
        .transport_retries(0)
        .stated_fallback_model("spare");
}

impl<S: ?Sized + Sync> Exec<S> for Steady {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<String, BoxError> {
        llmnode_runtime::private::exec(self, cx).await
    }
}

impl<S: ?Sized + Sync> LlmNode<S> for Steady {
    fn render(&self, _: &S, to: &mut Prompt) {
        to.user(&[Segment::text("Hello?")]);
    }

    fn output(&self) -> OutputSpec<String, S> {
        OutputSpec::text()
    }
}

/// Calls with everything that a record can hold, on a clock that only waits move.
async fn everything() -> String {
    let busy = ModelError::new(Category::RateLimitError, "HTTP 429: slow down")
        .wait(Duration::from_secs(2));
    let mut full = TokenUsage::new(30, 9);
    [full.total, full.cached, full.reasoning] = [Some(45), Some(16), Some(6)];
    [full.cache_write, full.cache_write_long] = [Some(8), Some(5)];
    let model = ScriptedModel::new()
        .reply("no JSON")
        .reply(Reply::text(BAD).usage(None))
        .reply(busy)
        .reply(Reply::text(format!("```json\n{GOOD}\n```")).usage(full))
        .reply("hello")
        .reply(ModelError::new(
            Category::ApiKeyError,
            "HTTP 401: no such key",
        ))
        .reply(ModelError::new(
            Category::ServerError,
            "HTTP 503: overloaded",
        ))
        .reply("hi");
    let price = Price::per_million(2.0, 8.0).cache_write(2.5, 4.0);
    let prices = Prices::new().model("small", price);
    let run = Run::new(model)
        .with_clock(TestClock::new())
        .with_prices(prices)
        .with_state(world());
    // The server's wait is the longest one allowed, so that nothing random is added.
    run.call(&GOAL)
        .max_wait(Duration::from_secs(2))
        .model("small")
        .await
        .unwrap();
    run.call(&Outer).await.unwrap();
    run.call(&say("x")).label("tenant", "x").await.unwrap_err();
    run.call(&Steady).await.unwrap();

    let json = serde_json::to_string_pretty(&run.ledger().snapshot()).unwrap() + "\n";
    let json = run.ledger().calls().iter().fold(json, |json, call| {
        let ms = |time: SystemTime| {
            time.duration_since(SystemTime::UNIX_EPOCH)
                .unwrap()
                .as_millis()
        };
        let attempts = call.attempts.iter().filter_map(|attempt| attempt.started);
        attempts.chain([call.started]).fold(json, |json, started| {
            let steady = 1_790_000_000_000 + ms(started) - ms(call.started);
            json.replace(
                &format!("started_unix_ms\": {},", ms(started)),
                &format!("started_unix_ms\": {steady},"),
            )
        })
    });
    let id = run.ledger().calls()[0].id.to_string();
    json.replace(id.split('-').next().unwrap(), "0123456789abcdef")
}

#[tokio::test]
async fn what_is_written_is_version_2() {
    let written = everything().await;
    assert_eq!(
        written, WRITTEN,
        "a reader of version 2 may not know this form:\n{written}"
    );
}

#[test]
fn version_2_is_read() {
    let report = LedgerSnapshot::from_json(GOLDEN).unwrap();
    assert_eq!(
        serde_json::to_string_pretty(&report).unwrap() + "\n",
        GOLDEN
    );
    assert_everything(&report);
    let usage = report.total;
    assert_eq!(
        (
            usage.cached.known,
            usage.cached.unreported_calls,
            usage.reasoning.total()
        ),
        (16, 7, None)
    );
    assert_eq!(
        report.nodes["outer"].usage.cached.total(),
        Some(0),
        "it made no request"
    );
    assert_eq!(
        (usage.cache_write.known, usage.cache_write.unreported_calls),
        (8, 7)
    );
    assert_eq!(
        (usage.cost.known(), usage.cost.unknown_calls),
        (0.000_227_5, 6)
    );
    assert_eq!(report.calls[3].labels["tenant"], "x");
}

#[test]
fn version_1_is_read() {
    let report = LedgerSnapshot::from_json(VERSION_1).unwrap();
    assert_everything(&report);
    let (usage, say) = (report.total, &report.nodes["say"].usage);
    assert_eq!((usage.reasoning.known, usage.reasoning.total()), (6, None));
    assert_eq!(
        (say.requests, say.cached.known, say.cached.total()),
        (2, 0, None),
        "a 0 that nobody reported"
    );
    assert_eq!(usage.cost.unknown_calls, usage.requests, "it had no costs");
    let again = LedgerSnapshot::from_json(&serde_json::to_string(&report).unwrap()).unwrap();
    assert_eq!(again.total, report.total);
}

fn assert_everything(report: &LedgerSnapshot) {
    let (usage, choose) = (report.total, &report.calls[0]);
    assert_eq!(
        (
            usage.requests,
            usage.total.known,
            usage.total.unreported_calls
        ),
        (8, 80, 4)
    );
    assert_eq!(
        usage.estimated,
        report
            .nodes
            .values()
            .map(|node| node.usage.estimated)
            .sum::<u64>()
    );
    assert_eq!(report.nodes["choose"].busy, Duration::from_secs(2));
    assert_eq!(choose.attempts[2].retry_after, Some(Duration::from_secs(2)));
    assert_eq!(
        choose.started,
        SystemTime::UNIX_EPOCH + Duration::from_millis(1_790_000_000_000)
    );
    assert_eq!(choose.attempts[2].category, Some(Category::RateLimitError));
    let (inner, outer) = (&report.calls[1], &report.calls[2]);
    assert_eq!(
        (&*inner.node, inner.parent, outer.parent),
        ("say", Some(outer.id), None)
    );
    assert_eq!(
        (inner.attempts[0].id.call(), inner.attempts[0].id.index()),
        (inner.id, 0)
    );
    let (steady, stats) = (&report.calls[4], &report.nodes["steady"]);
    assert_eq!(
        (steady.used_fallback, stats.used_fallback),
        (Some(UsedFallback::Model), 1)
    );
    assert_eq!(
        (steady.attempts[1].kind, steady.attempts[1].model.as_deref()),
        (AttemptKind::FallbackModel, Some("spare"))
    );
}

#[test]
fn what_is_no_ledger_of_a_known_version_is_refused_by_name() {
    let fault = |json: &str| LedgerSnapshot::from_json(json).map(|_| ()).unwrap_err();
    let newer = GOLDEN.replacen("\"version\": 2", "\"version\": 3", 1);
    let error = fault(&newer);
    assert!(matches!(
        error,
        FormatError::Newer {
            version: 3,
            newest: 2,
            ..
        }
    ));
    assert!(
        error
            .to_string()
            .starts_with("llmnode/ledger version 3 is newer than version 2"),
        "{error}"
    );

    let error = fault(r#"{"format": "llmnode/cassette", "version": 9}"#);
    assert!(matches!(error, FormatError::Foreign { .. }));
    assert_eq!(
        error.to_string(),
        r#"not a llmnode/ledger: its format is "llmnode/cassette""#
    );

    for malformed in [
        "",
        "[]",
        "{}",
        r#"{"format": "llmnode/ledger", "version": 0}"#,
        &GOLDEN[..900],
    ] {
        let error = fault(malformed);
        assert!(
            matches!(error, FormatError::Malformed { .. }),
            "{malformed}"
        );
        assert!(
            error.to_string().starts_with("malformed llmnode/ledger: "),
            "{error}"
        );
    }
    assert!(fault(&GOLDEN[..900]).to_string().contains("EOF"));
    let unknown = GOLDEN.replacen("api_key_error", "no_such_error", 1);
    assert!(
        fault(&unknown)
            .to_string()
            .contains("\"no_such_error\", expected a category")
    );
    let unknown = GOLDEN.replacen("\"correction\"", "\"no_such_kind\"", 1);
    assert!(
        fault(&unknown)
            .to_string()
            .contains("unknown variant `no_such_kind`")
    );
}

#[tokio::test]
async fn json_has_no_content() {
    let run =
        Run::new(ScriptedModel::new().reply("not json: secret").reply(GOOD)).with_state(world());
    run.call(&GOAL).await.unwrap();
    let json = run.ledger().to_json().to_string();
    assert!(
        !json.contains("secret") && !json.contains(GOAL.goal),
        "{json}"
    );
    let read = LedgerSnapshot::from_json(&json).unwrap();
    assert_eq!(read.calls[0].last_answer(), None);
    assert!(!format!("{:?}", run.ledger().snapshot()).contains("secret"));
}

#[tokio::test]
async fn a_report_is_readable_while_calls_run() {
    let run = Run::new(ScriptedModel::new().reply(Reply::never()));
    let node = say("x");
    let mut call = Box::pin(run.call(&node));
    assert!(
        tokio::time::timeout(Duration::from_millis(1), &mut call)
            .await
            .is_err()
    );
    let report = run.ledger().snapshot();
    assert_eq!(
        (
            report.nodes["say"].visits,
            report.total.requests,
            report.calls.len()
        ),
        (1, 0, 0)
    );
    drop(call);
    assert_eq!(run.ledger().of::<Say>().unwrap().usage.requests, 1);
}
