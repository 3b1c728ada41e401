//! What an error says and keeps.

use crate::support::{BAD, GOAL, GOOD, Mood, World, busy, run, script, world};
use llmnode_runtime::{Category, Completion, FinishReason, ModelError, Reply};

#[tokio::test]
async fn faults_before_the_request_leave_no_attempt() {
    let model = script([ModelError::unsent(
        Category::ApiKeyError,
        "OPENAI_API_KEY is missing",
    )]);
    let run = run(&model);
    let error = run.call(&GOAL).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "choose: api_key_error: OPENAI_API_KEY is missing"
    );
    assert_eq!(
        (error.attempts().len(), run.ledger().total().requests),
        (0, 0)
    );
}

/// `main` prints an error that it returns by `Debug`.
#[tokio::test]
async fn debug_tells_what_went_wrong_unless_that_quotes_the_model() {
    let no_key = ModelError::unsent(Category::ApiKeyError, "OPENAI_API_KEY is missing");
    let model = script([
        no_key.into(),
        Reply::text(BAD),
        Reply::text("").refusal("I would rather not open doors"),
    ]);
    let run = run(&model);
    for (seen, unseen) in [
        ("OPENAI_API_KEY is missing", "`{}`"),
        ("[\"item: … is not available\"]", "axe"),
        ("`{}`", "doors"),
    ] {
        let debug = format!("{:?}", run.call(&GOAL).retries(0).await.unwrap_err());
        assert!(debug.contains(seen) && !debug.contains(unseen), "{debug}");
    }
}

#[tokio::test]
async fn the_error_tells_what_happened_over_all_attempts_and_debug_tells_no_content() {
    let model = script([
        Reply::text("private words"),
        busy().into(),
        Reply::text(BAD).usage(None),
        Reply::text(BAD),
    ]);
    let error = run(&model).call(&GOAL).await.unwrap_err();
    let text = error.to_string();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(format!("{error:#}"), lines[0]);
    assert_eq!(
        lines[0],
        r#"choose: validation_error after 4 requests: item: "axe" is not available; allowed: "key", "lamp""#
    );
    assert!(lines[1].starts_with("  1. schema_error: "), "{text}");
    assert!(
        lines[2].starts_with("  2. server_error: HTTP 503: overloaded"),
        "{text}"
    );
    assert!(lines[3].starts_with("  3. (after "), "{text}");
    assert!(
        lines[5].starts_with("  in all: 28 tokens, 2 requests without a report, "),
        "{text}"
    );
    let debug = format!("{error:?} {:?} {:?}", error.record(), model.requests());
    assert!(
        !text.contains("private words") && !debug.contains("private") && !debug.contains("axe"),
        "{debug}"
    );
    assert_eq!(error.last_answer(), Some(BAD));
}

#[tokio::test]
async fn one_request_that_did_not_report_is_one() {
    let model = script([Reply::text(BAD).usage(None), Reply::text(BAD)]);
    let text = run(&model)
        .call(&GOAL)
        .retries(1)
        .await
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("  in all: 14 tokens, 1 request without a report, "),
        "{text}"
    );
}

#[tokio::test]
async fn the_error_shows_the_one_request_that_failed_otherwise() {
    let unsent = ModelError::unsent(Category::ApiKeyError, "the key is gone");
    let model = script([Reply::from(busy()).usage(None), unsent.into()]);
    let text = run(&model).call(&GOAL).await.unwrap_err().to_string();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(
        lines[0],
        "choose: api_key_error after 1 request: the key is gone"
    );
    assert_eq!(lines[1], "  1. server_error: HTTP 503: overloaded");
    assert!(
        lines[2].starts_with("  in all: 0 tokens, 1 request without a report, "),
        "{text}"
    );
}

#[tokio::test]
async fn records_and_messages_stay_small_whatever_providers_and_validators_say() {
    let huge = "x".repeat(3_000_000);
    let mut error = ModelError::new(Category::ServerError, huge.clone());
    error.request_id = Some(huge.clone());
    let mut bad = Completion::new(format!("{{\"item\": \"{huge}\"}}"));
    bad.finish = Some(FinishReason::Other(huge.clone()));
    (bad.model, bad.request_id) = (Some(huge.clone()), Some(huge.clone()));
    let model = script([Reply::from(error), bad.into()]);
    let failure = run(&model).call(&GOAL).retries(0).await.unwrap_err();
    let json = serde_json::to_string(&**failure.record().unwrap()).unwrap();
    assert!(
        json.len() < 3000 && failure.to_string().len() < 3000,
        "{} {}",
        json.len(),
        failure.to_string().len()
    );
    for attempt in failure.attempts() {
        let said: usize = attempt
            .violations
            .iter()
            .map(|one| one.message.len() + one.path.len())
            .sum();
        assert!(attempt.message.len() + said < 3000);
    }
    assert_eq!(failure.last_answer().map(str::len), Some(64 * 1024));
}

#[tokio::test]
async fn the_record_keeps_what_the_provider_said_on_every_way_out() {
    let mut cut = Completion::new("{\"item\": \"ke");
    cut.finish = Some(FinishReason::Length);
    let withheld = Reply::text("withheld words").finish(FinishReason::ContentFilter);
    for (reply, answer) in [
        (cut.into(), "{\"item\": \"ke"),
        (Reply::text(BAD).finish(FinishReason::Length), BAD),
        (withheld, "withheld words"),
    ] {
        let error = run(&script([reply])).call(&GOAL).await.unwrap_err();
        assert_eq!(error.last_answer(), Some(answer));
    }

    let mut failed = ModelError::new(Category::NotFound, "no such model");
    (failed.status, failed.request_id) = (Some(404), Some("req-2".into()));
    failed.source = Some("beneath".into());
    let error = run(&script([failed])).call(&GOAL).await.unwrap_err();
    let attempt = &error.attempts()[0];
    assert_eq!(
        (attempt.status, attempt.request_id.as_deref()),
        (Some(404), Some("req-2"))
    );
    assert_eq!(
        std::error::Error::source(&error)
            .map(ToString::to_string)
            .as_deref(),
        Some("beneath")
    );
}

#[tokio::test]
async fn an_answer_on_which_the_program_stopped_is_kept() {
    let run = run(&script([GOOD])).with_state(World {
        mood: Mood::Abort,
        ..world()
    });
    assert_eq!(run.call(&GOAL).await.unwrap_err().last_answer(), Some(GOOD));
}

#[tokio::test]
async fn the_models_name_and_the_requests_id_are_the_providers_where_it_says_them() {
    let mut said = Completion::new(GOOD);
    (said.model, said.request_id) = (Some("model-7b-0613".into()), Some("req-1".into()));
    let run = run(&script([Reply::from(said), Reply::text(GOOD)]));
    for (model, id) in [("model-7b-0613", Some("req-1")), ("model-7b", None)] {
        let report = run.call(&GOAL).model("model-7b").report().await.unwrap();
        let attempt = &report.record.attempts[0];
        assert_eq!(
            (attempt.model.as_deref(), attempt.request_id.as_deref()),
            (Some(model), id)
        );
    }
}
