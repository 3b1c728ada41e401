//! The attempt loop: how often it asks, what it says, and when it stops.

use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::support::{BAD, GOAL, GOOD, Mood, World, busy, lines, run, say, script, world};
use llmnode_runtime::{
    AttemptKind, Category, FinishReason, Flag, ModelError, Reply, Retry, Role, Run, Settings,
    TestClock, TokenUsage,
};

#[tokio::test]
async fn an_always_bad_model_gets_exactly_one_plus_retries_requests() {
    let model = script([BAD, BAD, BAD, BAD]);
    let error = run(&model).call(&GOAL).await.unwrap_err();
    assert_eq!(error.category(), Category::ValidationError);
    assert_eq!((model.requests().len(), error.attempts().len()), (3, 3));
    let kinds: Vec<_> = error
        .attempts()
        .iter()
        .map(|attempt| attempt.kind)
        .collect();
    assert_eq!(
        kinds,
        [
            AttemptKind::First,
            AttemptKind::Correction,
            AttemptKind::Correction
        ]
    );
}

#[tokio::test]
async fn a_correction_shows_the_answer_and_every_violation_and_nothing_else() {
    let model = script(["no JSON here", BAD, GOOD]);
    assert_eq!(run(&model).call(&GOAL).await.unwrap().item, "key");
    let requests = model.requests();
    let first = &requests[0].messages;
    assert_eq!(first[0].role, Role::System);
    assert_eq!(first[1].content, "Goal: open the door\n- key\n- lamp");
    for request in &requests {
        assert_eq!(
            request.messages[..2],
            first[..],
            "the prompt stays as it was"
        );
    }
    let last = &requests[2].messages;
    assert_eq!(last.len(), 6);
    assert_eq!(
        (last[2].role, last[2].content.as_str()),
        (Role::Assistant, "no JSON here")
    );
    assert_eq!(
        (last[4].role, last[4].content.as_str()),
        (Role::Assistant, BAD)
    );
    assert_eq!(
        last[5].content,
        "That answer was not accepted:\n- item: \"axe\" is not available; allowed: \"key\", \"lamp\"\n\
         Answer again in full, with this corrected."
    );
}

#[tokio::test]
async fn transport_failures_repeat_the_same_request_after_a_wait() {
    let clock = TestClock::new();
    let model = script([busy(), busy()]).reply(GOOD);
    let run = Run::new(model.clone())
        .with_clock(clock.clone())
        .with_state(world());
    run.call(&GOAL).await.unwrap();
    let requests = model.requests();
    assert_eq!(requests.len(), 3);
    assert!(
        requests
            .iter()
            .all(|request| request.messages == requests[0].messages)
    );
    let waits = clock.waits();
    assert!(
        waits.len() == 2
            && waits[0] <= Duration::from_millis(500)
            && waits[1] <= Duration::from_secs(1)
    );
}

#[tokio::test]
async fn the_two_budgets_are_counted_apart_and_only_transport_waits() {
    let clock = TestClock::new();
    let model = script([
        Reply::text(BAD),
        busy().into(),
        Reply::text(BAD),
        busy().into(),
        Reply::text(GOOD),
    ]);
    let run = Run::new(model.clone())
        .with_clock(clock.clone())
        .with_state(world());
    let report = run.call(&GOAL).report().await.unwrap();
    assert_eq!(report.record.attempts.len(), 5);
    assert_eq!(clock.waits().len(), 2);
    let error = run.call(&GOAL).transport_retries(0).await.unwrap_err();
    assert_eq!(
        error.category(),
        Category::ConfigError,
        "the script has ended"
    );
}

#[tokio::test]
async fn a_call_makes_at_most_all_its_budgets_together() {
    let replies = (0..20).map(|n| {
        if n % 2 == 0 {
            Reply::text(BAD)
        } else {
            busy().into()
        }
    });
    let model = script(replies);
    let error = run(&model)
        .call(&GOAL)
        .retries(3)
        .transport_retries(3)
        .await
        .unwrap_err();
    assert_eq!(model.requests().len(), 7, "{error}");
}

#[tokio::test]
async fn the_servers_wait_is_obeyed_and_too_long_a_wait_fails_at_once() {
    let clock = TestClock::new();
    let wait = |seconds| {
        ModelError::new(Category::RateLimitError, "slow down").wait(Duration::from_secs(seconds))
    };
    let model = script([wait(20), wait(61)]);
    let run = Run::new(model.clone())
        .with_clock(clock.clone())
        .with_state(world());
    let error = run.call(&GOAL).await.unwrap_err();
    assert_eq!(model.requests().len(), 2);
    assert!(clock.waits().len() == 1 && clock.waits()[0] >= Duration::from_secs(20));
    assert_eq!(error.retry_after(), Some(Duration::from_secs(61)));
    assert!(
        error
            .to_string()
            .contains("asks for a wait of 61s, longer than max_wait (60s)"),
        "{error}"
    );
}

