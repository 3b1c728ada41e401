//! What a model refuses is learned once.

use std::marker::PhantomData;

use llmnode_http::OpenAi;
use llmnode_runtime::{
    AttemptKind, Category, ChatModel, ModelError, OutputSchema, Request, Retry, Run,
};
use llmnode_stub::{LoggedRequest, StubReply};
use serde_json::Value;

use crate::support::{Ask, Greet, Seen, model, request, server};

/// A server that answers 400 to requests with this member, and else with text.
fn refuses(field: &'static str, message: &'static str) -> StubReply {
    StubReply::for_request(move |request: &LoggedRequest| match request.json() {
        Some(body) if body.get(field).is_some() => StubReply::error(
            400,
            "invalid_request_error",
            "unsupported_parameter",
            message,
        ),
        _ => StubReply::text("{}"),
    })
}

async fn complete(model: &OpenAi, request: &Request) -> Result<String, ModelError> {
    model
        .complete(request, &mut Seen::default())
        .await
        .map(|completion| completion.text)
}

#[tokio::test]
async fn the_limit_on_tokens_by_its_other_name() {
    let refusal = || {
        refuses(
            "max_tokens",
            "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
        )
    };
    let server = server([refusal(), refusal(), refusal()]).await;
    let run = Run::new(model(&server.base_url()));
    // No retries of any kind: a refusal that teaches costs none.
    let report = run
        .call(&Greet)
        .max_tokens(9)
        .transport_retries(0)
        .report()
        .await
        .unwrap();
    let kinds: Vec<_> = report
        .record
        .attempts
        .iter()
        .map(|attempt| attempt.kind)
        .collect();
    assert_eq!(kinds, [AttemptKind::First, AttemptKind::Adapted]);
    run.call(&Greet).max_tokens(9).await.unwrap();
    let limits: Vec<_> = server
        .requests()
        .iter()
        .map(|request| {
            let body = request.json().unwrap();
            (
                body.get("max_tokens").and_then(Value::as_u64),
                body.get("max_completion_tokens").and_then(Value::as_u64),
            )
        })
        .collect();
    assert_eq!(limits, [(Some(9), None), (None, Some(9)), (None, Some(9))]);
}

#[tokio::test]
async fn a_temperature_that_is_refused_is_left_out_for_this_model_only() {
    let refusal = || {
        refuses(
            "temperature",
            "'temperature' does not support 0.2 with this model.",
        )
    };
    let server = server([refusal(), refusal(), refusal(), refusal()]).await;
    let (model, mut request) = (model(&server.base_url()), request());
    request.temperature = Some(0.2);
    let error = complete(&model, &request).await.unwrap_err();
    assert_eq!(
        (error.category, error.retry),
        (Category::BadRequest, Some(Retry::Adapted))
    );
    // A clone of the handle knows it too.
    assert!(complete(&model.clone(), &request).await.is_ok());
    request.model = Some("other".to_owned());
    assert_eq!(
        complete(&model, &request).await.unwrap_err().retry,
        Some(Retry::Adapted)
    );
}

/// What one call learned applies to all later ones, and only to what they ask for.
#[tokio::test]
async fn what_is_known_to_be_refused_is_told_of_every_later_request() {
    let refusals = ["temperature", "max_tokens", "response_format"].map(|field| {
        let message = format!("Unsupported parameter: '{field}' is not supported.");
        StubReply::error(
            400,
            "invalid_request_error",
            "unsupported_parameter",
            &message,
        )
    });
    let server = server(
        refusals
            .into_iter()
            .chain([StubReply::text("7"), StubReply::text("7")]),
    )
    .await;
    let (model, mut request) = (model(&server.base_url()), request());
    request.temperature = Some(0.2);
    request.max_tokens = Some(9);
    request.output = Some(OutputSchema::of::<u8>());
    let all = [
        "temperature",
        "max_tokens",
        "strict",
        "schema",
        "json_object",
    ];
    for known in [&all[..0], &all[..1], &all[..2], &all] {
        let mut seen = Seen::default();
        let _ = model.complete(&request, &mut seen).await;
        assert_eq!(seen.refused, known);
    }
    request.temperature = None;
    request.output = None;
    let mut seen = Seen::default();
    model.complete(&request, &mut seen).await.unwrap();
    assert_eq!(seen.refused, ["max_tokens"]);
}

