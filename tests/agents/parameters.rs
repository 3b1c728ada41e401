//! The parameters of tools on each API: what is sent, and the names of members that an API refuses.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use llmnode::prelude::*;
use llmnode::{
    Anthropic, BoxError, Category, DynNode, Event, Gemini, OpenAi, ResponseFormat, Toolset,
};
use serde_json::{Value, json};

use crate::recorded::{Answer, Recorded, events, json};
use crate::rules;

/// The time.
#[tool]
fn now() -> String {
    "noon".to_owned()
}

#[llm_output]
#[derive(Clone, Debug)]
enum Seat {
    Any,
    Row(u8),
    Place { row: u8, letter: char },
}

/// Books seats.
#[tool]
fn book(
    seat: Seat,
    from_to: (String, u8),
    prices: BTreeMap<u32, f64>,
    note: Option<String>,
    rest: Value,
    free: BTreeMap<String, Value>,
) -> String {
    let _ = (seat, from_to, prices, note, rest, free);
    "booked".to_owned()
}

#[llm_node(prompt = "What is the time?", tools = [Now, Book])]
struct Ask;

#[derive(Clone, Copy, Debug)]
enum Api {
    Chat,
    Responses,
    Anthropic,
    Gemini,
}

const APIS: [Api; 4] = [Api::Chat, Api::Responses, Api::Anthropic, Api::Gemini];

impl Api {
    fn done(self) -> Answer {
        json(match self {
            Api::Chat => {
                json!({"choices": [{"message": {"content": "Done."}, "finish_reason": "stop"}]})
            }
            Api::Responses => {
                json!({"status": "completed", "output": [{"type": "message", "role": "assistant",
                "content": [{"type": "output_text", "text": "Done."}]}]})
            }
            Api::Anthropic => message(json!([{"type": "text", "text": "Done."}])),
            Api::Gemini => {
                json!({"candidates": [{"finishReason": "STOP", "content": {"role": "model",
                "parts": [{"text": "Done."}]}}]})
            }
        })
    }

    fn run(self, server: &Recorded) -> Run<()> {
        let url = &server.url;
        let openai = OpenAi::builder()
            .base_url(format!("{url}/v1"))
            .api_key("k")
            .model("m");
        match self {
            Api::Chat => Run::new(openai.build().unwrap()),
            Api::Responses => Run::new(openai.responses().build().unwrap()),
            Api::Anthropic => Run::new(
                Anthropic::builder()
                    .base_url(url)
                    .api_key("k")
                    .model("m")
                    .build()
                    .unwrap(),
            ),
            Api::Gemini => {
                let url = format!("{url}/v1beta");
                Run::new(
                    Gemini::builder()
                        .base_url(url)
                        .api_key("k")
                        .model("m")
                        .build()
                        .unwrap(),
                )
            }
        }
    }

    /// The parameters of each tool by its name, and what rules they have to keep.
    fn parameters(self, body: &Value) -> Vec<(String, Value, &'static str)> {
        let functions = match self {
            Api::Gemini => body["tools"][0]["functionDeclarations"].as_array().unwrap(),
            _ => body["tools"].as_array().unwrap(),
        };
        let of = |tool: &Value| {
            let (tool, schema, rules) = match self {
                Api::Chat => (
                    &tool["function"],
                    &tool["function"]["parameters"],
                    "Function",
                ),
                Api::Responses => (tool, &tool["parameters"], "Function"),
                Api::Anthropic => (tool, &tool["input_schema"], "Anthropic"),
                Api::Gemini if tool["parameters"].is_object() => {
                    (tool, &tool["parameters"], "OpenApi")
                }
                Api::Gemini => (tool, &tool["parametersJsonSchema"], "Gemini"),
            };
            (
                tool["name"].as_str().unwrap().to_owned(),
                schema.clone(),
                rules,
            )
        };
        functions.iter().map(of).collect()
    }
}

fn message(content: Value) -> Value {
    let calls = content
        .as_array()
        .unwrap()
        .iter()
        .any(|block| block["type"] == "tool_use");
    json!({"type": "message", "role": "assistant", "content": content,
        "stop_reason": if calls { "tool_use" } else { "end_turn" }})
}

#[tokio::test]
async fn each_api_gets_parameters_that_it_takes() {
    for api in APIS {
        let server = Recorded::start([api.done()]).await;
        assert_eq!(api.run(&server).call(&Ask).await.unwrap(), "Done.");
        for (name, schema, rules) in api.parameters(&server.bodies()[0]) {
            assert_eq!(
                rules::sent(&schema, rules),
                Vec::<String>::new(),
                "{name} on {api:?}"
            );
            if name == "now" {
                assert_eq!(
                    (&schema["type"], &schema["properties"]),
                    (&json!("object"), &json!({})),
                    "{api:?}"
                );
            }
        }
    }
}