#[tokio::test]
async fn what_the_failure_says_about_retrying_beats_its_category() {
    let model = script([busy().retry(Retry::No)]);
    run(&model).call(&GOAL).await.unwrap_err();
    assert_eq!(model.requests().len(), 1);

    let refused = || ModelError::new(Category::BadRequest, "no temperature").retry(Retry::Adapted);
    let model = script([refused(), refused()]).reply(GOOD);
    run(&model)
        .call(&GOAL)
        .retries(0)
        .transport_retries(0)
        .await
        .unwrap();
    assert_eq!(model.requests().len(), 3);
}

#[tokio::test]
async fn a_model_that_never_stops_adapting_is_stopped() {
    let model =
        script((0..100).map(|_| ModelError::new(Category::BadRequest, "no").retry(Retry::Adapted)));
    let error = run(&model).call(&GOAL).await.unwrap_err();
    assert_eq!(
        (error.category(), model.requests().len()),
        (Category::BadRequest, 5)
    );
}

#[tokio::test]
async fn the_finish_reason_comes_first() {
    for (reply, category) in [
        (
            Reply::text("{\"item\": \"ke").finish(FinishReason::Length),
            Category::TruncatedOutput,
        ),
        (
            Reply::text("```\n{\"item\": \"key\"}\n```").finish(FinishReason::Length),
            Category::TruncatedOutput,
        ),
        (
            Reply::text(BAD).finish(FinishReason::Length),
            Category::TruncatedOutput,
        ),
        (
            Reply::text("").finish(FinishReason::Length),
            Category::TruncatedOutput,
        ),
        (
            Reply::text(GOOD).finish(FinishReason::ContentFilter),
            Category::ContentFilter,
        ),
        (
            Reply::text(GOOD).refusal("I would rather not"),
            Category::Refusal,
        ),
    ] {
        let model = script([reply]);
        let error = run(&model).call(&GOAL).await.unwrap_err();
        assert_eq!(
            (error.category(), model.requests().len()),
            (category, 1),
            "never corrected"
        );
        assert_eq!(error.usage().requests, 1);
    }
}

#[tokio::test]
async fn an_answer_that_stops_before_it_begins_tells_of_a_full_window() {
    use Category::{ContextLengthError, TruncatedOutput};
    for (figures, max_tokens, category) in [
        (Some((500, 5)), None, ContextLengthError),
        (Some((500, 6)), None, TruncatedOutput),
        (Some((499, 0)), None, TruncatedOutput),
        (Some((1000, 10)), Some(11), ContextLengthError),
        (Some((1000, 10)), Some(10), TruncatedOutput),
        (None, None, TruncatedOutput),
    ] {
        let usage = figures.map(|(input, output)| TokenUsage::new(input, output));
        let model = script([Reply::text(" ").finish(FinishReason::Length).usage(usage)]);
        let mut settings = Settings::new();
        settings.max_tokens = max_tokens;
        let error = run(&model)
            .call(&GOAL)
            .settings(settings)
            .await
            .unwrap_err();
        assert_eq!(
            (error.category(), model.requests().len()),
            (category, 1),
            "{figures:?}, {max_tokens:?}"
        );
    }
}

#[tokio::test]
async fn a_cut_answer_that_is_complete_is_accepted_and_flagged() {
    let model = script([Reply::text(GOOD).finish(FinishReason::Length)]);
    let report = run(&model).call(&GOAL).report().await.unwrap();
    assert_eq!(report.record.attempts[0].flags, [Flag::LengthStop]);

    let model = script([Reply::text("half a sent").finish(FinishReason::Length)]);
    let report = run(&model).call(&say("x")).report().await.unwrap();
    assert_eq!(
        (report.value.as_str(), &report.record.attempts[0].flags[..]),
        ("half a sent", &[Flag::LengthStop][..])
    );
}

