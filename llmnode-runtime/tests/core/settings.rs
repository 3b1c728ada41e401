//! Which settings hold, and which are refused.

use std::time::Duration;

use crate::support::{BAD, GOAL, GOOD, busy, run, say, script, world};
use llmnode_runtime::{
    Category, ModelError, Reasoning, Recovery, Reply, Run, ScriptedModel, Settings,
};

#[tokio::test]
async fn retries_on_unchecked_text_and_absurd_settings_are_config_errors() {
    let model = script(["hi"]);
    let run = run(&model);
    for settings in [
        Settings::new().retries(2),
        Settings::new().temperature(f64::INFINITY),
        Settings::new().max_tokens(0),
        Settings::new().extra("model", "mine"),
        Settings::new().extra("messages", "mine"),
        Settings::new().extra("stream", true),
        Settings::new().temperature(0.0).extra("temperature", 1),
        Settings::new()
            .reasoning(Reasoning::Low)
            .extra("reasoning_effort", "low"),
    ] {
        let error = run.call(&say("x")).settings(settings).await.unwrap_err();
        assert_eq!(error.category(), Category::ConfigError, "{error}");
    }
    assert_eq!(model.requests().len(), 0);
}

#[tokio::test]
async fn call_beats_run_and_a_registered_name_picks_its_model() {
    let (main, small) = (script([GOOD]), script([GOOD, GOOD]));
    let run = Run::new(main.clone())
        .model("small", small.clone())
        .with_settings(Settings::new().model("small").temperature(0.5))
        .with_state(world());
    run.call(&GOAL).await.unwrap();
    run.call(&GOAL)
        .model("gpt-x")
        .temperature(0.0)
        .extra("seed", 7)
        .await
        .unwrap();
    assert_eq!(
        (
            small.requests()[0].model.clone(),
            small.requests()[0].temperature
        ),
        (None, Some(0.5))
    );
    let request = &main.requests()[0];
    assert_eq!(
        (request.model.as_deref(), request.temperature),
        (Some("gpt-x"), Some(0.0))
    );
    assert_eq!(request.extra["seed"], 7);
}

#[tokio::test]
async fn an_answer_over_the_cap_is_truncated_output() {
    let model = script([GOOD]);
    let settings = Settings::new().max_output_bytes(5);
    let error = run(&model)
        .call(&GOAL)
        .settings(settings)
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::TruncatedOutput);

    let settings = Settings::new().max_output_bytes(GOOD.len());
    assert!(
        run(&script([GOOD]))
            .call(&GOAL)
            .settings(settings)
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn a_runs_retries_do_not_concern_raw_text() {
    let model = script(["hi", GOOD]);
    let run = run(&model).with_settings(Settings::new().retries(2));
    assert_eq!(run.call(&say("x")).await.unwrap(), "hi");
    assert_eq!(run.call(&GOAL).await.unwrap().item, "key");
    let error = run.call(&say("x")).retries(1).await.unwrap_err();
    assert!(
        error.to_string().contains("raw text that nothing checks"),
        "{error}"
    );
    assert_eq!(error.category(), Category::ConfigError);
}

#[tokio::test]
async fn every_setting_of_a_run_yields_to_the_calls() {
    let run_says = Settings::new()
        .retries(0)
        .transport_retries(0)
        .max_wait(Duration::ZERO)
        .max_output_bytes(1)
        .feedback_rounds(1)
        .max_tokens(7);
    let model = script([Reply::text(BAD), busy().into()]);
    let strict = run(&model).with_settings(run_says.clone());
    let error = strict.call(&GOAL).await.unwrap_err();
    assert_eq!(
        (error.category(), error.attempts().len()),
        (Category::TruncatedOutput, 1)
    );
    assert_eq!(model.requests()[0].max_tokens, Some(7));
    assert_eq!(
        strict.call(&GOAL).await.unwrap_err().attempts().len(),
        1,
        "transport_retries"
    );

    let call_says = Settings::new()
        .retries(3)
        .transport_retries(1)
        .max_wait(Duration::from_secs(9))
        .max_output_bytes(1000)
        .feedback_rounds(2)
        .max_tokens(8);
    let slow = ModelError::new(Category::RateLimitError, "slow down").wait(Duration::from_secs(8));
    let model = script([BAD, BAD, BAD]).reply(slow).reply(GOOD);
    let strict = run(&model).with_settings(run_says);
    strict.call(&GOAL).settings(call_says).await.unwrap();
    let last = model.requests().pop().unwrap();
    assert_eq!(
        (model.requests().len(), last.messages.len(), last.max_tokens),
        (5, 2 + 2 * 2, Some(8))
    );
}

#[tokio::test]
async fn debug_shows_the_names_of_further_fields_not_what_is_in_them() {
    let model = ScriptedModel::new().reply("hi");
    let run = Run::new(model.clone()).with_settings(Settings::new().extra("user", "somebody"));
    run.call(&say("x")).await.unwrap();
    let debug = format!("{run:?} {:?} {:?}", run.call(&say("x")), model.requests());
    assert!(
        debug.contains("\"user\"") && !debug.contains("somebody"),
        "{debug}"
    );
}

/// An empty text is asked again where the run says so.
#[tokio::test]
async fn a_runs_retries_hold_for_empty_raw_text() {
    let model = script(["", "hi"]);
    let with_retries = run(&model).with_settings(Settings::new().retries(1));
    assert_eq!(with_retries.call(&say("x")).await.unwrap(), "hi");
    assert_eq!(
        model.requests()[1].messages.len(),
        3,
        "the model is told that an answer is required"
    );

    let stack = Settings::new().recover(Category::EmptyResponse, [Recovery::retry(1)]);
    let model = script(["", "hi"]);
    assert_eq!(
        run(&model)
            .with_settings(stack)
            .call(&say("x"))
            .await
            .unwrap(),
        "hi"
    );

    let error = run(&script([""])).call(&say("x")).await.unwrap_err();
    assert_eq!(error.category(), Category::EmptyResponse);
}
