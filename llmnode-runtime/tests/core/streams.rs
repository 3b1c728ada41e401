//! Answers while they are written.

use std::sync::atomic::Ordering;
use std::time::Duration;

use llmnode_runtime::{
    BoxFuture, CallStream, Category, ChatModel, Completion, Cx, DynNode, Event, Exec, LlmOutput,
    ModelError, Node, Reply, Request, Run, ScriptedModel, Sink,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::support::{BAD, GOAL, GOOD, say, script, world};

fn text(text: &str) -> Event {
    Event::Text(text.to_owned())
}

/// All events, each with the JSON so far.
async fn events<T>(stream: &mut CallStream<'_, T>) -> Vec<(Event, Option<Value>)> {
    let mut all = Vec::new();
    while let Some(event) = stream.next().await {
        all.push((event, stream.partial().cloned()));
    }
    all
}

#[tokio::test]
async fn an_answer_grows_and_is_validated_once_at_the_end() {
    let model =
        script([Reply::pieces(["{\"item\"", ": \"ke", "y\"", "}"]).reasoning("which one?")]);
    let run = Run::new(model).with_state(world());
    let mut stream = run.call(&GOAL).stream();
    let expected = [
        (Event::Reasoning("which one?".to_owned()), None),
        (text("{\"item\""), Some(json!({}))),
        (text(": \"ke"), Some(json!({"item": "ke"}))),
        (text("y\""), Some(json!({"item": "key"}))),
        (text("}"), Some(json!({"item": "key"}))),
    ];
    assert_eq!(events(&mut stream).await, expected);
    assert_eq!(
        (stream.next().await, stream.partial()),
        (None, Some(&json!({"item": "key"})))
    );
    let report = stream.report().await.unwrap();
    assert_eq!(
        (report.value.item.as_str(), report.record.attempts.len()),
        ("key", 1)
    );
    assert_eq!(
        run.state().seen.load(Ordering::Relaxed),
        1,
        "the validators saw the whole answer only"
    );
}

#[tokio::test]
async fn a_bad_answer_is_void_when_the_next_request_begins() {
    let run = Run::new(script([
        Reply::pieces(["no ", "JSON"]),
        Reply::pieces([BAD]),
        Reply::text(GOOD),
    ]));
    let run = run.with_state(world());
    let mut stream = run.call(&GOAL).stream();
    let all = events(&mut stream).await;
    let restarted = |event: &Event| match event {
        Event::Restarted {
            category, attempt, ..
        } => Some((*category, *attempt)),
        _ => None,
    };
    let restarts: Vec<_> = all
        .iter()
        .filter_map(|(event, _)| restarted(event))
        .collect();
    assert_eq!(
        restarts,
        [(Category::SchemaError, 1), (Category::ValidationError, 2)]
    );
    for (event, partial) in &all {
        assert!(restarted(event).is_none() || partial.is_none(), "{all:?}");
    }
    assert_eq!(
        all.last(),
        Some(&(text(GOOD), Some(json!({"item": "key"}))))
    );
    assert_eq!(stream.finish().await.unwrap().item, "key");
}

#[tokio::test]
async fn nothing_restarts_after_the_last_failure() {
    let run = Run::new(script([Reply::text(BAD), Reply::text(BAD)])).with_state(world());
    let mut stream = run.call(&GOAL).retries(1).stream();
    let restarts = events(&mut stream)
        .await
        .iter()
        .filter(|(event, _)| matches!(event, Event::Restarted { .. }))
        .count();
    assert_eq!(restarts, 1);
    let error = stream.finish().await.unwrap_err();
    assert_eq!(
        (error.category(), error.attempts().len()),
        (Category::ValidationError, 2)
    );
}

#[tokio::test(start_paused = true)]
async fn a_failure_in_mid_stream_has_its_own_stack() {
    let broken =
        ModelError::new(Category::RateLimitError, "slow down").wait(Duration::from_secs(3));
    let run = Run::new(script([
        Reply::pieces(["Hel"]).breaks_off(broken),
        Reply::text("Hello"),
    ]));
    let what = say("");
    let mut stream = run.call(&what).stream();
    let all: Vec<_> = events(&mut stream)
        .await
        .into_iter()
        .map(|(event, _)| event)
        .collect();
    let [said, Event::Restarted { category, .. }, whole] = &all[..] else {
        panic!("{all:?}")
    };
    assert_eq!(
        (said, *category, whole),
        (&text("Hel"), Category::RateLimitError, &text("Hello"))
    );
    let report = stream.report().await.unwrap();
    assert!(report.record.attempts[1].wait >= Duration::from_secs(3));
}

#[tokio::test]
async fn a_model_that_cannot_stream_gives_one_event() {
    struct Plain;
    impl ChatModel for Plain {
        fn complete<'a>(
            &'a self,
            _: &'a Request,
            _: &'a mut dyn Sink,
        ) -> BoxFuture<'a, Result<Completion, ModelError>> {
            Box::pin(async { Ok(Completion::new(GOOD)) })
        }
    }
    let run = Run::new(Plain).with_state(world());
    let mut stream = run.call(&GOAL).stream();
    assert_eq!(
        events(&mut stream).await,
        [(text(GOOD), Some(json!({"item": "key"})))]
    );
    assert_eq!(stream.finish().await.unwrap().item, "key");
}

#[tokio::test(start_paused = true)]
async fn what_is_dropped_was_cancelled_and_its_usage_is_estimated() {
    let pieces = vec!["1234 "; 100];
    let run = Run::new(script(
        [Reply::pieces(pieces).pause(Duration::from_secs(1))],
    ));
    let what = say("");
    let mut stream = run.call(&what).stream();
    for _ in 0..8 {
        assert_eq!(stream.next().await, Some(text("1234 ")));
    }
    drop(stream);
    let report = run.ledger().total();
    assert_eq!(
        (report.total.unreported_calls, report.estimated),
        (1, 10),
        "a quarter of 40 characters"
    );
}

