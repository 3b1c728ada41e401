//! Nodes set up at run time: what LLMPrimitive blocks promise (the numbers C1 to C14 are those of its behaviours), and that
//! they are nodes like any other.

use std::time::Duration;

use llmnode_runtime::dyn_node::{DynNodeBuilder, Response};
use llmnode_runtime::testing::{FnModel, Reply, assert_prompt, request_of};
use llmnode_runtime::{
    AttemptKind, Category, DynNode, Failures, Limits, Message, ModelError, NodeError, Reasoning,
    Recovery, Run, ScriptedModel, Settings, TestClock,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::script;

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "read for its errors")]
struct City {
    name: String,
    people: Option<u32>,
}

const GOOD: &str = r#"{"name": "Oslo", "people": 700000}"#;
const BAD: &str = r#"{"name": true}"#;

fn builder() -> DynNodeBuilder {
    DynNode::builder("extract").system_prompt("Extract the city.")
}

fn extract() -> DynNode {
    builder().output::<City>().build().unwrap()
}

fn on_test_clock(model: &ScriptedModel) -> (Run, TestClock) {
    let clock = TestClock::new();
    let settings = Settings::new().stop_on_repeat(false);
    (
        Run::new(model.clone())
            .with_settings(settings)
            .with_clock(clock.clone()),
        clock,
    )
}

async fn respond(
    primitive: &DynNode,
    replies: impl IntoIterator<Item = impl Into<Reply>>,
) -> Response {
    primitive
        .respond(&on_test_clock(&script(replies)).0, "Greetings from Oslo!")
        .await
}

fn steps(primitive: &DynNode, category: Category) -> String {
    let steps = primitive.policy_stack(category);
    steps
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(" ")
}

fn config_error(builder: DynNodeBuilder) -> NodeError {
    let error = builder.build().unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    error
}

#[tokio::test]
async fn c1_an_answer_is_data_and_a_failure_is_too() {
    let response = respond(&extract(), [GOOD]).await;
    assert!(response.success);
    assert_eq!(
        response.data,
        Some(json!({"name": "Oslo", "people": 700000}))
    );

    let response = respond(&extract(), [Reply::failure(Category::ApiKeyError)]).await;
    let json = serde_json::to_value(&response).unwrap();
    assert_eq!(
        (&json["success"], &json["reason"], &json["error_type"]),
        (
            &json!(false),
            &json!("api_key_error"),
            &json!("api_key_error")
        )
    );
    assert_eq!(json.get("data"), None);
    assert_eq!(json["details"]["message"], "a failure of the test's script");
}

#[tokio::test]
async fn c1_what_nobody_expected_is_an_internal_error() {
    let model = FnModel::new(|_| -> Reply { panic!("a bug") });
    let response = extract().respond(&Run::new(model), "x").await;
    assert_eq!(
        (response.reason, response.error_type),
        (Some("internal_error"), Some(Category::Panic))
    );
}

#[tokio::test]
async fn c2_labels_are_stable() {
    for (category, label) in [
        (Category::RateLimitError, "rate_limit_error"),
        (Category::ApiKeyError, "api_key_error"),
        (Category::ContextLengthError, "context_length_error"),
        (Category::ServerError, "server_error"),
        (Category::Refusal, "refusal"),
    ] {
        let response = respond(&extract(), (0..4).map(|_| Reply::failure(category))).await;
        assert_eq!(
            (response.reason, response.error_type),
            (Some(label), Some(category))
        );
    }
    let response = respond(&extract(), [BAD, BAD, BAD, BAD]).await;
    assert_eq!(
        (response.reason, response.error_type),
        (Some("schema_error"), Some(Category::SchemaError))
    );
}

#[test]
fn c3_the_default_stacks_can_be_read() {
    for (category, stack) in [
        (Category::SchemaError, "retry(1) repair(2) bubble"),
        (Category::EmptyResponse, "retry(1) repair(2) bubble"),
        (Category::RateLimitError, "retry(3, 2s) bubble"),
        (Category::ServerError, "retry(2) bubble"),
        (Category::ApiKeyError, "bubble"),
        (Category::ContextLengthError, "bubble"),
        (Category::ConfigError, "bubble"),
    ] {
        assert_eq!(steps(&extract(), category), stack, "{category}");
    }
}

