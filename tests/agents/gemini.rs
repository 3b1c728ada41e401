//! Gemini's `generateContent` over sockets, with answers written after its documentation.

use std::sync::Arc;

use llmnode::prelude::*;
use llmnode::{
    Anthropic, BoxError, Category, ChatModel, Event, Gemini, Image, Message, OutputSchema, Request,
    ResponseFormat, Sink, TokenUsage, ToolCall, ToolSpec,
};
use serde_json::{Value, json};

use crate::recorded::{Answer, Recorded, events, json, refusal};

const KEY: &str = "AIza-test-SECRET";

/// Says how much of it is in stock.
#[tool]
fn stock(item: String) -> Result<usize, BoxError> {
    if item == "?" {
        Err("no such item".into())
    } else {
        Ok(item.len())
    }
}

/// Keeps a shop.
#[llm_node(system = "You keep a shop.", prompt = "What is there?", tools = [Stock])]
struct Keep;

#[llm_output]
#[derive(Debug)]
struct Colour {
    /// Its name.
    name: String,
    #[schemars(range(min = 0, max = 255), extend("multipleOf" = 1))]
    red: u8,
}

#[llm_node(prompt = "A colour?", output = Colour, retries = 1)]
struct Pick;

#[llm_node(prompt = "Greet.", transport_retries = 0)]
struct Greet;

fn answer(parts: Value, finish: &str) -> Value {
    json!({"candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": finish, "index": 0}],
        "usageMetadata": {"promptTokenCount": 13, "cachedContentTokenCount": 10, "candidatesTokenCount": 3,
            "thoughtsTokenCount": 2, "totalTokenCount": 18},
        "modelVersion": "gemini-x", "responseId": "r1"})
}

fn failed(status: u16, kind: &str, message: &str) -> Answer {
    let error = json!({"error": {"code": status, "message": message, "status": kind}});
    (status, "application/json", error.to_string())
}

fn call(item: &str) -> Value {
    json!({"functionCall": {"name": "stock", "args": {"item": item}}})
}

fn signed(mut part: Value, signature: &str) -> Value {
    part["thoughtSignature"] = json!(signature);
    part
}

async fn shop(answers: impl IntoIterator<Item = Answer>) -> (Recorded, Run<()>) {
    let server = Recorded::start(answers).await;
    let model = Gemini::builder()
        .base_url(&server.url)
        .api_key(KEY)
        .model("gemini-x")
        .build()
        .unwrap();
    (server, Run::new(model))
}

#[tokio::test]
async fn a_plain_call_and_its_headers() {
    let parts = json!([{"text": "Hm.", "thought": true}, {"text": "Hello"}, {"text": " there."}]);
    let (server, run) = shop([json(answer(parts, "STOP"))]).await;
    let report = run
        .call(&Greet)
        .temperature(0.5)
        .max_tokens(9)
        .report()
        .await
        .unwrap();
    assert_eq!(report.value, "Hello there.");
    let usage = report.record.attempts[0].usage.unwrap();
    assert_eq!(
        (usage.input, usage.output, usage.cached),
        (Some(13), Some(5), Some(10))
    );
    assert_eq!((usage.reasoning, usage.total), (Some(2), Some(18)));
    let asked = &server.asked()[0];
    assert!(
        asked
            .head
            .starts_with("POST /models/gemini-x:generateContent HTTP/1.1"),
        "{}",
        asked.head
    );
    assert!(
        asked
            .head
            .to_lowercase()
            .contains(&format!("x-goog-api-key: {}", KEY.to_lowercase()))
    );
    assert_eq!(
        asked.head.matches("SECRET").count(),
        1,
        "never in the URL: {}",
        asked.head
    );
    assert_eq!(
        asked.body,
        json!({"generationConfig": {"temperature": 0.5, "maxOutputTokens": 9},
            "contents": [{"role": "user", "parts": [{"text": "Greet."}]}]})
    );
}