#[tokio::test]
async fn white_space_up_to_the_limit_behind_a_whole_document_is_no_cut() {
    let padded = |text: &str, length| {
        Reply::text(text.to_owned() + &" \n".repeat(length)).finish(FinishReason::Length)
    };
    let usage = TokenUsage::new(9, 99);
    // Repaired, and made to fit, as any whole answer.
    let fenced = format!("{{\"result\": {GOOD}}}");
    for (reply, flags) in [
        (
            padded(GOOD, 1).usage(None),
            &[Flag::EstimatedUsage, Flag::LengthStop][..],
        ),
        (
            padded(GOOD, 200).usage(None),
            &[Flag::EstimatedUsage, Flag::LengthStop],
        ),
        (padded(GOOD, 200).usage(usage), &[Flag::LengthStop]),
        (
            padded(&fenced, 200).usage(usage),
            &[Flag::Fitted("wrapper".into()), Flag::LengthStop],
        ),
    ] {
        let report = run(&script([reply])).call(&GOAL).report().await.unwrap();
        let attempt = &report.record.attempts[0];
        assert_eq!(
            (report.value.item.as_str(), &attempt.flags[..]),
            ("key", flags)
        );
        assert_eq!(
            attempt
                .estimate
                .is_some_and(|estimate| estimate.output > Some(0)),
            attempt.usage.is_none()
        );
    }
    let model = script([padded(BAD, 200), GOOD.into()]);
    assert_eq!(
        run(&model).call(&GOAL).await.unwrap().item,
        "key",
        "a whole answer is corrected"
    );
    for cut in ["{\"item\": \"key\"", "so {\"item\": \"key\"}", "\"key"] {
        let model = script([padded(cut, 200)]);
        let error = run(&model).call(&GOAL).await.unwrap_err();
        assert_eq!(error.category(), Category::TruncatedOutput, "{cut}");
    }
}

#[tokio::test]
async fn figures_that_cannot_be_are_flagged() {
    let counts = |input, total| {
        let mut usage = TokenUsage::new(input, 5);
        usage.total = Some(total);
        usage
    };
    let goal = "x".repeat(20_000);
    for (usage, flags) in [
        (counts(2051, 2056), &[Flag::ShortPrompt][..]),
        (counts(5000, 9999), &[Flag::TotalMismatch]),
        (counts(5000, 5005), &[]),
    ] {
        let model = script([Reply::text("done").usage(usage)]);
        let report = run(&model).call(&say(&goal)).report().await.unwrap();
        assert_eq!(
            (report.value.as_str(), &report.record.attempts[0].flags[..]),
            ("done", flags)
        );
        assert_eq!(
            report.record.attempts[0].usage,
            Some(usage),
            "kept as reported"
        );
    }
}

#[tokio::test]
async fn unknown_finish_reasons_are_judged_by_content() {
    let model = script([Reply::text(GOOD).finish(FinishReason::Other("eos".into()))]);
    let report = run(&model).call(&GOAL).report().await.unwrap();
    assert_eq!(
        report.record.attempts[0].finish_reason.as_deref(),
        Some("eos")
    );
}

#[tokio::test]
async fn an_empty_answer_is_told_that_an_answer_is_required() {
    let model = script(["  ", GOOD]);
    run(&model).call(&GOAL).await.unwrap();
    let last = &model.requests()[1].messages;
    assert_eq!((last[2].content.as_str(), last.len()), ("(no answer)", 4));
    assert!(last[3].content.contains("an answer is required"));
}

#[tokio::test]
async fn json_in_a_fence_is_read_and_flagged() {
    let model = script([format!("Sure!\n```json\n{GOOD}\n```\n").as_str()]);
    let report = run(&model).call(&GOAL).report().await.unwrap();
    assert_eq!(report.record.attempts[0].flags, [Flag::Fenced]);
}

#[tokio::test]
async fn warnings_keep_the_value_and_are_recorded_not_told() {
    let model = script([BAD, GOOD]);
    let run = Run::new(model.clone()).with_state(World {
        mood: Mood::Warn,
        ..world()
    });
    let report = run.call(&GOAL).report().await.unwrap();
    assert_eq!(report.value.item, "key");
    let accepted = &report.record.attempts[1];
    assert_eq!(
        (&accepted.flags[..], lines(&accepted.violations)),
        (&[Flag::Warned][..], vec!["an odd choice".to_owned()])
    );
    assert!(!model.requests()[1].messages[3].content.contains("odd"));
}

#[tokio::test]
async fn an_abort_ends_the_call_at_once_with_the_programs_error() {
    let model = script([GOOD, GOOD]);
    let run = Run::new(model.clone()).with_state(World {
        mood: Mood::Abort,
        ..world()
    });
    let error = run.call(&GOAL).await.unwrap_err();
    assert_eq!(
        (error.category(), model.requests().len()),
        (Category::Aborted, 1)
    );
    assert_eq!(
        error.message(),
        "a validator ended the call: the database is gone; only an `Invalid` goes back to the model"
    );
    let source = std::error::Error::source(&error)
        .and_then(|source| source.downcast_ref::<std::io::Error>());
    assert_eq!(
        source.map(ToString::to_string).as_deref(),
        Some("the database is gone")
    );
}