#[tokio::test]
async fn the_older_field_of_gemini_gets_no_empty_properties() {
    let refused = r#"Invalid JSON payload received. Unknown name "parametersJsonSchema" at 'tools[0].function_declarations[0]': Cannot find field."#;
    let refused = json!({"error": {"code": 400, "message": refused, "status": "INVALID_ARGUMENT"}});
    let server = Recorded::start([
        (400, "application/json", refused.to_string()),
        Api::Gemini.done(),
    ])
    .await;
    assert_eq!(Api::Gemini.run(&server).call(&Ask).await.unwrap(), "Done.");
    for (name, schema, rules) in Api::Gemini.parameters(&server.bodies()[1]) {
        assert_eq!(rules, "OpenApi");
        assert_eq!(rules::sent(&schema, rules), Vec::<String>::new(), "{name}");
    }
}

#[tokio::test]
async fn a_schema_that_no_api_takes_is_told_before_anything_is_sent() {
    for api in APIS {
        let server = Recorded::start([]).await;
        let schema = json!({"type": "object", "properties": {"n": {"type": "int"}}});
        let tools = Toolset::new().json_function("count", "Counts.", schema, |_| async {
            Ok::<_, BoxError>("1")
        });
        let agent = DynNode::builder("agent")
            .text()
            .tools(tools)
            .build()
            .unwrap();
        let error = api
            .run(&server)
            .call(&agent.ask("How many?"))
            .await
            .unwrap_err();
        assert_eq!(
            (error.category(), server.asked().len()),
            (Category::ConfigError, 0)
        );
        let why = "no provider takes the schema of the tool \"count\": `properties.n.type` is \"int\", must be one of";
        assert!(error.message().contains(why), "{error}");
    }
}

/// Apps, by what the provider calls a filter.
fn filtering(seen: &Arc<Mutex<Vec<Value>>>) -> Toolset {
    let schema = json!({"type": "object", "required": ["filter[id]"], "properties": {
        "filter[id]": {"type": "string", "description": "Whose."},
        "page": {"type": "object", "properties": {"$top": {"type": "integer"}}},
    }});
    let seen = Arc::clone(seen);
    Toolset::new().json_function(
        "list_apps",
        "Lists apps.",
        schema,
        move |arguments: Value| {
            seen.lock().unwrap().push(arguments);
            async { Ok::<_, BoxError>("none") }
        },
    )
}

#[tokio::test]
async fn names_that_anthropic_refuses_are_changed_on_the_way_and_back() {
    let seen = Arc::default();
    let agent = DynNode::builder("agent")
        .text()
        .tools(filtering(&seen))
        .build()
        .unwrap();
    let input = r#"{"filter_id":"a","page":{"top":12345678901234567890}}"#;
    let call =
        message(json!([{"type": "tool_use", "id": "toolu_1", "name": "list_apps", "input": {}}]));
    let called = call
        .to_string()
        .replace("\"input\":{}", &format!("\"input\":{input}"));
    let server = Recorded::start([json(called), Api::Anthropic.done()]).await;
    let report = Api::Anthropic
        .run(&server)
        .call(&agent.ask("Which apps?"))
        .report()
        .await
        .unwrap();
    let bodies = server.bodies();
    let schema = &bodies[0]["tools"][0]["input_schema"];
    assert_eq!(rules::sent(schema, "Anthropic"), Vec::<String>::new());
    assert_eq!(schema["required"], json!(["filter_id"]));
    assert_eq!(
        schema["properties"]["filter_id"]["description"],
        "`filter[id]`: Whose."
    );
    assert_eq!(
        seen.lock().unwrap()[..],
        [json!({"filter[id]": "a", "page": {"$top": 12_345_678_901_234_567_890_u64}})]
    );
    // Its record has the tool's own names; the next request those that the model knows.
    let arguments = &report
        .messages
        .iter()
        .find_map(|message| message.calls().first())
        .unwrap()
        .arguments;
    assert_eq!(
        arguments,
        r#"{"filter[id]":"a","page":{"$top":12345678901234567890}}"#
    );
    assert_eq!(
        bodies[1]["messages"][1]["content"][0]["input"].to_string(),
        input
    );
}