#[tokio::test]
async fn what_was_learned_stands_in_the_records_of_later_calls() {
    let refusal = || {
        refuses(
            "temperature",
            "'temperature' does not support 0.2 with this model.",
        )
    };
    let server = server([refusal(), refusal(), refusal(), StubReply::text("hi")]).await;
    let run = Run::new(model(&server.base_url()));
    let mut records = Vec::new();
    for _ in 0..2 {
        let report = run.call(&Greet).temperature(0.2).report().await.unwrap();
        records.push(
            report
                .record
                .attempts
                .iter()
                .map(|one| one.refused.clone())
                .collect::<Vec<_>>(),
        );
    }
    let (none, known) = (Vec::new(), vec!["temperature".to_owned()]);
    assert_eq!(records, [vec![none, known.clone()], vec![known.clone()]]);
    // Only the ledger's JSON has it.
    let json = run.ledger().to_json().to_string();
    assert_eq!(
        json.matches(r#""refused":["temperature"]"#).count(),
        2,
        "{json}"
    );
    let read = llmnode_runtime::LedgerSnapshot::from_json(&json).unwrap();
    assert_eq!(read.calls[1].attempts[0].refused, known);
    run.call(&Greet).report().await.unwrap();
    assert_eq!(
        run.ledger()
            .to_json()
            .to_string()
            .matches("refused")
            .count(),
        2
    );
}

#[tokio::test]
async fn a_value_out_of_range_is_no_reason_to_leave_it_out() {
    let message = "Invalid 'temperature': decimal below minimum value. Expected a value >= 0.";
    let server = server([StubReply::error(
        400,
        "invalid_request_error",
        "decimal_below_min_value",
        message,
    )])
    .await;
    let mut request = request();
    request.temperature = Some(0.2);
    let error = complete(&model(&server.base_url()), &request)
        .await
        .unwrap_err();
    assert_eq!((error.category, error.retry), (Category::BadRequest, None));
}

#[tokio::test]
async fn schemas_step_down_to_the_prompt_and_stop_there() {
    let refusal = |kind| {
        let message = format!("response_format of type {kind} is not supported");
        StubReply::error(400, "invalid_request_error", (), &message)
    };
    let (schema, object) = ("json_schema", "json_object");
    let server = server([
        refusal(schema),
        refusal(object),
        StubReply::text("7"),
        refusal(object),
    ])
    .await;
    let (model, mut request) = (model(&server.base_url()), request());
    request.output = Some(OutputSchema::of::<u8>());
    for _ in 0..2 {
        assert_eq!(
            complete(&model, &request).await.unwrap_err().retry,
            Some(Retry::Adapted)
        );
    }
    assert_eq!(complete(&model, &request).await.unwrap(), "7");
    assert_eq!(complete(&model, &request).await.unwrap_err().retry, None);
    let log = server.requests();
    let kinds: Vec<_> = log
        .iter()
        .map(|request| request.json().unwrap()["response_format"]["type"].clone())
        .collect();
    assert_eq!(
        kinds,
        [
            Value::from("json_schema"),
            Value::from("json_object"),
            Value::Null,
            Value::Null
        ]
    );
    // From the second request on, a system message has a form; the prompt stays as it was.
    let form = r#"{"value": <whole number from 0 to 255>}"#;
    let messages = log[2].messages();
    assert_eq!((messages[0].0.as_str(), messages.len()), ("system", 2));
    assert!(messages[0].1.contains("JSON") && messages[0].1.ends_with(form));
    assert_eq!(messages[1], log[0].messages()[0]);
}

#[tokio::test]
async fn a_refusal_of_what_is_no_longer_asked_ends_it() {
    let refusal = || {
        StubReply::error(
            422,
            "x",
            (),
            "response_format.type `json_schema` is unavailable now",
        )
    };
    let server = server([refusal(), refusal(), refusal()]).await;
    let (model, mut request) = (model(&server.base_url()), request());
    request.output = Some(OutputSchema::of::<u8>());
    assert_eq!(
        complete(&model, &request).await.unwrap_err().retry,
        Some(Retry::Adapted)
    );
    let error = complete(&model, &request).await.unwrap_err();
    assert_eq!((error.category, error.retry), (Category::BadRequest, None));
}

#[tokio::test]
async fn a_server_without_response_formats_is_told_the_schema_at_once() {
    let message = "Unknown parameter: 'response_format'";
    let server = server([refuses("response_format", message), StubReply::text("7")]).await;
    let (model, mut request) = (model(&server.base_url()), request());
    request.output = Some(OutputSchema::of::<u8>());
    assert_eq!(
        complete(&model, &request).await.unwrap_err().retry,
        Some(Retry::Adapted)
    );
    assert_eq!(complete(&model, &request).await.unwrap(), "7");
}

#[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
struct Choice {
    item: String,
}

/// What the messages of a request say, by role, and whether it has a response format.
fn asked(request: &LoggedRequest) -> (Vec<(String, String)>, bool) {
    let body = request.json().unwrap();
    let messages = body["messages"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let messages = messages.map(|message| (text(&message["role"]), text(&message["content"])));
    (messages.collect(), body.get("response_format").is_some())
}

#[tokio::test]
async fn a_server_that_ignores_the_schema_is_shown_a_form() {
    let good = || StubReply::text(r#"{"item": "key"}"#);
    let answers = [
        good(),
        StubReply::text("I would take the key."),
        good(),
        good(),
    ];
    let server = server(answers).await;
    let run = Run::new(model(&server.base_url()));
    let ask = || run.call(&Ask::<Choice>(PhantomData)).retries(1);
    for _ in 0..3 {
        assert_eq!(ask().await.unwrap().item, "key");
    }
    let asked: Vec<_> = server.requests().iter().map(asked).collect();
    assert!(
        asked.iter().all(|(_, has_format)| *has_format),
        "it is asked by as before"
    );
    let ends_with_it = |(_, text): &(String, String)| text.ends_with(r#"{"item": "<text>"}"#);
    // What obeys teaches nothing.
    let (prompt, _) = &asked[0];
    assert_eq!((prompt.len(), &asked[1].0), (1, prompt));
    // The call's own correction holds the form, and its prompt stays.
    let (corrected, _) = &asked[2];
    assert_eq!((corrected.len(), &corrected[0]), (3, &prompt[0]));
    assert!(
        corrected[2].1.contains("not accepted") && ends_with_it(&corrected[2]),
        "{corrected:?}"
    );
    // The system message of later calls does.
    let (later, _) = &asked[3];
    assert_eq!(
        (later.len(), later[0].0.as_str(), &later[1]),
        (2, "system", &prompt[0])
    );
    assert!(ends_with_it(&later[0]), "{later:?}");
}

#[tokio::test]
async fn what_had_to_be_repaired_was_not_enforced_either() {
    let fenced = "Here it is:\n```json\n{\"item\": \"key\"}\n```";
    let thought = "<think>a key?</think>{\"item\": \"key\"}";
    for (first, is_shown) in [(fenced, true), (thought, false)] {
        let server = server([
            StubReply::text(first),
            StubReply::text(r#"{"item": "key"}"#),
        ])
        .await;
        let run = Run::new(model(&server.base_url()));
        for _ in 0..2 {
            run.call(&Ask::<Choice>(PhantomData)).await.unwrap();
        }
        let (later, _) = asked(&server.requests()[1]);
        assert_eq!(later[0].0 == "system", is_shown, "{first}");
    }
}
