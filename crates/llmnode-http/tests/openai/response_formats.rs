//! The response formats in which a type is asked for: what goes over the wire, what comes back, and what is learned when an
//! endpoint refuses one.

use std::marker::PhantomData;

use llmnode_http::OpenAi;
use llmnode_runtime::{
    AttemptKind, Category, ChatModel, FinishReason, Flag, Message, OutputSchema, Request,
    ResponseFormat, Retry, Run, Settings,
};
use llmnode_stub::{LoggedRequest, StubReply, StubServer};
use serde_json::{Value, json};

use crate::support::{Ask, Seen, builder, request, server};

const ALL: [ResponseFormat; 5] = [
    ResponseFormat::Strict,
    ResponseFormat::Schema,
    ResponseFormat::JsonObject,
    ResponseFormat::Prompt,
    ResponseFormat::Tool,
];

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Choice {
    /// One of the items.
    item: String,
}

type Map = std::collections::BTreeMap<String, u8>;

/// Bytes that anything but a copy would change.
const PROMPT: &str = " Hello?\r\n\t{\"a\": 1}\u{0}\u{feff}`</s>\n\n ";

fn typed(schema: std::sync::Arc<OutputSchema>) -> Request {
    let mut request = request();
    request.messages = vec![Message::system("Be brief."), Message::user(PROMPT)];
    (request.output, request.question) = (Some(schema), Some(1));
    request
}

/// The response format of a request, by what is in its body.
fn format_of(request: &LoggedRequest) -> ResponseFormat {
    let body = request.json().unwrap();
    match body["response_format"]["type"].as_str() {
        Some("json_schema")
            if body.pointer("/response_format/json_schema/strict") == Some(&json!(true)) =>
        {
            ResponseFormat::Strict
        }
        Some("json_schema") => ResponseFormat::Schema,
        Some("json_object") => ResponseFormat::JsonObject,
        _ if body.get("tools").is_some() => ResponseFormat::Tool,
        _ => ResponseFormat::Prompt,
    }
}

fn response_formats(server: &StubServer) -> Vec<ResponseFormat> {
    server.requests().iter().map(format_of).collect()
}

async fn body(response_format: ResponseFormat, request: &Request) -> Value {
    let server = server([]).await;
    let model = builder(&server.base_url())
        .response_format(response_format)
        .build()
        .unwrap();
    model.complete(request, &mut Seen::default()).await.unwrap();
    server.requests()[0].json().unwrap().clone()
}

#[tokio::test]
async fn each_response_format_tells_the_schema_in_its_own_place() {
    let (request, schema) = (
        typed(OutputSchema::of::<Choice>()),
        OutputSchema::of::<Choice>(),
    );
    let strict: Value = serde_json::from_str(schema.strict().unwrap().get()).unwrap();
    let plain: Value = serde_json::from_str(schema.plain().get()).unwrap();
    for response_format in ALL {
        let body = body(response_format, &request).await;
        let format = match response_format {
            ResponseFormat::Strict => {
                json!({"type": "json_schema", "json_schema": {"name": "Choice", "schema": strict, "strict": true}})
            }
            ResponseFormat::Schema => {
                json!({"type": "json_schema", "json_schema": {"name": "Choice", "schema": plain, "strict": false}})
            }
            ResponseFormat::JsonObject => json!({"type": "json_object"}),
            _ => Value::Null,
        };
        assert_eq!(body["response_format"], format, "{response_format}");
        let function = json!({"name": "Choice", "parameters": strict, "strict": true});
        let (tools, choice) = match response_format {
            ResponseFormat::Tool => (
                json!([{"type": "function", "function": function}]),
                json!({"type": "function", "function": {"name": "Choice"}}),
            ),
            _ => (Value::Null, Value::Null),
        };
        assert_eq!(
            (&body["tools"], &body["tool_choice"]),
            (&tools, &choice),
            "{response_format}"
        );
        let parallel = if response_format == ResponseFormat::Tool {
            json!(false)
        } else {
            Value::Null
        };
        assert_eq!(body["parallel_tool_calls"], parallel, "{response_format}");

        // The system message ends with a form where the schema stands nowhere; the user's is the prompt, and
        // names what is asked for.
        let told = matches!(
            response_format,
            ResponseFormat::JsonObject | ResponseFormat::Prompt
        );
        let [system, user] = body["messages"].as_array().unwrap().as_slice() else {
            panic!("{body}")
        };
        let reminder = if told {
            "\n\nAnswer with JSON that has `item`."
        } else {
            ""
        };
        assert_eq!(
            user,
            &json!({"role": "user", "content": format!("{PROMPT}{reminder}")}),
            "{response_format}"
        );
        let system = system["content"].as_str().unwrap();
        assert!(system.starts_with("Be brief."), "{response_format}");
        assert_eq!(
            system.ends_with(llmnode_reader::ask::form(&schema).unwrap()),
            told,
            "{response_format}"
        );
        assert_eq!(system == "Be brief.", !told, "{response_format}");
    }
}