/// W5: one signature, two calls, one content with two results in the order of the calls.
#[tokio::test]
async fn calls_go_back_with_their_signature_and_results_in_one_content() {
    let first = json!([
        {"text": "I look.", "thought": true, "thoughtSignature": "dGhvdWdodA=="},
        {"text": "Two things.", "thoughtSignature": "dGV4dA=="},
        signed(call("pen"), "Y2FsbA=="),
        call("?")
    ]);
    let (server, run) = shop([
        json(answer(first.clone(), "STOP")),
        json(answer(json!([{"text": "Done."}]), "STOP")),
    ])
    .await;
    assert_eq!(run.call(&Keep).await.unwrap(), "Done.");
    let bodies = server.bodies();
    assert_eq!(
        bodies[0]["systemInstruction"],
        json!({"parts": [{"text": "You keep a shop."}]})
    );
    let function = &bodies[0]["tools"][0]["functionDeclarations"][0];
    assert_eq!(
        function["parametersJsonSchema"]["properties"]["item"]["type"],
        "string"
    );
    let [_, model, results] = &bodies[1]["contents"].as_array().unwrap()[..] else {
        panic!("three contents")
    };
    let mut expected = first;
    // Without ids of the provider's, ours stand in call and result.
    (
        expected[2]["functionCall"]["id"],
        expected[3]["functionCall"]["id"],
    ) = (json!("call_1"), json!("call_2"));
    assert_eq!(
        (&model["role"], &model["parts"]),
        (&json!("model"), &expected)
    );
    let error = &results["parts"][1]["functionResponse"]["response"]["error"];
    assert!(
        error.as_str().unwrap().contains("no such item"),
        "{results}"
    );
    assert_eq!(
        results["parts"][0],
        json!({"functionResponse": {"id": "call_1", "name": "stock", "response": {"output": "3"}}})
    );
    assert_eq!(
        (
            &results["role"],
            &results["parts"][1]["functionResponse"]["id"]
        ),
        (&json!("user"), &json!("call_2"))
    );
}

fn stream(pieces: &[Value]) -> String {
    pieces
        .iter()
        .map(|piece| format!("data: {piece}\r\n\r\n"))
        .collect()
}

fn piece(part: Value) -> Value {
    json!({"candidates": [{"content": {"parts": [part], "role": "model"}, "index": 0}],
        "usageMetadata": {"promptTokenCount": 13, "totalTokenCount": 13}})
}

/// W6, W20.
#[tokio::test]
async fn a_stream_comes_to_the_same_as_a_plain_answer() {
    let called = |id: &str| {
        let mut call = call("pen");
        call["functionCall"]["id"] = json!(id);
        call
    };
    let thought = json!({"text": "Four times.", "thought": true});
    let calls = [
        signed(called("a"), "c2ln"),
        called("b"),
        called("c"),
        called("d"),
    ];
    let mut pieces = vec![piece(thought.clone())];
    pieces.extend(calls.iter().cloned().map(piece));
    pieces.push(answer(json!([]), "STOP"));
    let texts = [
        piece(json!({"text": "Do"})),
        answer(json!([{"text": "ne"}]), "STOP"),
        answer(json!([{"text": "."}]), "STOP"),
    ];
    let (server, run) = shop([events(stream(&pieces)), events(stream(&texts))]).await;
    let mut stream = run.call(&Keep).stream();
    let (mut text, mut reasoning) = (String::new(), String::new());
    while let Some(event) = stream.next().await {
        match event {
            Event::Text(piece) => text += &piece,
            Event::Reasoning(piece) => reasoning += &piece,
            _ => {}
        }
    }
    let report = stream.report().await.unwrap();
    assert_eq!(
        (&*report.value, &*text, &*reasoning),
        ("Done.", "Done.", "Four times.")
    );
    assert_eq!(report.record.attempts[0].usage.unwrap().output, Some(5));
    let asked = server.asked();
    assert!(
        asked[0]
            .head
            .starts_with("POST /models/gemini-x:streamGenerateContent?alt=sse "),
        "{:?}",
        asked[0]
    );
    let turn = &asked[1].body["contents"][1]["parts"];
    assert_eq!(turn.as_array().unwrap()[0], thought);
    assert_eq!(turn.as_array().unwrap()[1..], calls);
    assert_eq!(
        asked[1].body["contents"][2]["parts"]
            .as_array()
            .unwrap()
            .len(),
        4
    );
}