#[tokio::test]
async fn panics_of_validators_are_caught_and_accounted() {
    for (mood, validator) in [
        (Mood::PanicAtOnce, "item_is_available"),
        (Mood::Panic, "mood"),
        (Mood::PanicLater, "mood"),
    ] {
        let model = script([GOOD, GOOD]);
        let run = Run::new(model.clone()).with_state(World { mood, ..world() });
        let error = run.call(&GOAL).await.unwrap_err();
        assert_eq!(error.category(), Category::Panic);
        let said = format!("validator `{validator}` panicked: a bug");
        assert!(error.to_string().contains(&said), "{error}");
        assert!(
            !format!("{error:?}").contains("a bug"),
            "it may quote the answer"
        );
        assert_eq!(error.usage().total.total(), Some(14));
        assert!(
            run.with_state(world()).call(&GOAL).await.is_ok(),
            "the run goes on"
        );
    }
}

#[tokio::test]
async fn validators_see_which_attempt_it_is() {
    let model = script([GOOD, GOOD, GOOD]);
    let run = Run::new(model.clone()).with_state(World {
        mood: Mood::AcceptLast,
        ..world()
    });
    run.call(&GOAL).await.unwrap();
    assert!(
        model.requests()[2].messages[5]
            .content
            .contains("try 1 of 2")
    );
    assert_eq!(
        run.state().seen.load(Ordering::Relaxed),
        3,
        "all validators run on every answer"
    );
}

#[tokio::test]
async fn warnings_on_a_bad_answer_are_recorded_not_told() {
    let model = script([BAD, GOOD]);
    let run = Run::new(model.clone()).with_state(World {
        mood: Mood::Warn,
        ..world()
    });
    let report = run.call(&GOAL).report().await.unwrap();
    let bad = &report.record.attempts[0];
    assert_eq!(bad.category, Some(Category::ValidationError));
    assert_eq!(lines(&bad.violations)[1], "an odd choice");
    assert!(
        !bad.message.contains("odd") && !model.requests()[1].messages[3].content.contains("odd")
    );
}

#[tokio::test]
async fn a_model_without_an_answer_is_told_that_one_is_required() {
    let model = script([ModelError::new(Category::EmptyResponse, "no choice")]).reply(GOOD);
    run(&model).call(&GOAL).await.unwrap();
    let last = &model.requests()[1].messages;
    assert_eq!(last[2].content, "(no answer)");
    assert!(
        last[3]
            .content
            .contains("- there was no answer; an answer is required")
    );
}

#[tokio::test]
async fn a_provider_that_fails_while_it_answers_is_asked_the_same_again() {
    let model = script([Reply::text("{\"item\"").finish(FinishReason::Error)]).reply(GOOD);
    let report = run(&model).call(&GOAL).retries(0).report().await.unwrap();
    assert_eq!(
        report.record.attempts[0].category,
        Some(Category::ServerError)
    );
    assert_eq!(model.requests()[1].messages, model.requests()[0].messages);
}

#[tokio::test]
async fn a_wait_of_max_wait_is_waited() {
    let clock = TestClock::new();
    let slow = ModelError::new(Category::RateLimitError, "slow down").wait(Duration::from_secs(5));
    let model = script([slow]).reply(GOOD);
    let run = Run::new(model)
        .with_clock(clock.clone())
        .with_state(world());
    run.call(&GOAL)
        .max_wait(Duration::from_secs(5))
        .await
        .unwrap();
    assert_eq!(clock.waits(), [Duration::from_secs(5)], "and not longer");
}

const NO_NUMBER: &str = "seven";

#[tokio::test]
async fn the_same_bad_answer_twice_ends_the_call() {
    let stop = || Settings::new().retries(9).stop_on_repeat(true);
    let model = script(["no JSON", BAD, "no JSON", "no JSON", GOOD]);
    let error = run(&model).call(&GOAL).settings(stop()).await.unwrap_err();
    assert_eq!(
        (error.category(), model.requests().len()),
        (Category::SchemaError, 4)
    );
    let says = "no JSON in the answer; the same answer twice, \"no JSON\": `choices`, a response format that is enforced, or \
                another model may help; with `stop_on_repeat = false` it is asked again";
    assert_eq!(error.message(), says);
    assert_eq!(
        error.to_string().matches("the same answer twice").count(),
        1,
        "{error}"
    );

    let model = script(["", " ", GOOD]);
    let error = run(&model).call(&GOAL).settings(stop()).await.unwrap_err();
    assert_eq!(
        (error.category(), model.requests().len()),
        (Category::EmptyResponse, 2)
    );

    // By default, too.
    let model = script([NO_NUMBER, NO_NUMBER, "7"]);
    let error = Run::new(model.clone())
        .extract::<u8>("seven")
        .retries(2)
        .await
        .unwrap_err();
    assert_eq!(
        (error.category(), model.requests().len()),
        (Category::SchemaError, 2)
    );

    // A failure of the transport between them is no answer.
    let model = script([
        Reply::text(BAD),
        busy().into(),
        Reply::text(BAD),
        Reply::text(GOOD),
    ]);
    let run = run(&model).with_settings(stop());
    assert_eq!(run.call(&GOAL).await.unwrap_err().attempts().len(), 3);
}