#[test]
fn c3_what_the_builder_states_takes_the_place_of_a_default() {
    let retries = builder()
        .output::<City>()
        .retries(1)
        .transport_retries(0)
        .fallback_model("small")
        .build();
    let retries = retries.unwrap();
    assert_eq!(
        steps(&retries, Category::SchemaError),
        r#"repair(1) model("small") bubble"#
    );
    assert_eq!(
        steps(&retries, Category::RateLimitError),
        r#"model("small") bubble"#
    );

    let model = builder()
        .output::<City>()
        .fallback_model("small")
        .build()
        .unwrap();
    assert_eq!(
        steps(&model, Category::SchemaError),
        r#"retry(1) repair(2) model("small") bubble"#
    );
    assert_eq!(
        steps(&model, Category::RateLimitError),
        r#"retry(3, 2s) model("small") bubble"#
    );

    let own = builder()
        .output::<City>()
        .recover(Failures::Answer, [Recovery::Bubble]);
    let own = own
        .recover(Category::ServerError, [Recovery::retry(9)])
        .build()
        .unwrap();
    assert_eq!(steps(&own, Category::SchemaError), "bubble");
    assert_eq!(steps(&own, Category::ServerError), "retry(9) bubble");
    assert_eq!(steps(&own, Category::RateLimitError), "retry(3, 2s) bubble");
}

#[tokio::test]
async fn c3_payloads_are_text_or_hold_one() {
    let text = |payload: Value| {
        request_of(&extract().ask(payload), &()).messages[1]
            .content
            .clone()
    };
    assert_eq!(text("  a {b}\r\n".into()), "  a {b}\r\n");
    for member in ["prompt", "content", "input"] {
        assert_eq!(text(json!({member: "a", "other": 1})), "a");
    }
    assert_eq!(text(json!({"input": "c", "prompt": "a"})), "a");

    for payload in [
        json!(7),
        json!(null),
        json!(["a"]),
        json!({"text": "a"}),
        json!({"prompt": 7}),
    ] {
        let model = ScriptedModel::new();
        let run = Run::new(model.clone());
        let response = extract().respond(&run, payload).await;
        assert_eq!(
            (response.reason, response.error_type),
            (Some("invalid_payload"), Some(Category::SchemaError))
        );
        assert_eq!((response.calls, model.requests().len()), (0, 0));
        assert_eq!(response.name, "extract");
    }
}

#[tokio::test]
async fn c6_c7_retry_comes_first_then_repairs_then_the_last_failure() {
    let model = script([BAD; 4]);
    let (run, clock) = on_test_clock(&model);
    let error = run.call(&extract().ask("Oslo")).await.unwrap_err();
    assert_eq!(error.category(), Category::SchemaError);
    let kinds: Vec<_> = error
        .attempts()
        .iter()
        .map(|attempt| attempt.kind)
        .collect();
    use AttemptKind::{Correction, First, Retry};
    assert_eq!(kinds, [First, Retry, Correction, Correction]);
    let requests = model.requests();
    assert_eq!(
        requests[1].transcript(),
        requests[0].transcript(),
        "a retry is the same request"
    );
    assert!(
        requests[2]
            .transcript()
            .starts_with(&requests[0].transcript()),
        "a repair adds to it"
    );
    assert!(requests[2].messages[3].content.contains("name: is "));
    assert!(clock.waits().is_empty());
}

#[tokio::test]
async fn c6_the_stack_is_chosen_anew_when_another_failure_follows() {
    let replies = [
        Reply::text(BAD),
        Reply::failure(Category::ApiKeyError),
        Reply::text(GOOD),
    ];
    let response = respond(&extract(), replies).await;
    assert_eq!(
        (response.reason, response.calls),
        (Some("api_key_error"), 2)
    );
}