#[tokio::test]
async fn names_are_changed_back_in_streams_of_calls() {
    let seen = Arc::default();
    let agent = DynNode::builder("agent")
        .text()
        .tools(filtering(&seen))
        .build()
        .unwrap();
    let stream = [
        json!({"type": "message_start", "message": {"type": "message", "role": "assistant", "content": []}}),
        json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "tool_use", "id": "toolu_1", "name": "list_apps", "input": {}}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{\"filt"}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "er_id\": \"a\"}"}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
        json!({"type": "message_stop"}),
    ];
    let text = [
        json!({"type": "message_start", "message": {"type": "message", "role": "assistant", "content": []}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Done."}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
        json!({"type": "message_stop"}),
    ];
    let as_events = |all: &[Value]| {
        events(
            all.iter()
                .map(|one| format!("data: {one}\n\n"))
                .collect::<String>(),
        )
    };
    let server = Recorded::start([as_events(&stream), as_events(&text)]).await;
    let run = Api::Anthropic.run(&server);
    let ask = agent.ask("Which apps?");
    let mut stream = run.call(&ask).stream();
    while stream.next().await.is_some() {}
    assert_eq!(stream.finish().await.unwrap(), "Done.");
    assert_eq!(seen.lock().unwrap()[..], [json!({"filter[id]": "a"})]);
    assert_eq!(
        server.bodies()[1]["messages"][1]["content"][0]["input"],
        json!({"filter_id": "a"})
    );
}

#[llm_output]
#[derive(Debug, PartialEq)]
struct Address {
    #[serde(rename = "Straße Nr.")]
    street: String,
    #[serde(rename = "PLZ (neu)")]
    code: u8,
}

#[llm_node(prompt = "Where?", output = Address, retries = 1)]
struct Where;

#[tokio::test]
async fn names_of_answers_are_changed_as_those_of_arguments() {
    let wrong = json!({"Stra_e_Nr.": "Am Markt 1", "PLZ__neu": 300});
    let right = json!({"Stra_e_Nr.": "Am Markt 1", "PLZ__neu": 7});
    let as_text = |value: &Value| {
        json(message(
            json!([{"type": "text", "text": value.to_string()}]),
        ))
    };
    let as_call = |value: &Value| {
        json(message(
            json!([{"type": "tool_use", "id": "t", "name": "Address", "input": value}]),
        ))
    };
    for (format, answers) in [
        (ResponseFormat::Strict, [as_text(&wrong), as_text(&right)]),
        (ResponseFormat::Tool, [as_call(&wrong), as_call(&right)]),
    ] {
        let server = Recorded::start(answers).await;
        let report = Api::Anthropic
            .run(&server)
            .call(&Where)
            .response_format(format)
            .report()
            .await
            .unwrap();
        assert_eq!(
            report.value,
            Address {
                street: "Am Markt 1".to_owned(),
                code: 7
            }
        );
        let bodies = server.bodies();
        let schema = match format {
            ResponseFormat::Tool => &bodies[0]["tools"][0]["input_schema"],
            _ => &bodies[0]["output_config"]["format"]["schema"],
        };
        assert_eq!(schema["required"], json!(["Stra_e_Nr.", "PLZ__neu"]));
        assert_eq!(
            bodies[1]["messages"][1]["content"][0]["text"],
            wrong.to_string()
        );
        let complaint = bodies[1]["messages"][2]["content"][0]["text"]
            .as_str()
            .unwrap();
        assert!(
            complaint.contains("PLZ (neu): is 300, must be at most 255"),
            "{complaint}"
        );
    }
}

#[tokio::test]
async fn a_streamed_answer_has_the_names_of_its_type() {
    let piece = |text: &str| {
        let delta = json!({"type": "text_delta", "text": text});
        format!(
            "data: {}\n\n",
            json!({"type": "content_block_delta", "index": 0, "delta": delta})
        )
    };
    let start = json!({"type": "message_start", "message": {"type": "message", "role": "assistant", "content": []}});
    let block = json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}});
    let end = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}});
    let body = format!(
        "data: {start}\n\ndata: {block}\n\n{}{}{}data: {end}\n\ndata: {{\"type\":\"message_stop\"}}\n\n",
        piece("{\"Stra_"),
        piece("e_Nr.\": \"x\", \"PL"),
        piece("Z__neu\": 1}")
    );
    let server = Recorded::start([events(body)]).await;
    let run = Api::Anthropic.run(&server);
    let mut stream = run
        .call(&Where)
        .response_format(ResponseFormat::Strict)
        .stream();
    let mut text = String::new();
    while let Some(event) = stream.next().await {
        if let Event::Text(piece) = event {
            text += &piece;
        }
    }
    assert_eq!(text, r#"{"Straße Nr.": "x", "PLZ (neu)": 1}"#);
}
