//! The spans of calls and attempts, as a subscriber sees them.

use std::time::Duration;

use crate::recorder::Recorder;
use crate::report::Steady;
use crate::support::{BAD, GOAL, GOOD, busy, input_tokens, say, world};
use llmnode_runtime::{
    BoxError, BoxFuture, Category, ChatModel, Completion, Cx, Exec, Limits, ModelError, Node,
    Reply, Request, Run, ScriptedModel, Settings, Sink, TestClock, TokenUsage,
};

const CALL: &str = "llmnode::call";
const ATTEMPT: &str = "llmnode::attempt";

/// A model that says what it is.
struct Named(ScriptedModel);

impl ChatModel for Named {
    fn complete<'a>(
        &'a self,
        request: &'a Request,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        self.0.complete(request, sink)
    }

    fn model(&self) -> Option<&str> {
        Some("small")
    }

    fn provider(&self) -> &str {
        "acme"
    }

    fn server(&self) -> Option<(&str, u16)> {
        Some(("models.example", 443))
    }
}

fn full() -> Completion {
    let mut completion = Completion::new(GOOD);
    let mut usage = TokenUsage::new(30, 9);
    [usage.cached, usage.cache_write, usage.reasoning] = [Some(16), Some(4), Some(6)];
    completion.usage = Some(usage);
    completion.model = Some("small-2".to_owned());
    completion.request_id = Some("req_1".to_owned());
    completion.response_id = Some("cmpl_1".to_owned());
    completion
}