#[tokio::test]
async fn c8_the_delay_is_before_each_further_try_and_none_follows_the_last() {
    let model = ScriptedModel::new().otherwise(|_| Reply::failure(Category::RateLimitError));
    let (run, clock) = on_test_clock(&model);
    let response = extract().respond(&run, "x").await;
    assert_eq!(
        (response.reason, response.calls),
        (Some("rate_limit_error"), 4)
    );
    assert_eq!(clock.waits(), [Duration::from_secs(2); 3]);
}

#[tokio::test]
async fn c11_own_tries_do_not_touch_attempt() {
    let response = respond(&extract(), [BAD, BAD, GOOD]).await;
    let metadata = &serde_json::to_value(&response).unwrap()["metadata"];
    assert_eq!(metadata["attempt"], 1);
    assert_eq!(
        (&metadata["llm.calls"], &metadata["llm.retry_count"]),
        (&json!(3), &json!(2))
    );
    assert_eq!(
        (&metadata["name"], &metadata["usage"]["requests"]),
        (&json!("extract"), &json!(3))
    );
    assert!(
        metadata["id"].is_string() && metadata["duration_ms"].is_number(),
        "{metadata}"
    );
}

#[tokio::test]
async fn c13_details_are_short_and_have_no_content() {
    let bubbles = || {
        builder()
            .output::<City>()
            .recover(Failures::Answer, [Recovery::Bubble])
    };
    let long = format!(
        r#"{{"name": "{}", "people": "{}"}}"#,
        "n".repeat(10_000),
        "p".repeat(10_000)
    );
    let response = respond(&bubbles().build().unwrap(), [long]).await;
    assert!(response.violations[0].starts_with("people: is "));
    let json = serde_json::to_string(&response).unwrap();
    assert!(
        json.len() < 1500 && !json.contains("Greetings") && !json.contains("nnn"),
        "{json}"
    );

    let mut error =
        ModelError::new(Category::ServerError, "x".repeat(10_000)).wait(Duration::from_secs(1));
    error.status = Some(503);
    let failed = bubbles().transport_retries(0).build().unwrap();
    let details = respond(&failed, [error]).await;
    assert_eq!(
        (details.status, details.retry_after_ms),
        (Some(503), Some(1000))
    );
    assert!(details.message.unwrap().len() <= 260);

    let many = builder()
        .output_schema(json!({"type": "object", "additionalProperties": {"type": "null"}}));
    let many = many
        .recover(Failures::Answer, [Recovery::Bubble])
        .build()
        .unwrap();
    let answer: serde_json::Map<String, Value> =
        (0..100).map(|n| (format!("m{n}"), json!(n))).collect();
    let response = respond(&many, [Reply::json(answer)]).await;
    assert_eq!(response.violations.len(), 25);
}

#[tokio::test]
async fn c14_one_owner_of_retries() {
    let model = ScriptedModel::new().otherwise(|_| BAD);
    let (run, _) = on_test_clock(&model);
    extract().respond(&run, "x").await;
    assert_eq!(
        model.requests().len(),
        4,
        "the first and the steps of one stack"
    );
    let call = run
        .call(&extract().ask("x"))
        .settings(Settings::new().recover(Failures::Answer, [Recovery::Bubble]))
        .report()
        .await;
    let response = Response::from(call);
    assert_eq!((response.calls, response.retry_count), (1, 0));
}

#[tokio::test]
async fn the_prompt_is_the_instruction_the_schema_and_the_payload() {
    let primitive = builder()
        .output::<City>()
        .model("small")
        .temperature(0.0)
        .max_tokens(50)
        .reasoning(Reasoning::Low)
        .build()
        .unwrap();
    assert_prompt(
        &request_of(&primitive.ask("Greetings from {city}!"), &()),
        "
        model: small
        temperature: 0
        max_tokens: 50
        reasoning: low
        answer: JSON of City
        --- system
        Extract the city.
        --- user
        Greetings from {city}!
        ",
    );
    let bare = DynNode::builder("bare").output::<City>().build().unwrap();
    assert_eq!(request_of(&bare.ask("x"), &()).messages.len(), 1);
}