/// While it streams, the total is the prompt's alone.
#[tokio::test]
async fn of_an_answer_that_breaks_off_the_output_is_unknown() {
    let pieces = [piece(json!({"text": "Hel"})), piece(json!({"text": "lo."}))];
    let (_server, run) = shop([events(stream(&pieces)), events(stream(&pieces))]).await;
    run.call(&Greet).stream().report().await.unwrap_err();
    let mut dropped = run.call(&Greet).stream();
    assert!(matches!(dropped.next().await, Some(Event::Text(_))));
    drop(dropped);
    let total = run.ledger().total();
    assert_eq!(
        (
            total.input.known,
            total.output.known,
            total.total.unreported_calls
        ),
        (26, 0, 2)
    );
    assert!(
        run.ledger()
            .calls()
            .iter()
            .all(|call| call.attempts[0].estimate.is_some())
    );
}

/// Without `alt=sse`, the stream is a list, and so is what some gateways make of it.
#[tokio::test]
async fn a_list_of_events_is_read_as_a_stream() {
    let begun = piece(json!({"text": "Do"}));
    let overloaded =
        json!({"error": {"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"}});
    let (_server, run) = shop([
        json(json!([begun, answer(json!([{"text": "ne."}]), "STOP")])),
        json(json!([begun, overloaded])),
        json(json!([overloaded])),
        json(json!([begun, begun])),
        json(json!([])),
    ])
    .await;
    assert_eq!(run.call(&Greet).await.unwrap(), "Done.");
    for (category, input) in [
        (Category::ServerError, Some(13)),
        (Category::ServerError, None),
        (Category::Network, Some(13)),
        (Category::BadResponse, None),
    ] {
        let error = run.call(&Greet).await.unwrap_err();
        let usage = error.attempts()[0].usage;
        assert_eq!(
            (error.category(), usage.and_then(|usage| usage.input)),
            (category, input),
            "{error}"
        );
        assert_eq!(usage.and_then(|usage| usage.output), None);
    }
}

/// W20: of two candidates the first one counts, and events may have no parts, no content and no candidates.
#[tokio::test]
async fn another_candidate_is_left_out_and_parts_may_be_absent() {
    let mut other = piece(json!({"text": "Goodbye."}));
    other["candidates"][0]["index"] = json!(1);
    let pieces = [
        json!({"candidates": [{"content": {"role": "model"}, "index": 0}]}),
        json!({"usageMetadata": {"promptTokenCount": 13, "totalTokenCount": 13}}),
        piece(json!({"text": "Hel"})),
        other,
        piece(json!({"text": "lo."})),
        json!({"candidates": [{"finishReason": "STOP", "index": 0}, {"finishReason": "STOP", "index": 1}],
            "usageMetadata": {"promptTokenCount": 13, "candidatesTokenCount": 4, "totalTokenCount": 17}}),
    ];
    let (_server, run) = shop([events(stream(&pieces))]).await;
    let report = run.call(&Greet).stream().report().await.unwrap();
    assert_eq!(report.value, "Hello.");
    let attempt = &report.record.attempts[0];
    assert!(
        format!("{:?}", attempt.flags).contains("other_choices"),
        "{:?}",
        attempt.flags
    );
    let usage = attempt.usage.unwrap();
    assert_eq!(
        (usage.input, usage.output, usage.total),
        (Some(13), Some(4), Some(17))
    );
}