#[tokio::test]
async fn a_type_beyond_the_strict_response_format_is_told_before_any_request() {
    let server = server([]).await;
    let chosen = builder(&server.base_url())
        .response_format(ResponseFormat::Strict)
        .build()
        .unwrap();
    let request = typed(OutputSchema::of::<Vec<Map>>());
    let error = chosen
        .complete(&request, &mut Seen::default())
        .await
        .unwrap_err();
    assert_eq!((error.category, error.sent), (Category::ConfigError, false));
    for part in [
        "`Array_of_Map_of_uint8.value[]` is a map with free keys",
        "a list of structs",
        "`schema` takes",
    ] {
        assert!(error.message.contains(part), "{error}");
    }
    assert!(server.requests().is_empty());
    // Left alone, and by every other choice, the type is asked for all the same.
    for response_format in [
        None,
        Some(ResponseFormat::Schema),
        Some(ResponseFormat::JsonObject),
        Some(ResponseFormat::Prompt),
        Some(ResponseFormat::Tool),
    ] {
        let model = builder(&server.base_url());
        let model = response_format
            .into_iter()
            .fold(model, |model, one| model.response_format(one))
            .build()
            .unwrap();
        model
            .complete(&request, &mut Seen::default())
            .await
            .unwrap();
    }
    let asked = response_formats(&server);
    assert_eq!(asked[0], ResponseFormat::Schema);
    assert_eq!(
        asked[1..],
        [
            ResponseFormat::Schema,
            ResponseFormat::JsonObject,
            ResponseFormat::Prompt,
            ResponseFormat::Tool
        ]
    );
    let called = server.requests()[4].json().unwrap()["tools"][0]["function"].clone();
    assert_eq!(called["strict"], false, "a function takes any schema");
}

/// What a server says when it refuses a response format.
#[derive(serde::Deserialize)]
struct Refusal {
    who: String,
    status: u16,
    body: Value,
    /// The response formats that it refuses so.
    refuses: Vec<ResponseFormat>,
    chosen: Option<ResponseFormat>,
    /// The response formats that are asked by until an answer comes.
    asked: Vec<ResponseFormat>,
}

/// The refusals of many servers, one a line.
#[tokio::test]
async fn a_refusal_leads_to_the_next_response_format_once() {
    for line in include_str!("data/refusals.jsonl").lines() {
        assert_learned(serde_json::from_str(line).unwrap()).await;
    }
}

async fn assert_learned(
    Refusal {
        who,
        status,
        body,
        refuses,
        chosen,
        asked,
    }: Refusal,
) {
    let reply =
        StubReply::for_request(move |request| match refuses.contains(&format_of(request)) {
            true => StubReply::raw(status, body.to_string()),
            false => StubReply::from_schema(),
        });
    let server = StubServer::builder()
        .default_reply(reply)
        .start()
        .await
        .unwrap();
    let handle = |server: &StubServer| {
        let model = builder(&server.base_url());
        chosen
            .into_iter()
            .fold(model, |model, one| model.response_format(one))
            .build()
            .unwrap()
    };
    let (model, mut request) = (handle(&server), typed(OutputSchema::of::<Choice>()));
    let (last, before) = asked.split_last().unwrap();
    for _ in before {
        let error = model
            .complete(&request, &mut Seen::default())
            .await
            .unwrap_err();
        assert_eq!(error.retry, Some(Retry::Adapted), "{who}: {error}");
    }
    assert_eq!(response_formats(&server), before, "{who}");
    // The model itself and its clones know it now; another model, and another handle, do not.
    for model in [&model, &model.clone()] {
        model
            .complete(&request, &mut Seen::default())
            .await
            .unwrap_or_else(|error| panic!("{who}: {error}"));
        assert_eq!(response_formats(&server).last(), Some(last), "{who}");
    }
    request.model = Some("other".to_owned());
    let _ = model.complete(&request, &mut Seen::default()).await;
    assert_eq!(response_formats(&server).last(), asked.first(), "{who}");
    request.model = None;
    let _ = handle(&server)
        .complete(&request, &mut Seen::default())
        .await;
    assert_eq!(response_formats(&server).last(), asked.first(), "{who}");
}