#[tokio::test]
async fn an_answer_beyond_the_cap_is_given_up() {
    let pieces = vec!["1234567890"; 1000];
    let run = Run::new(script([Reply::pieces(pieces)]));
    let what = say("");
    let settings = llmnode_runtime::Settings::new().max_output_bytes(100);
    let mut stream = run.call(&what).settings(settings).stream();
    let seen = events(&mut stream).await.len();
    let error = stream.finish().await.unwrap_err();
    assert_eq!(
        error.message(),
        "the answer has more bytes than max_output_bytes (100)"
    );
    assert_eq!((error.category(), seen), (Category::TruncatedOutput, 11));
}

#[tokio::test]
async fn thoughts_do_not_count_for_the_cap() {
    let mut in_text = vec!["<think>"];
    in_text.extend(["1234567890"; 20]);
    in_text.extend(["</think>", "an answer"]);
    for model in [
        ScriptedModel::new().reply(Reply::pieces(in_text)),
        ScriptedModel::new()
            .reply(Reply::pieces(["an ", "answer"]).reasoning("0123456789".repeat(20))),
    ] {
        let run = Run::new(model);
        let what = say("");
        let settings = llmnode_runtime::Settings::new().max_output_bytes(100);
        let answer = run.call(&what).settings(settings).stream().finish().await;
        assert_eq!(answer.unwrap(), "an answer");
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Plan {
    title: String,
    steps: Vec<Step>,
}

#[derive(Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
struct Step {
    name: String,
    minutes: u32,
}

fn primitive<T: LlmOutput>() -> DynNode {
    DynNode::builder("plan")
        .output::<T>()
        .retries(1)
        .build()
        .unwrap()
}

#[tokio::test]
async fn items_come_as_each_is_complete_and_begin_anew() {
    let pieces = [
        "{\"title\": \"t\", \"steps\": [{\"name\": \"a\", ",
        "\"minutes\": 1}",
        ", {\"name\": \"b\", \"minutes\": 2",
        "}]}",
    ];
    let run = Run::new(script([
        Reply::pieces(pieces[..3].to_vec()),
        Reply::pieces(pieces),
    ]));
    let plan = primitive::<Plan>().ask("Plan it.");
    let mut items = run.call(&plan).stream().items::<Step>("steps");
    let mut all = Vec::new();
    while let Some((index, step)) = items.next().await {
        all.push((index, step.name));
    }
    let expected = [(0, "a"), (0, "a"), (1, "b")];
    assert_eq!(all, expected.map(|(index, name)| (index, name.to_owned())));
    assert_eq!(
        items.finish().await.unwrap()["steps"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[tokio::test]
async fn the_answer_itself_may_be_the_list() {
    for answer in ["[\"a\", \"b\"]", "{\"value\": [\"a\", \"b\"]}"] {
        let run = Run::new(script([answer]));
        let list = primitive::<Vec<String>>().ask("List it.");
        let mut stream = run.call(&list).stream();
        assert_eq!(
            events(&mut stream).await.pop().unwrap().1,
            Some(json!(["a", "b"]))
        );
        let run = Run::new(script([answer]));
        let mut items = run.call(&list).stream().items::<String>("");
        assert_eq!(items.next().await, Some((0, "a".to_owned())));
        assert_eq!(items.next().await, Some((1, "b".to_owned())));
        assert_eq!(items.next().await, None);
    }
}

#[tokio::test]
async fn a_path_without_a_list_is_refused_before_the_request() {
    let model = ScriptedModel::new();
    let run = Run::new(model.clone());
    let (plan, what) = (primitive::<Plan>().ask("Plan it."), say(""));
    for (error, message) in [
        (
            run.call(&plan)
                .stream()
                .items::<Step>("stages")
                .finish()
                .await
                .err(),
            "the answer has no list at \"stages\"",
        ),
        (
            run.call(&plan)
                .stream()
                .items::<Step>("")
                .finish()
                .await
                .err(),
            "the answer is not a list; name the member that is one: `.items(\"steps\")`",
        ),
        (
            run.call(&what)
                .stream()
                .items::<Step>("steps")
                .finish()
                .await
                .err(),
            "`items` needs a typed answer; this one is text",
        ),
    ] {
        let error = error.unwrap();
        assert_eq!(
            (error.category(), error.message()),
            (Category::ConfigError, message)
        );
    }
    assert_eq!(model.requests().len(), 0);
}

#[tokio::test]
async fn a_node_without_a_model_has_no_events_and_hides_those_of_calls_within() {
    struct Twice;
    impl Node for Twice {
        type Output = String;
        const NAME: &'static str = "twice";
    }
    impl<S: ?Sized + Sync> Exec<S> for Twice {
        async fn exec(&self, cx: &Cx<'_, S>) -> Result<String, llmnode_runtime::BoxError> {
            Ok(cx.call(&say("a")).await? + &cx.call(&say("b")).await?)
        }
    }
    let run = Run::new(script(["a", "b"]));
    let mut stream = run.call(&Twice).stream();
    assert_eq!(stream.next().await, None);
    assert_eq!(stream.finish().await.unwrap(), "ab");
}

#[tokio::test]
async fn it_can_move_between_tasks() {
    let run = std::sync::Arc::new(Run::new(script(["hi"])));
    let task = tokio::spawn(async move {
        let what = say("");
        run.call(&what).stream().finish().await
    });
    assert_eq!(task.await.unwrap().unwrap(), "hi");
}