#[tokio::test]
async fn examples_come_before_the_input_and_fit_the_output() {
    let oslo = json!({"name": "Oslo"});
    let node = builder()
        .output::<City>()
        .example("Hello from Oslo.", oslo)
        .build()
        .unwrap();
    assert_prompt(
        &request_of(&node.ask("Greetings!"), &()),
        r#"
        answer: JSON of City
        --- system
        Extract the city.
        --- user
        Hello from Oslo.
        --- assistant
        {"name":"Oslo"}
        --- user
        Greetings!
        "#,
    );
    let wrong = builder()
        .output::<City>()
        .example("Hello.", json!({"town": 1}))
        .build()
        .unwrap();
    let model = script([GOOD]);
    let error = Run::new(model.clone())
        .call(&wrong.ask("x"))
        .await
        .unwrap_err();
    assert_eq!(
        (error.category(), model.requests().len()),
        (Category::PrepError, 0)
    );
    let text = DynNode::builder("t")
        .text()
        .example("a", "b")
        .build()
        .unwrap();
    assert_eq!(request_of(&text.ask("x"), &()).messages.len(), 3);
}

#[tokio::test]
async fn limits_hold_for_each_call() {
    let node = builder()
        .output::<City>()
        .limits(Limits::new().requests(1))
        .build()
        .unwrap();
    let model = script([BAD, GOOD, GOOD]);
    let (run, _) = on_test_clock(&model);
    let error = run.call(&node.ask("x")).await.unwrap_err();
    assert_eq!(
        (error.category(), model.requests().len()),
        (Category::LimitExceeded, 1)
    );
    run.call(&node.ask("x")).await.unwrap();
    // The call's own are nearer.
    let model = script([BAD, GOOD]);
    on_test_clock(&model)
        .0
        .call(&node.ask("x"))
        .limits(Limits::new().requests(9))
        .await
        .unwrap();
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test]
async fn a_node_without_an_input_asks_nobody() {
    let model = script([GOOD]);
    let error = Run::new(model.clone()).call(&extract()).await.unwrap_err();
    assert_eq!(
        (error.category(), model.requests().len()),
        (Category::PrepError, 0)
    );
    assert_eq!(
        error.message(),
        "the node `extract` has no input: `ask` or `chat` gives it one"
    );
}

#[tokio::test]
async fn a_node_set_up_at_run_time_is_one_like_any_other() {
    let model = FnModel::new(|request| match request.messages[1].content.as_str() {
        "bad" => Reply::failure(Category::Refusal),
        other => Reply::json(json!({"name": other})),
    });
    let run = Run::new(model.clone()).with_state("a state that nobody reads");
    let (one, two) = (
        extract(),
        DynNode::builder("other")
            .system_prompt("x")
            .output::<City>()
            .build()
            .unwrap(),
    );
    let asks = ["a", "bad", "c"].map(|text| one.ask(text));
    let answers = run.map(&asks).await;
    assert_eq!(answers[2].as_ref().unwrap()["name"], "c");
    let error = answers[1].as_ref().unwrap_err();
    assert!(
        error.to_string().starts_with("extract (item 1): refusal"),
        "{error}"
    );
    run.call(&two.ask("d")).temperature(0.5).await.unwrap();
    assert_eq!(model.requests()[3].temperature, Some(0.5));
    assert_eq!(
        run.ledger().tokens_used().keys().collect::<Vec<_>>(),
        ["extract", "other"]
    );
    assert_eq!(run.ledger().time_ms().len(), 2);
}

#[tokio::test]
async fn call_beats_run_beats_primitive() {
    let primitive = builder()
        .output::<City>()
        .model("own")
        .temperature(0.1)
        .max_tokens(7)
        .build()
        .unwrap();
    let model = script([GOOD]);
    let run = Run::new(model.clone()).with_settings(Settings::new().temperature(0.2).model("run"));
    run.call(&primitive.ask("x")).model("call").await.unwrap();
    let request = &model.requests()[0];
    assert_eq!(
        (
            request.model.as_deref(),
            request.temperature,
            request.max_tokens
        ),
        (Some("call"), Some(0.2), Some(7))
    );
}

