//! The test kit: models that answer by a script or a function, and what a node asks.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use llmnode_runtime::testing::{FnModel, Reply, ScriptedModel, assert_prompt, request_of};
use llmnode_runtime::{
    BoxError, Category, Cx, Exec, FinishReason, Message, Node, Request, Role, Run,
};
use serde_json::json;

use crate::support::{BAD, GOAL, GOOD, say, script, world};

/// What a failing assertion says.
fn complaint(assertion: impl FnOnce()) -> String {
    let panic = catch_unwind(AssertUnwindSafe(assertion)).unwrap_err();
    panic.downcast_ref::<String>().unwrap().clone()
}

#[tokio::test]
async fn a_script_tells_what_is_left_of_it_and_what_it_lacked() {
    let model = script(["a", "b"]);
    let run = Run::new(model.clone());
    assert_eq!(run.call(&say("x")).await.unwrap(), "a");
    assert_eq!(model.remaining(), 1);
    assert_eq!(
        complaint(|| model.assert_done()),
        "replies left in the script: 1, after requests: 1"
    );
    run.call(&say("x")).await.unwrap();
    model.assert_done();

    let error = run.call(&say("x")).await.unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert!(error.message().contains("otherwise"));
    assert_eq!(
        complaint(|| model.assert_done()),
        "requests that found no reply in the script: 1 of 3"
    );
}

#[tokio::test]
async fn otherwise_comes_after_the_script_and_never_ends() {
    let model = script(["a"]).otherwise(|request| request.messages[0].content.to_uppercase());
    let run = Run::new(model.clone());
    for answer in ["a", "X", "X"] {
        assert_eq!(run.call(&say("x")).await.unwrap(), answer);
    }
    assert_eq!(model.requests().len(), 3);
    model.assert_done();
}

#[tokio::test]
async fn a_function_sees_the_whole_request_and_clones_share_memory() {
    let model = FnModel::new(|request| {
        assert_eq!(request.output.as_ref().unwrap().name(), "Choice");
        if request.messages.len() == 2 {
            BAD
        } else {
            GOOD
        }
    });
    let run = Run::new(model.clone()).with_state(world());
    assert_eq!(run.call(&GOAL).await.unwrap().item, "key");
    assert_eq!(model.clone().requests().len(), 2);
}

#[tokio::test]
async fn a_panic_of_the_function_is_the_calls_error_and_the_model_goes_on() {
    let model = FnModel::new(|request| match request.messages[0].content.as_str() {
        "x" => panic!("a bug of the test"),
        _ => "fine",
    });
    let run = Run::new(model.clone());
    let error = run.call(&say("x")).await.unwrap_err();
    assert_eq!(
        (error.category(), error.attempts().len()),
        (Category::Panic, 1)
    );
    assert_eq!(run.call(&say("y")).await.unwrap(), "fine");
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn failures_have_their_category_and_their_wait() {
    let busy = Reply::failure(Category::RateLimitError).retry_after(Duration::from_secs(20));
    let run = Run::new(ScriptedModel::new().reply(busy).reply("ok"));
    let report = run.call(&say("x")).report().await.unwrap();
    assert_eq!(
        report.record.attempts[0].category,
        Some(Category::RateLimitError)
    );
    assert_eq!(
        report.record.attempts[0].retry_after,
        Some(Duration::from_secs(20))
    );

    // The methods for answers change no failure, and the other way round.
    let reply = Reply::failure(Category::NotFound)
        .finish(FinishReason::Length)
        .usage(None)
        .refusal("no");
    let run = Run::new(
        ScriptedModel::new()
            .reply(reply)
            .reply(Reply::text("ok").retry_after(Duration::MAX)),
    );
    assert_eq!(
        run.call(&say("x")).await.unwrap_err().category(),
        Category::NotFound
    );
    assert_eq!(run.call(&say("x")).await.unwrap(), "ok");
}

#[tokio::test]
async fn a_value_that_is_no_json_is_no_request() {
    let map = std::collections::BTreeMap::from([(vec![1], 2)]);
    let error = Run::new(ScriptedModel::new().reply(Reply::json(map)))
        .call(&say("x"))
        .await
        .unwrap_err();
    assert_eq!(
        (error.category(), error.attempts().len()),
        (Category::ConfigError, 0)
    );
    assert!(error.message().contains("cannot be written as JSON"));
}

#[tokio::test]
async fn a_value_is_written_as_json_and_a_text_as_it_is() {
    let model = ScriptedModel::new()
        .reply(json!({"item": "key"}))
        .reply("plain")
        .reply(json!("plain"))
        .reply(5);
    let run = Run::new(model.clone());
    let nodes = [(); 4].map(|()| say("x"));
    let answers = run
        .map(&nodes)
        .concurrency(1)
        .model("small")
        .temperature(0.5)
        .try_all()
        .await
        .unwrap();
    assert_eq!(answers, [r#"{"item":"key"}"#, "plain", "plain", "5"]);
    // What the map sets holds for each of its calls.
    for request in model.requests() {
        assert_eq!(
            (request.model.as_deref(), request.temperature),
            (Some("small"), Some(0.5))
        );
    }
}

#[tokio::test]
async fn what_a_node_asks_is_what_a_run_sends() {
    let model = script([GOOD]);
    Run::new(model.clone())
        .with_state(world())
        .call(&GOAL)
        .await
        .unwrap();
    assert_eq!(
        request_of(&GOAL, &world()).transcript(),
        model.requests()[0].transcript()
    );
}

#[test]
fn the_transcript_has_what_is_set_and_nothing_else() {
    let mut request = request_of(&GOAL, &world());
    request.model = Some("small".to_owned());
    request.temperature = Some(0.5);
    request.max_tokens = Some(64);
    request
        .extra
        .insert("stop".to_owned(), serde_json::json!(["a\nb"]));
    request.messages.push(Message::new(Role::Assistant, "{}\n"));
    assert_prompt(
        &request,
        r#"
        model: small
        temperature: 0.5
        max_tokens: 64
        answer: JSON of Choice
        stop: ["a\nb"]
        --- system
        You are careful.
        --- user
        Goal: open the door
        - key
        - lamp
        --- assistant
        {}

        "#,
    );
    assert_eq!(Request::new(Vec::new()).transcript(), "");
}

#[test]
fn a_prompt_that_differs_is_shown_beside_the_expected_one() {
    let said = complaint(|| assert_prompt(&request_of(&say("a\nb "), &()), "--- user\na\nb"));
    assert_eq!(
        said,
        "the request is not the expected one; expected:\n--- user\na\nb\nfound:\n--- user\na\nb "
    );
}

/// Answers by itself, or waits for something.
struct ByHand {
    waits: bool,
}

impl Node for ByHand {
    type Output = String;
    const NAME: &'static str = "by_hand";
}

impl<S: ?Sized + Sync> Exec<S> for ByHand {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<String, BoxError> {
        if !self.waits {
            return Ok("done".to_owned());
        }
        tokio::task::yield_now().await;
        Ok(cx.call(&say("x")).await?)
    }
}

#[tokio::test]
async fn a_node_that_asks_nothing_says_why() {
    for (waits, why) in [
        (false, "answers without a model"),
        (true, "waits for something"),
    ] {
        let said = complaint(|| drop(request_of(&ByHand { waits }, &())));
        assert!(
            said.contains("`by_hand` sends no request") && said.contains(why),
            "{said}"
        );
    }
}