#[tokio::test]
async fn what_refuses_one_schema_is_no_reason_to_ask_otherwise_for_another() {
    let refuses = |request: &LoggedRequest| match request
        .json()
        .unwrap()
        .to_string()
        .contains("\"Choice\"")
    {
        true if format_of(request) == ResponseFormat::Strict => StubReply::error(
            400,
            "invalid_request_error",
            (),
            "Invalid schema for response_format 'Choice': no",
        ),
        _ => StubReply::from_schema(),
    };
    let server = StubServer::builder()
        .default_reply(StubReply::for_request(refuses))
        .start()
        .await
        .unwrap();
    let model = builder(&server.base_url()).build().unwrap();
    for schema in [
        OutputSchema::of::<Choice>(),
        OutputSchema::of::<Choice>(),
        OutputSchema::of::<u8>(),
    ] {
        let _ = model.complete(&typed(schema), &mut Seen::default()).await;
    }
    assert_eq!(
        response_formats(&server),
        [
            ResponseFormat::Strict,
            ResponseFormat::Schema,
            ResponseFormat::Strict
        ]
    );
}

/// A node that asks for a number.
const COUNT: Ask<u8> = Ask(PhantomData);

#[tokio::test]
async fn call_model_and_run_choose_and_the_record_says_by_which_it_was() {
    let server = server([]).await;
    let model = builder(&server.base_url())
        .response_format(ResponseFormat::Schema)
        .build()
        .unwrap();
    let run =
        Run::new(model).with_settings(Settings::new().response_format(ResponseFormat::Prompt));
    let by_run = run.call(&COUNT).report().await.unwrap();
    let by_call = run
        .call(&COUNT)
        .response_format(ResponseFormat::Tool)
        .report()
        .await
        .unwrap();
    let by_model = run
        .clone()
        .with_settings(Settings::new())
        .call(&COUNT)
        .report()
        .await
        .unwrap();
    let used = [
        ResponseFormat::Prompt,
        ResponseFormat::Tool,
        ResponseFormat::Schema,
    ];
    assert_eq!(response_formats(&server), used);
    let recorded =
        [by_run, by_call, by_model].map(|report| report.record.attempts[0].response_format);
    assert_eq!(recorded, used.map(Some));
    let report = run.ledger().snapshot();
    let json = serde_json::to_string(&report).unwrap();
    assert!(json.contains(r#""response_format":"tool""#), "{json}");
    let read = llmnode_runtime::LedgerSnapshot::from_json(&json).unwrap();
    assert_eq!(
        read.calls[0].attempts[0].response_format,
        Some(ResponseFormat::Prompt)
    );
}

#[tokio::test]
async fn a_step_down_is_visible_in_the_records_of_the_attempts() {
    let refusal = "This response_format type is unavailable now";
    let server = server([StubReply::error(400, "invalid_request_error", (), refusal)]).await;
    let run = Run::new(builder(&server.base_url()).build().unwrap());
    let report = run
        .call(&COUNT)
        .transport_retries(0)
        .report()
        .await
        .unwrap();
    let seen: Vec<_> = report
        .record
        .attempts
        .iter()
        .map(|one| (one.kind, one.response_format))
        .collect();
    assert_eq!(
        seen,
        [
            (AttemptKind::First, Some(ResponseFormat::Strict)),
            (AttemptKind::Adapted, Some(ResponseFormat::JsonObject))
        ]
    );
}

#[tokio::test]
async fn corrections_work_in_every_response_format() {
    for response_format in ALL {
        let server = server([StubReply::text("many"), StubReply::text(r#"{"value": 7}"#)]).await;
        let run = Run::new(builder(&server.base_url()).build().unwrap());
        let count = run
            .call(&COUNT)
            .response_format(response_format)
            .retries(1)
            .await
            .unwrap();
        assert_eq!(count, 7, "{response_format}");
        assert_eq!(
            response_formats(&server),
            [response_format, response_format]
        );
        let (first, second) = (
            server.requests()[0].messages(),
            server.requests()[1].messages(),
        );
        assert_eq!(second[..first.len()], first[..], "{response_format}");
        assert_eq!(
            second[first.len()],
            ("assistant".to_owned(), "many".to_owned()),
            "{response_format}"
        );
    }
}

#[tokio::test]
async fn a_forced_call_is_read_like_a_text() {
    let answers = |replies: Vec<StubReply>| async {
        let server = server(replies).await;
        let run = Run::new(builder(&server.base_url()).build().unwrap());
        run.call(&COUNT)
            .response_format(ResponseFormat::Tool)
            .retries(1)
            .report()
            .await
    };
    let called = |value: u32| StubReply::call("uint8", json!({ "value": value }));
    let report = answers(vec![called(3)]).await.unwrap();
    assert_eq!(
        (
            report.value,
            report.record.attempts[0].finish_reason.as_deref()
        ),
        (3, Some("stop"))
    );
    // A bad one is corrected, and shown as what it said.
    let report = answers(vec![called(300), called(4)]).await.unwrap();
    assert_eq!((report.value, report.record.attempts.len()), (4, 2));
    assert_eq!(
        report.record.attempts[0].answer.as_deref(),
        Some(r#"{"value":300}"#)
    );
    // Another function than the one that it had to call is a bad answer, too.
    let report = answers(vec![
        StubReply::call("search", json!({"value": 5})),
        called(6),
    ])
    .await
    .unwrap();
    assert_eq!(report.value, 6);
    assert_eq!(
        report.record.attempts[0].category,
        Some(Category::SchemaError)
    );
    // A stop at the length limit stays one.
    let report = answers(vec![called(7).finish_reason("length")])
        .await
        .unwrap();
    assert_eq!(report.record.attempts[0].flags, [Flag::LengthStop]);
    assert_eq!(
        report.record.attempts[0].finish_reason.as_deref(),
        Some(FinishReason::Length.as_str())
    );
    let cut = StubReply::raw(
        200,
        r#"{"choices":[{"message":{"tool_calls":[{"function":{"name":"uint8","arguments":"{\"value\": 7"}}]},"finish_reason":"length"}]}"#,
    );
    assert_eq!(
        answers(vec![cut]).await.unwrap_err().category(),
        Category::TruncatedOutput
    );
    // Two calls that differ are two answers.
    let two = r#"{"choices":[{"message":{"tool_calls":[
        {"function":{"name":"uint8","arguments":"{\"value\": 7}"}},
        {"function":{"name":"uint8","arguments":"{\"value\": 8}"}}]},"finish_reason":"tool_calls"}]}"#;
    let report = answers(vec![StubReply::raw(200, two), called(8)])
        .await
        .unwrap();
    assert_eq!(report.value, 8);
    assert_eq!(
        report.record.attempts[0].category,
        Some(Category::SchemaError)
    );
}

#[tokio::test]
async fn what_a_response_format_makes_cannot_be_given_beside_it() {
    let server = server([]).await;
    let model: OpenAi = builder(&server.base_url()).build().unwrap();
    let run = Run::new(model);
    for (response_format, field) in [
        (ResponseFormat::Tool, "tools"),
        (ResponseFormat::Tool, "tool_choice"),
        (ResponseFormat::Tool, "response_format"),
        (ResponseFormat::Prompt, "response_format"),
    ] {
        let error = run
            .call(&COUNT)
            .response_format(response_format)
            .extra(field, json!([]))
            .await
            .unwrap_err();
        assert_eq!(error.category(), Category::ConfigError, "{error}");
        assert!(error.message().contains(&format!("`{field}`")), "{error}");
    }
    assert!(server.requests().is_empty());
    // A response format of the program's own replaces that of the model's handle; tools of its own are no answer.
    let own = builder(&server.base_url())
        .response_format(ResponseFormat::Prompt)
        .build()
        .unwrap();
    let text = json!({"type": "json_object"});
    let report = Run::new(own)
        .call(&COUNT)
        .extra("response_format", text.clone())
        .report()
        .await;
    assert_eq!(
        report.unwrap_err().record().unwrap().attempts[0].response_format,
        None
    );
    assert_eq!(
        server.requests()[0].json().unwrap()["response_format"],
        text
    );
    let own = builder(&server.base_url())
        .response_format(ResponseFormat::Tool)
        .build()
        .unwrap();
    let error = Run::new(own)
        .call(&COUNT)
        .extra("tools", json!([]))
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::ConfigError, "{error}");
    let function = json!({"name": "now", "parameters": {"type": "object", "properties": {}}});
    let tools = json!([{"type": "function", "function": function}]);
    run.call(&COUNT).extra("tools", tools).await.unwrap();
}

/// A copied form is JSON of the type; a copied schema is not. The model is told which one it copied, with the form.
#[tokio::test]
async fn a_copy_of_what_was_shown_is_told_as_such() {
    let form = llmnode_reader::ask::form(&OutputSchema::of::<Choice>())
        .unwrap()
        .to_owned();
    for (copied, what) in [
        (form.as_str(), "repeats the form instead of filling it in"),
        (
            r#"{"type": "object", "properties": {"item": {"type": "string"}}}"#,
            "repeats the schema",
        ),
    ] {
        let server = server([
            StubReply::text(copied),
            StubReply::text(r#"{"item": "key"}"#),
        ])
        .await;
        let run = Run::new(builder(&server.base_url()).build().unwrap());
        let ask = Ask::<Choice>(PhantomData);
        let choice = run
            .call(&ask)
            .response_format(ResponseFormat::Prompt)
            .retries(1)
            .await
            .unwrap();
        assert_eq!(choice.item, "key");
        let body = server.requests()[1].json().unwrap().clone();
        let feedback = body["messages"][3]["content"].as_str().unwrap();
        assert!(
            feedback.contains(what) && feedback.ends_with(&form),
            "{feedback}"
        );
    }
}