#[tokio::test]
async fn a_schema_of_run_time_is_checked_and_its_faults_go_to_the_model() {
    let list =
        json!({"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "maxItems": 2});
    let primitive = DynNode::builder("tags")
        .output_schema(list)
        .retries(1)
        .build()
        .unwrap();
    assert_eq!(primitive.schema().unwrap().name(), "tags");
    let model = script([r#"{"value": ["a", "x"]}"#, r#"{"value": ["a", "b"]}"#]);
    let run = Run::new(model.clone());
    assert_eq!(
        run.call(&primitive.ask("x")).await.unwrap(),
        json!(["a", "b"])
    );
    let feedback = &model.requests()[1].messages[2].content;
    assert!(
        feedback.contains(r#"- value[1]: is "x", which is not allowed; allowed: "a", "b""#),
        "{feedback}"
    );
}

#[test]
fn every_fault_of_a_builder_is_told_at_once() {
    let message = config_error(
        DynNode::builder(" ")
            .model("")
            .temperature(-1.0)
            .max_tokens(0)
            .recover(Category::ApiKeyError, [Recovery::retry(1)]),
    );
    for fault in [
        "the name is empty",
        "there is no output",
        "temperature is -1",
        "max_tokens is 0",
        "model's name",
        "recover(api_key_error",
    ] {
        assert!(
            message.message().contains(fault),
            "{fault}: {}",
            message.message()
        );
    }
    for (schema, fault) in [
        (json!({"type": "strin"}), "#/type"),
        (json!({"pattern": "a"}), "#/pattern: cannot be checked"),
        (json!("x"), "not a JSON object"),
        (json!({"$ref": "#"}), "refers to itself"),
    ] {
        let error = config_error(DynNode::builder("x").output_schema(schema));
        assert!(error.message().contains(fault), "{}", error.message());
    }
    let twice = config_error(
        builder()
            .output::<City>()
            .retries(1)
            .recover(Failures::Answer, [Recovery::repair(1)]),
    );
    assert!(twice.message().contains("keep one of them"));
}

#[tokio::test]
async fn debug_shows_no_content() {
    for answers in [[GOOD; 4], [BAD; 4]] {
        let response = format!("{:?}", respond(&extract(), answers).await);
        assert!(
            !response.contains("Oslo") && !response.contains("expected "),
            "{response}"
        );
    }
    let ask = extract().ask("a payload");
    let shown = format!("{ask:?} {:?}", builder());
    assert!(
        shown.contains("extract") && shown.contains("City"),
        "{shown}"
    );
    assert!(
        !shown.contains("payload\"") && !shown.contains("Extract the"),
        "{shown}"
    );
}

#[tokio::test]
async fn a_primitive_may_answer_text_and_go_on_with_a_conversation() {
    let chat = DynNode::builder("chat")
        .system_prompt("Be brief.")
        .text()
        .build()
        .unwrap();
    assert!(chat.schema().is_none());
    assert_eq!(steps(&chat, Category::EmptyResponse), "bubble");
    let model = ScriptedModel::new().reply("Hi.").reply("Bye.").reply("So.");
    let run = Run::new(model.clone());
    let history = vec![Message::user("Hello?"), Message::assistant("Yes?")];
    assert_eq!(
        run.call(&chat.ask("Who is there?").history(history.clone()))
            .await
            .unwrap(),
        "Hi."
    );
    let turn = [history, vec![Message::user("And now?")]].concat();
    assert_eq!(
        run.call(&chat.chat(turn).system("Be long.")).await.unwrap(),
        "Bye."
    );
    assert_eq!(run.call(&chat.ask("x")).await.unwrap(), "So.");
    let asked: Vec<Vec<String>> = model
        .requests()
        .iter()
        .map(|request| {
            request
                .messages
                .iter()
                .map(|message| message.content.clone())
                .collect()
        })
        .collect();
    assert_eq!(asked[0], ["Be brief.", "Hello?", "Yes?", "Who is there?"]);
    assert_eq!(asked[1], ["Be long.", "Hello?", "Yes?", "And now?"]);
    assert_eq!(asked[2], ["Be brief.", "x"]);
}