#[tokio::test]
async fn types_are_asked_for_by_schema_then_as_json_then_in_the_prompt() {
    let right = || {
        json(answer(
            json!([{"text": r#"{"name": "tea", "red": 7}"#}]),
            "STOP",
        ))
    };
    let (server, run) = shop([
        right(),
        failed(
            400,
            "INVALID_ARGUMENT",
            "Invalid value at 'generation_config.response_json_schema': too deep",
        ),
        right(),
        failed(
            400,
            "INVALID_ARGUMENT",
            "JSON mode is not enabled for models/gemini-x",
        ),
        right(),
        right(),
    ])
    .await;
    for _ in 0..4 {
        let colour = run.call(&Pick).await.unwrap();
        assert_eq!((&*colour.name, colour.red), ("tea", 7));
    }
    let bodies = server.bodies();
    let config = &bodies[0]["generationConfig"];
    let red = &config["responseJsonSchema"]["properties"]["red"];
    assert_eq!(
        (&config["responseMimeType"], &red["maximum"]),
        (&json!("application/json"), &json!(255))
    );
    assert_eq!(red["multipleOf"], Value::Null, "{red}");
    assert!(
        red["description"]
            .as_str()
            .unwrap()
            .contains("multipleOf: 1"),
        "{red}"
    );
    assert_eq!(
        bodies[2]["generationConfig"],
        json!({"responseMimeType": "application/json"})
    );
    for last in [&bodies[4], &bodies[5]] {
        assert_eq!(last["generationConfig"], Value::Null);
        assert!(
            last["systemInstruction"]["parts"][0]["text"]
                .as_str()
                .unwrap()
                .contains("red"),
            "{last}"
        );
    }
}

#[tokio::test]
async fn beside_tools_the_answer_is_a_function() {
    #[llm_node(prompt = "A colour?", output = Colour, tools = [Stock])]
    struct Choose;

    let chosen = json!([{"functionCall": {"name": "Colour", "args": {"name": "tea", "red": 7}}}]);
    let (server, run) = shop([
        json(answer(chosen.clone(), "STOP")),
        json(answer(chosen, "STOP")),
    ])
    .await;
    assert_eq!(run.call(&Choose).await.unwrap().red, 7);
    assert_eq!(
        run.call(&Pick)
            .response_format(ResponseFormat::Tool)
            .await
            .unwrap()
            .red,
        7
    );
    let bodies = server.bodies();
    let config = |body: &Value| body["toolConfig"]["functionCallingConfig"].clone();
    assert_eq!(
        bodies[0]["tools"][0]["functionDeclarations"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
    assert_eq!(config(&bodies[0]), json!({"mode": "ANY"}));
    assert_eq!(
        config(&bodies[1]),
        json!({"mode": "ANY", "allowedFunctionNames": ["Colour"]})
    );
}

#[tokio::test]
async fn withheld_blocked_and_cut_answers_say_so() {
    let blocked = json!({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": {"promptTokenCount": 4, "totalTokenCount": 4}});
    let cut = json!([signed(
        json!({"functionCall": {"name": "stock", "args": {}}}),
        "c2ln"
    )]);
    let (server, run) = shop([
        json(answer(json!([]), "RECITATION")),
        json(blocked),
        json(answer(json!([{"text": "{\"name\": \"te"}]), "MAX_TOKENS")),
        json(answer(cut, "MAX_TOKENS")),
        failed(503, "UNAVAILABLE", "The model is overloaded."),
        events(stream(&[piece(json!({"text": "Hal"}))])),
    ])
    .await;
    let error = run.call(&Greet).await.unwrap_err();
    assert_eq!(error.category(), Category::ContentFilter);
    assert!(
        error
            .to_string()
            .contains("Gemini withheld the answer (RECITATION)"),
        "{error}"
    );
    let error = run.call(&Greet).await.unwrap_err();
    assert_eq!(error.category(), Category::ContentFilter);
    assert!(
        error
            .to_string()
            .contains("the prompt is blocked (PROHIBITED_CONTENT)"),
        "{error}"
    );
    // Half an object is nothing, and (W7) a call of a cut turn is not executed.
    assert_eq!(
        run.call(&Pick).await.unwrap_err().category(),
        Category::TruncatedOutput
    );
    assert_eq!(
        run.call(&Keep).await.unwrap_err().category(),
        Category::TruncatedOutput
    );
    assert_eq!(
        run.call(&Greet).await.unwrap_err().category(),
        Category::ServerError
    );
    assert_eq!(
        run.call(&Greet)
            .stream()
            .report()
            .await
            .unwrap_err()
            .category(),
        Category::Network
    );
    assert_eq!(server.asked().len(), 6);
}

/// W24.
#[tokio::test]
async fn its_own_mistakes_are_for_the_model_to_mend() {
    #[llm_node(prompt = "A colour?", output = Colour, tools = [Stock], retries = 1)]
    struct Look;

    let mut malformed = answer(json!([]), "MALFORMED_FUNCTION_CALL");
    malformed["candidates"][0]["finishMessage"] = json!("Malformed function call: print(stock(");
    let unknown = json!([signed(
        json!({"functionCall": {"name": "list_files", "args": {}}}),
        "c2ln"
    )]);
    let (server, run) = shop([
        json(malformed),
        json(answer(unknown, "UNEXPECTED_TOOL_CALL")),
        json(answer(
            json!([{"text": r#"{"name": "tea", "red": 7}"#}]),
            "STOP",
        )),
    ])
    .await;
    assert_eq!(run.call(&Look).await.unwrap().red, 7);
    let bodies = server.bodies();
    let last = |body: &Value| {
        body["contents"]
            .as_array()
            .unwrap()
            .last()
            .unwrap()
            .to_string()
    };
    assert!(
        last(&bodies[1]).contains("Malformed function call: print(stock("),
        "{}",
        bodies[1]
    );
    assert!(
        last(&bodies[2]).contains("there is no tool"),
        "{}",
        bodies[2]
    );
}

/// W24: an agent of text has no corrections, but turns.
#[tokio::test]
async fn a_call_that_failed_takes_a_turn_of_an_agent_of_text() {
    #[llm_node(prompt = "What is there?", tools = [Stock], turns = 3)]
    struct KeepBriefly;

    let malformed = || {
        let mut answer = answer(json!([]), "MALFORMED_FUNCTION_CALL");
        answer["candidates"][0]["finishMessage"] = json!("Malformed function call: print(stock(");
        json(answer)
    };
    let (server, run) = shop([
        malformed(),
        json(answer(json!([call("pen")]), "STOP")),
        json(answer(json!([{"text": "Three."}]), "STOP")),
    ])
    .await;
    let report = run.call(&Keep).report().await.unwrap();
    assert_eq!(report.value, "Three.");
    assert_eq!(
        report.record.attempts[0].category,
        Some(Category::SchemaError)
    );
    let contents = &server.bodies()[1]["contents"];
    assert!(
        contents[2]
            .to_string()
            .contains("the call of a tool failed (MALFORMED_FUNCTION_CALL)"),
        "{contents}"
    );
    assert_eq!(
        contents,
        &json!(server.bodies()[2]["contents"].as_array().unwrap()[..3]),
        "it stays in the conversation"
    );

    // As often as there are turns.
    let (server, run) = shop((0..9).map(|_| malformed())).await;
    let error = run.call(&KeepBriefly).await.unwrap_err();
    assert_eq!(
        (error.category(), server.asked().len()),
        (Category::SchemaError, 3),
        "{error}"
    );
    assert_eq!(
        server.bodies()[2]["toolConfig"]["functionCallingConfig"]["mode"],
        "NONE"
    );
}

#[tokio::test]
async fn parameters_go_by_the_older_name_where_the_newer_one_is_refused() {
    let refused = r#"Invalid JSON payload received. Unknown name "parametersJsonSchema" at 'tools[0].function_declarations[0]': Cannot find field."#;
    let (server, run) = shop([
        failed(400, "INVALID_ARGUMENT", refused),
        json(answer(json!([call("pen")]), "STOP")),
        json(answer(json!([{"text": "Three."}]), "STOP")),
    ])
    .await;
    assert_eq!(run.call(&Keep).await.unwrap(), "Three.");
    let function = server.bodies()[2]["tools"][0]["functionDeclarations"][0].clone();
    let mut parameters = function["parameters"].clone();
    parameters.as_object_mut().unwrap().remove("description");
    let item =
        json!({"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]});
    assert_eq!(
        (parameters, function.get("parametersJsonSchema")),
        (item, None)
    );
}

#[tokio::test]
async fn a_refused_signature_is_left_out_for_the_rest_of_the_call() {
    let (server, run) = shop([
        json(answer(json!([signed(call("pen"), "c2ln")]), "STOP")),
        failed(
            400,
            "INVALID_ARGUMENT",
            "Unable to submit request because Thought signature is not valid.",
        ),
        json(answer(json!([{"text": "Three."}]), "STOP")),
    ])
    .await;
    assert_eq!(run.call(&Keep).await.unwrap(), "Three.");
    let signatures: Vec<_> = server
        .bodies()
        .iter()
        .map(|body| body["contents"][1]["parts"][0]["thoughtSignature"].clone())
        .collect();
    assert_eq!(
        signatures[1..],
        [json!("c2ln"), json!("skip_thought_signature_validator")]
    );
}

/// W27: begun on Anthropic's wire, and finished on Gemini's.
#[tokio::test]
async fn a_conversation_goes_on_with_another_providers_model() {
    #[llm_node(prompt = "What is there?", tools = [Stock], fallback_model = "gemini", transport_retries = 0)]
    struct Look;

    let thought = json!({"type": "thinking", "thinking": "PRIVATE", "signature": "c2ln"});
    let called =
        json!({"type": "tool_use", "id": "toolu_1", "name": "stock", "input": {"item": "pen"}});
    let also =
        json!({"type": "tool_use", "id": "toolu_2", "name": "stock", "input": {"item": "ink"}});
    let first =
        json!({"type": "message", "content": [thought, called, also], "stop_reason": "tool_use"});
    let busy = || refusal(529, "overloaded_error", "Overloaded");
    let before = Recorded::start([json(first), busy()]).await;
    let claude = Anthropic::builder()
        .base_url(&before.url)
        .model("claude-x")
        .build()
        .unwrap();
    let after = Recorded::start([json(answer(json!([{"text": "A pen."}]), "STOP"))]).await;
    let gemini = Gemini::builder()
        .base_url(&after.url)
        .model("gemini-x")
        .build()
        .unwrap();
    let run = Run::new(claude).model("gemini", gemini);
    assert_eq!(run.call(&Look).await.unwrap(), "A pen.");
    let body = &after.bodies()[0];
    assert!(
        !body.to_string().contains("PRIVATE") && !body.to_string().contains("c2ln"),
        "{body}"
    );
    let parts = body["contents"][1]["parts"].as_array().unwrap();
    assert_eq!(
        parts[0]["thoughtSignature"],
        "skip_thought_signature_validator"
    );
    assert_eq!(
        (parts.len(), &parts[1]["thoughtSignature"]),
        (2, &Value::Null)
    );
    assert_eq!(
        body["contents"][2]["parts"][1]["functionResponse"]["id"],
        "toolu_2"
    );
}

struct Unseen;

impl Sink for Unseen {
    fn request_id(&mut self, _: &str) {}
    fn usage(&mut self, _: TokenUsage) {}
}

#[tokio::test]
async fn images_follow_the_results_and_the_programs_own_fields_are_joined() {
    let server = Recorded::start([json(answer(json!([{"text": "Yes."}]), "STOP"))]).await;
    let model = Gemini::builder()
        .base_url(&server.url)
        .model("models/gemini-x")
        .build()
        .unwrap();
    let image = Image::bytes("image/png", b"png").unwrap();
    let mut request = Request::new(vec![
        Message::user("Look: ").attach(image.clone()),
        Message::assistant("").calling([
            ToolCall::new("a", "see", "{}"),
            ToolCall::new("b", "hear", ""),
        ]),
        // The other way round.
        Message::tool("b", "nothing"),
        Message::tool("a", "").attach(image),
        Message::user("Well?"),
    ]);
    let inline = json!({"inlineData": {"mimeType": "image/png", "data": "cG5n"}});
    request
        .extra
        .insert("tools".to_owned(), json!([{"googleSearch": {}}]));
    request
        .extra
        .insert("generationConfig".to_owned(), json!({"topK": 3}));
    request.max_tokens = Some(5);
    model.complete(&request, &mut Unseen).await.unwrap();
    let asked = &server.asked()[0];
    assert!(
        asked
            .head
            .starts_with("POST /models/gemini-x:generateContent "),
        "{}",
        asked.head
    );
    let contents = asked.body["contents"].as_array().unwrap();
    assert_eq!(contents[0]["parts"], json!([{"text": "Look: "}, inline]));
    assert_eq!(
        contents[1]["parts"][1]["functionCall"],
        json!({"id": "b", "name": "hear", "args": {}})
    );
    assert_eq!(
        contents[2]["parts"],
        json!([
            {"functionResponse": {"id": "a", "name": "see", "response": {"output": "The image follows."}}},
            {"functionResponse": {"id": "b", "name": "hear", "response": {"output": "nothing"}}}
        ])
    );
    assert_eq!(
        contents[3],
        json!({"role": "user", "parts": [inline, {"text": "Well?"}]})
    );
    assert_eq!(
        asked.body["generationConfig"],
        json!({"maxOutputTokens": 5, "topK": 3})
    );
    assert_eq!(asked.body["tools"], json!([{"googleSearch": {}}]));
}

/// A program that runs the tools itself hands on what came.
#[tokio::test]
async fn a_call_without_an_id_goes_back_as_it_came() {
    let calls = json!([signed(call("pen"), "c2ln"), call("ink")]);
    let said = [
        json(answer(calls.clone(), "STOP")),
        json(answer(json!([{"text": "Yes."}]), "STOP")),
    ];
    let server = Recorded::start(said).await;
    let model = Gemini::builder()
        .base_url(&server.url)
        .model("gemini-x")
        .build()
        .unwrap();
    let mut request = Request::new(vec![Message::user("What is there?")]);
    let parameters = json!({"type": "object", "properties": {"item": {"type": "string"}}});
    let schema = OutputSchema::from_value("stock", parameters);
    request.tools = [ToolSpec::new("stock", "Counts.", Arc::new(schema))].into();
    let came = model.complete(&request, &mut Unseen).await.unwrap();
    let turn = Message::assistant(came.text)
        .calling(came.calls)
        .carrying(came.carried);
    request
        .messages
        .extend([turn, Message::tool("", "3"), Message::tool("", "4")]);
    model.complete(&request, &mut Unseen).await.unwrap();
    let contents = server.asked()[1].body["contents"].clone();
    assert_eq!(contents[1]["parts"], calls);
    let result = |output: &str| json!({"functionResponse": {"name": "stock", "response": {"output": output}}});
    assert_eq!(contents[2]["parts"], json!([result("3"), result("4")]));
}

/// W29.
#[tokio::test]
async fn its_key_is_in_no_text() {
    let echoes = format!("API key not valid: {KEY}");
    let (server, run) = shop([failed(400, "INVALID_ARGUMENT", &echoes)]).await;
    let error = run.call(&Greet).await.unwrap_err();
    assert_eq!(error.category(), Category::ApiKeyError);
    let model = Gemini::builder().base_url(&server.url).api_key(KEY);
    let texts = [
        format!("{error} {error:?}"),
        format!("{model:?}"),
        run.ledger().to_json().to_string(),
    ];
    assert!(
        texts.iter().all(|text| !text.contains("SECRET")),
        "{texts:?}"
    );
}

#[tokio::test]
async fn a_model_that_is_not_there_says_where_it_was_looked_for() {
    let (_server, run) = shop([failed(404, "NOT_FOUND", "models/gemini-x is not found")]).await;
    let error = run.call(&Greet).await.unwrap_err();
    assert_eq!(error.category(), Category::NotFound);
    assert!(
        error
            .to_string()
            .contains("most base URLs end with /v1beta"),
        "{error}"
    );
}