#[tokio::test]
async fn an_attempt_speaks_as_opentelemetry_does() {
    let (seen, _guard) = Recorder::start();
    let run = Run::new(Named(ScriptedModel::new().reply(full()))).with_state(world());
    let report = run
        .call(&GOAL)
        .max_tokens(50)
        .temperature(0.5)
        .report()
        .await
        .unwrap();

    let attempt = &seen.spans(ATTEMPT)[0];
    let id = report.record.id.to_string();
    let expected = [
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.output.type", "json"),
        ("gen_ai.provider.name", "acme"),
        ("gen_ai.request.max_tokens", "50"),
        ("gen_ai.request.model", "small"),
        ("gen_ai.request.temperature", "0.5"),
        ("gen_ai.response.finish_reasons", r#"["stop"]"#),
        ("gen_ai.response.id", "cmpl_1"),
        ("gen_ai.response.model", "small-2"),
        ("gen_ai.usage.cache_creation.input_tokens", "4"),
        ("gen_ai.usage.cache_read.input_tokens", "16"),
        ("gen_ai.usage.input_tokens", "30"),
        ("gen_ai.usage.output_tokens", "9"),
        ("gen_ai.usage.reasoning.output_tokens", "6"),
        ("llmnode.attempt.id", &format!("{id}-0")),
        ("llmnode.attempt.kind", "first"),
        ("llmnode.attempt.wait_ms", "0"),
        ("llmnode.call.id", &id),
        ("llmnode.node", "choose"),
        ("llmnode.request.id", "req_1"),
        ("otel.kind", "client"),
        ("otel.name", "chat small"),
        ("server.address", "models.example"),
        ("server.port", "443"),
    ];
    let fields: Vec<_> = attempt
        .fields
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    assert_eq!(fields, expected);

    let call = seen.parent(attempt).unwrap();
    let fields: Vec<_> = call
        .fields
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    assert_eq!(
        fields,
        [
            ("llmnode.call.id", &*id),
            ("llmnode.node", "choose"),
            ("otel.name", "choose")
        ]
    );
    assert_eq!((call.target, call.parent), (CALL, None));
    assert!(seen.all_closed() && seen.entered() == 0);
}

#[tokio::test]
async fn what_is_unknown_is_left_out() {
    let (seen, _guard) = Recorder::start();
    let run = Run::new(ScriptedModel::new().reply(Reply::text("hi").usage(None)));
    run.call(&say("x")).await.unwrap();
    let attempt = &seen.spans(ATTEMPT)[0];
    assert_eq!(
        (attempt.get("otel.name"), attempt.get("gen_ai.output.type")),
        ("chat", "text")
    );
    let unknown = [
        "request.model",
        "request.max_tokens",
        "usage.input_tokens",
        "usage.output_tokens",
    ];
    assert!(
        unknown
            .iter()
            .all(|name| !attempt.fields.contains_key(&*format!("gen_ai.{name}")))
    );
    assert!(!attempt.fields.contains_key("error.type"));
}

#[tokio::test]
async fn failures_carry_their_category() {
    let (seen, _guard) = Recorder::start();
    let mut refused = busy();
    refused.status = Some(503);
    refused.usage = Some(Box::new(input_tokens(3)));
    let unsent = ModelError::unsent(Category::ConfigError, "no model is named");
    let run = Run::new(ScriptedModel::new().reply(BAD).reply(refused).reply(unsent));
    // A wait that is not drawn at random.
    let settings = Settings::new().wait(Duration::from_secs(1));
    let run = run
        .with_clock(TestClock::new())
        .with_state(world())
        .with_settings(settings);
    let error = run.call(&GOAL).await.unwrap_err();
    assert_eq!(error.attempts().len(), 2, "the last one never left");

    let attempts = seen.spans(ATTEMPT);
    let told: Vec<_> = attempts
        .iter()
        .map(|a| (a.get("error.type"), a.get("llmnode.attempt.kind")))
        .collect();
    assert_eq!(
        told,
        [
            ("validation_error", "first"),
            ("server_error", "correction"),
            ("config_error", "retry")
        ]
    );
    assert_eq!(attempts[1].get("http.response.status_code"), "503");
    assert_eq!(attempts[1].get("gen_ai.usage.input_tokens"), "3");
    assert_eq!(attempts[2].get("llmnode.attempt.wait_ms"), "1000");
    assert!(
        attempts
            .iter()
            .all(|attempt| attempt.get("otel.status_code") == "ERROR")
    );
    let call = &seen.spans(CALL)[0];
    assert_eq!(
        (call.get("error.type"), call.get("otel.status_code")),
        ("config_error", "ERROR")
    );
}

#[tokio::test]
async fn a_request_that_a_limit_forbids_is_no_attempt() {
    let (seen, _guard) = Recorder::start();
    let run = Run::new(ScriptedModel::new().reply("hi")).with_limits(Limits::new().requests(1));
    run.call(&say("x")).await.unwrap();
    assert_eq!(
        run.call(&say("x")).await.unwrap_err().category(),
        Category::LimitExceeded
    );
    assert_eq!(
        (
            seen.spans(ATTEMPT).len(),
            seen.spans(CALL)[1].get("error.type")
        ),
        (1, "limit_exceeded")
    );
}

#[tokio::test]
async fn the_words_of_a_provider_are_short() {
    let (seen, _guard) = Recorder::start();
    let mut answer = full();
    answer.model = Some("é".repeat(5000));
    let run = Run::new(ScriptedModel::new().reply(answer));
    run.call(&say("x")).await.unwrap();
    assert_eq!(
        seen.spans(ATTEMPT)[0].get("gen_ai.response.model").len(),
        200
    );
}

#[tokio::test]
async fn a_fallback_is_seen_on_the_call() {
    let (seen, _guard) = Recorder::start();
    let run = Run::new(ScriptedModel::new().reply(busy()).reply("hi"));
    run.call(&Steady).await.unwrap();
    let (call, attempts) = (&seen.spans(CALL)[0], seen.spans(ATTEMPT));
    assert_eq!(
        (call.get("llmnode.call.degraded"), call.get("error.type")),
        ("fallback_model", "")
    );
    assert_eq!(
        (
            attempts[1].get("llmnode.attempt.kind"),
            attempts[1].get("otel.name")
        ),
        ("fallback_model", "chat spare")
    );
    // The caller sees no error, so the log says it.
    let warnings = seen.events(CALL);
    assert_eq!(
        (
            warnings.len(),
            &*warnings[0].fields["degraded"],
            &*warnings[0].fields["attempts"]
        ),
        (1, "fallback_model", "2")
    );
}

/// Asks once, and then twice side by side.
struct Nested;

impl Node for Nested {
    type Output = ();
    const NAME: &'static str = "nested";
}

impl<S: ?Sized + Sync> Exec<S> for Nested {
    async fn exec(&self, cx: &Cx<'_, S>) -> Result<(), BoxError> {
        let (one, two, three) = (say("one"), say("two"), say("three"));
        cx.call(&one).await?;
        Ok(tokio::try_join!(cx.call(&two), cx.call(&three)).map(|_| ())?)
    }
}

fn slowly(n: u64) -> Reply {
    Reply::text("hi").after(Duration::from_millis(n % 7))
}

#[tokio::test(start_paused = true)]
async fn nested_and_concurrent_calls_stand_below_their_own_parents() {
    let (seen, _guard) = Recorder::start();
    let model = (0..60).fold(ScriptedModel::new(), |model, n| model.reply(slowly(n)));
    let run = Run::new(model);
    assert!(
        run.map((0..20).map(|_| Nested))
            .await
            .iter()
            .all(Result::is_ok)
    );

    let (calls, attempts) = (seen.spans(CALL), seen.spans(ATTEMPT));
    assert_eq!((calls.len(), attempts.len()), (80, 60));
    for attempt in &attempts {
        let call = seen.parent(attempt).unwrap();
        assert_eq!(attempt.get("llmnode.call.id"), call.get("llmnode.call.id"));
        let outer = seen.parent(&call).unwrap();
        assert_eq!((outer.get("llmnode.node"), outer.parent), ("nested", None));
        assert_eq!(
            call.get("llmnode.call.parent"),
            outer.get("llmnode.call.id")
        );
    }
    assert!(seen.all_closed() && seen.entered() == 0);
}

#[tokio::test(start_paused = true)]
async fn no_span_is_entered_while_a_call_waits_and_a_dropped_one_ends_them() {
    let (seen, _guard) = Recorder::start();
    let run = Run::new(ScriptedModel::new().reply(Reply::never()));
    let node = say("x");
    let mut call = Box::pin(run.call(&node));
    assert!(
        tokio::time::timeout(Duration::from_secs(1), &mut call)
            .await
            .is_err()
    );
    assert!(seen.entered() == 0 && !seen.all_closed());
    drop(call);
    assert!(seen.all_closed() && seen.entered() == 0);
    for target in [CALL, ATTEMPT] {
        assert_eq!(seen.spans(target)[0].get("error.type"), "cancelled");
    }
    let event = &seen.events(ATTEMPT)[0];
    assert_eq!(
        (event.fields["category"].as_str(), event.span),
        ("cancelled", Some(1))
    );
    assert_eq!(
        event.fields["id"],
        seen.spans(ATTEMPT)[0].get("llmnode.attempt.id")
    );
}

#[tokio::test]
async fn content_is_traced_only_where_it_is_asked_for() {
    let (seen, _guard) = Recorder::start();
    let model = || ScriptedModel::new().reply("no JSON: secret").reply(GOOD);
    Run::new(model())
        .with_state(world())
        .call(&GOAL)
        .await
        .unwrap();
    let everything = seen.everything();
    for content in ["secret", GOAL.goal, "careful", "\"key\""] {
        assert!(!everything.contains(content), "{content} in {everything}");
    }

    let (seen, _guard) = Recorder::start();
    let run = Run::new(model())
        .with_content_in_traces(true)
        .with_state(world());
    run.call(&GOAL).await.unwrap();
    let attempts = seen.spans(ATTEMPT);
    let json = |attempt: usize, field: &str| -> serde_json::Value {
        serde_json::from_str(attempts[attempt].get(field)).unwrap()
    };
    let sent = json(1, "gen_ai.input.messages");
    assert_eq!(sent[0]["role"], "system");
    assert!(
        sent[1]["parts"][0]["content"]
            .as_str()
            .unwrap()
            .contains(GOAL.goal)
    );
    assert_eq!(sent[2]["parts"][0]["content"], "no JSON: secret");
    assert_eq!(
        json(1, "gen_ai.output.messages")[0]["parts"][0]["content"],
        GOOD
    );
    assert_eq!(
        json(0, "gen_ai.output.messages")[0]["finish_reason"],
        "stop"
    );
}

#[tokio::test]
async fn a_conversation_and_the_start_of_a_stream_are_found() {
    let (seen, _guard) = Recorder::start();
    let run = Run::new(
        ScriptedModel::new()
            .reply(Reply::pieces(["h", "i"]))
            .reply("ho"),
    );
    let node = say("x");
    let streamed = run.call(&node).label("conversation", "thread 7").stream();
    let report = streamed.report().await.unwrap();
    run.call(&node).await.unwrap();
    let calls: Vec<_> = seen
        .spans(CALL)
        .iter()
        .map(|call| call.get("gen_ai.conversation.id").to_owned())
        .collect();
    assert_eq!(calls, ["thread 7", ""]);
    let attempts = seen.spans(ATTEMPT);
    let began = |index: usize| {
        attempts[index]
            .fields
            .contains_key("gen_ai.response.time_to_first_chunk")
    };
    assert!(began(0) && !began(1));
    let attempt = &report.record.attempts[0];
    assert!(attempt.first_chunk.unwrap() <= attempt.elapsed);
}
