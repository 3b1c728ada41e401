//! Anthropic's Messages over sockets, with answers written after its documentation.

use std::sync::Mutex;

use llmnode::journal::JournalFile;
use llmnode::prelude::*;
use llmnode::{
    Anthropic, ApiKind, BoxError, Cache, Category, ChatModel, Message, NodeError, Reasoning,
    Request, ResponseFormat, ToolError,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::recorded::{Answer, Recorded, events, json, refusal};

const KEY: &str = "sk-ant-test-SECRET";

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
    #[schemars(range(min = 0, max = 255))]
    red: u8,
}

#[llm_node(prompt = "A colour?", output = Colour, retries = 1)]
struct Pick;

#[llm_node(prompt = "Greet.")]
struct Greet;

fn message(content: Value, stop: &str) -> Value {
    json!({"type": "message", "id": "msg_1", "role": "assistant", "model": "claude-x", "content": content,
        "stop_reason": stop, "stop_sequence": null,
        "usage": {"input_tokens": 3, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 0, "output_tokens": 5}})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(id: &str, item: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "stock", "input": {"item": item}})
}

fn thought(said: &str) -> Value {
    json!({"type": "thinking", "thinking": said, "signature": "c2ln"})
}

async fn shop(answers: impl IntoIterator<Item = Answer>) -> (Recorded, Run<()>) {
    let server = Recorded::start(answers).await;
    let model = Anthropic::builder()
        .base_url(&server.url)
        .api_key(KEY)
        .model("claude-x")
        .build()
        .unwrap();
    (server, Run::new(model))
}

#[tokio::test]
async fn a_plain_call_and_its_headers() {
    let (server, run) = shop([json(message(
        json!([text("Hello"), text(" there.")]),
        "end_turn",
    ))])
    .await;
    let report = run.call(&Greet).report().await.unwrap();
    assert_eq!(report.value, "Hello there.");
    let usage = report.record.attempts[0].usage.unwrap();
    assert_eq!(
        (usage.input, usage.output, usage.cached),
        (Some(13), Some(5), Some(10))
    );
    let asked = &server.asked()[0];
    assert!(
        asked.head.starts_with("POST /v1/messages HTTP/1.1"),
        "{}",
        asked.head
    );
    let head = asked.head.to_lowercase();
    assert!(
        head.contains("anthropic-version: 2023-06-01")
            && head.contains(&format!("x-api-key: {}", KEY.to_lowercase()))
    );
    assert!(!head.contains("authorization"));
    assert_eq!(
        asked.body,
        json!({"model": "claude-x", "max_tokens": 21000, "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Greet."}]}]})
    );
    assert!(!format!("{:?}", report.record).contains(KEY));
}

/// W1, W3, W17.
#[tokio::test]
async fn results_come_first_in_one_message_and_thoughts_stay_where_they_were() {
    let first = json!([
        thought("Two things."),
        call("toolu_1", "pen"),
        thought("And"),
        text("also"),
        call("toolu_2", "?")
    ]);
    let (server, run) = shop([
        json(message(first.clone(), "tool_use")),
        json(message(json!([text("Done.")]), "end_turn")),
    ])
    .await;
    assert_eq!(run.call(&Keep).await.unwrap(), "Done.");
    let bodies = server.bodies();
    assert_eq!(
        bodies[0]["system"],
        json!([{"type": "text", "text": "You keep a shop."}])
    );
    assert_eq!(
        bodies[0]["tools"][0]["input_schema"]["properties"]["item"]["type"],
        "string"
    );
    let [_, assistant, results] = &bodies[1]["messages"].as_array().unwrap()[..] else {
        panic!("three turns")
    };
    assert_eq!(assistant["content"], first);
    let results = results["content"].as_array().unwrap();
    assert_eq!(
        results[0],
        json!({"type": "tool_result", "tool_use_id": "toolu_1", "content": [text("3")]})
    );
    assert_eq!(
        (&results[1]["tool_use_id"], &results[1]["is_error"]),
        (&json!("toolu_2"), &json!(true))
    );
}

/// W3: another model of the same provider.
#[tokio::test]
async fn another_model_gets_the_calls_without_the_thoughts() {
    #[llm_node(prompt = "Go on.")]
    struct GoOn {
        #[node(history)]
        before: Vec<Message>,
    }

    let first = json!([thought("Look."), call("toolu_1", "pen")]);
    let done = || json(message(json!([text("Done.")]), "end_turn"));
    let (server, run) = shop([
        json(message(first.clone(), "tool_use")),
        done(),
        done(),
        done(),
    ])
    .await;
    let before = run.call(&Keep).report().await.unwrap().messages;
    run.call(&GoOn {
        before: before.clone(),
    })
    .await
    .unwrap();
    run.call(&GoOn { before }).model("claude-y").await.unwrap();
    let turns: Vec<Value> = server.bodies()[2..].iter().map(called).collect();
    assert_eq!(turns, [first, json!([call("toolu_1", "pen")])]);
}

/// The blocks of the turn that called.
fn called(body: &Value) -> Value {
    let turns = body["messages"].as_array().unwrap();
    turns
        .iter()
        .find(|turn| turn["role"] == "assistant")
        .unwrap()["content"]
        .clone()
}

fn stream(blocks: &[Value], stop: &str) -> String {
    let event = |value: Value| {
        format!(
            "event: {}\ndata: {value}\n\n",
            value["type"].as_str().unwrap()
        )
    };
    let mut head = message(json!([]), "");
    head["stop_reason"] = Value::Null;
    let mut whole = event(json!({"type": "message_start", "message": head}));
    whole += &event(json!({"type": "ping"}));
    for (index, block) in blocks.iter().enumerate() {
        let mut empty = block.clone();
        let deltas = match block["type"].as_str().unwrap() {
            "text" => {
                empty["text"] = json!("");
                vec![json!({"type": "text_delta", "text": block["text"]})]
            }
            "thinking" => {
                (empty["thinking"], empty["signature"]) = (json!(""), json!(""));
                vec![
                    json!({"type": "thinking_delta", "thinking": block["thinking"]}),
                    json!({"type": "signature_delta", "signature": block["signature"]}),
                ]
            }
            _ => {
                let input = std::mem::replace(&mut empty["input"], json!({})).to_string();
                let (one, two) = input.split_at(input.len() / 2);
                vec![
                    json!({"type": "input_json_delta", "partial_json": one}),
                    json!({"type": "input_json_delta", "partial_json": two}),
                ]
            }
        };
        whole +=
            &event(json!({"type": "content_block_start", "index": index, "content_block": empty}));
        for delta in deltas {
            whole += &event(json!({"type": "content_block_delta", "index": index, "delta": delta}));
        }
        whole += &event(json!({"type": "content_block_stop", "index": index}));
    }
    whole += &event(
        json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 9}}),
    );
    // As some gateways end it.
    whole + &event(json!({"type": "message_stop"})) + "event: data\ndata: [DONE]\n\n"
}

#[tokio::test]
async fn a_stream_comes_to_the_same_as_a_plain_answer() {
    let first = [thought("Look."), text("I look."), call("toolu_1", "pen")];
    let (server, run) = shop([
        events(stream(&first, "tool_use")),
        events(stream(&[text("Done.")], "end_turn")),
    ])
    .await;
    let report = run.call(&Keep).stream().report().await.unwrap();
    assert_eq!(report.value, "Done.");
    let bodies = server.bodies();
    assert_eq!(bodies[0]["stream"], true);
    assert_eq!(bodies[1]["messages"][1]["content"], json!(first));
    assert_eq!(report.record.attempts[1].usage.unwrap().output, Some(9));
}

/// W19: a spliced stream. The second start voids what came before it.
#[tokio::test]
async fn a_second_start_begins_anew() {
    let half = stream(&[text("Wrong")], "end_turn");
    let half = half.split_once("event: message_delta").unwrap().0;
    let (_server, run) = shop([events(
        half.to_owned() + &stream(&[text("Right.")], "end_turn"),
    )])
    .await;
    let report = run.call(&Greet).stream().report().await.unwrap();
    assert_eq!(report.value, "Right.");
}

/// What a message that breaks off has cost is known but for its output: the figure at its start is none.
#[tokio::test]
async fn of_a_message_that_breaks_off_the_output_is_unknown() {
    let whole = stream(&[text("Hello.")], "end_turn");
    let half = whole.split_once("event: message_delta").unwrap().0;
    let overloaded =
        json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    for end in [
        String::new(),
        format!("event: error\ndata: {overloaded}\n\n"),
    ] {
        let (_server, run) = shop([events(half.to_owned() + &end)]).await;
        run.call(&Greet)
            .transport_retries(0)
            .stream()
            .report()
            .await
            .unwrap_err();
        let total = run.ledger().total();
        assert_eq!(
            (
                total.input.known,
                total.output.known,
                total.total.unreported_calls
            ),
            (13, 0, 1)
        );
    }
}

/// W19: the last usage counts, and a `null` in it says nothing of what was reported before. After the end comes `[DONE]`.
#[tokio::test]
async fn usage_is_replaced_by_what_a_later_event_reports() {
    let end = r#""usage":{"output_tokens":9}"#;
    let nulls = r#""usage":{"input_tokens":4,"cache_read_input_tokens":null,"cache_creation_input_tokens":null,"output_tokens":9}"#;
    let body = stream(&[text("Hello.")], "end_turn");
    let (_server, run) = shop([events(body.replace(end, nulls))]).await;
    assert!(
        body.contains(end) && body.ends_with("data: [DONE]\n\n"),
        "{body}"
    );
    let report = run.call(&Greet).stream().report().await.unwrap();
    let usage = report.record.attempts[0].usage.unwrap();
    assert_eq!(
        (usage.input, usage.output, usage.cached),
        (Some(14), Some(9), Some(10))
    );
    assert_eq!((usage.cache_write, usage.reasoning), (Some(0), None));
}

#[tokio::test]
async fn types_are_asked_for_by_format_then_by_a_tool_then_in_the_prompt() {
    let no_format = || {
        refusal(
            400,
            "invalid_request_error",
            "output_config: Extra inputs are not permitted",
        )
    };
    let no_force = || {
        refusal(
            400,
            "invalid_request_error",
            "Thinking may not be enabled when tool_choice forces tool use.",
        )
    };
    let answer = || {
        json(message(
            json!([text(r#"{"name": "tea", "red": 7}"#)]),
            "end_turn",
        ))
    };
    let tool = json!([{"type": "tool_use", "id": "toolu_1", "name": "Colour", "input": {"name": "tea", "red": 7}}]);
    let (server, run) = shop([
        answer(),
        no_format(),
        json(message(tool, "tool_use")),
        no_force(),
        answer(),
    ])
    .await;
    for _ in 0..3 {
        let colour = run.call(&Pick).await.unwrap();
        assert_eq!((&*colour.name, colour.red), ("tea", 7));
    }
    let bodies = server.bodies();
    let schema = &bodies[0]["output_config"]["format"]["schema"];
    assert_eq!(
        schema["properties"]["red"]["minimum"],
        Value::Null,
        "{schema}"
    );
    assert!(
        schema["properties"]["red"]["description"]
            .as_str()
            .unwrap()
            .contains("maximum: 255")
    );
    assert_eq!(
        bodies[2]["tool_choice"],
        json!({"type": "tool", "name": "Colour", "disable_parallel_tool_use": true})
    );
    let last = &bodies[4];
    assert_eq!(
        (&last["tool_choice"], &last["output_config"]),
        (&Value::Null, &Value::Null)
    );
    assert!(
        last["system"][0]["text"].as_str().unwrap().contains("red"),
        "{last}"
    );
}

/// llama.cpp's Messages: schemas and forced calls are ignored, and calls come as text.
#[tokio::test]
async fn a_server_that_enforces_nothing_gets_the_form_in_the_prompt_once_an_answer_is_due() {
    #[llm_node(prompt = "A colour?", output = Colour, tools = [Stock])]
    struct Choose;

    let said = |said: &str| json(message(json!([text(said)]), "end_turn"));
    let answer = || said(r#"{"name": "tea", "red": 7}"#);
    let (server, run) = shop([
        said("A fine colour."),
        answer(),
        said("Let me see."),
        said(r#"{"name": "stock", "arguments": {"item": "tea"}}"#),
        said("There are three."),
        answer(),
    ])
    .await;
    run.call(&Pick).await.unwrap();
    assert_eq!(run.call(&Choose).await.unwrap().red, 7);
    let last = server.bodies().pop().unwrap();
    assert!(
        last["system"][0]["text"].as_str().unwrap().contains("red"),
        "{last}"
    );
    assert_eq!(last["tool_choice"], json!({"type": "none"}));
}

#[tokio::test]
async fn a_format_that_it_lacks_is_said_before_the_request() {
    let (server, run) = shop([]).await;
    let error = run
        .call(&Pick)
        .response_format(ResponseFormat::JsonObject)
        .await
        .unwrap_err();
    assert_eq!(error.category(), Category::ConfigError);
    assert!(
        error
            .to_string()
            .contains("Anthropic has no `json_object`; choose one of strict, tool, prompt"),
        "{error}"
    );
    assert!(server.asked().is_empty());
}

/// W25.
#[tokio::test]
async fn what_a_model_refuses_is_left_out_from_then_on() {
    let answer = || json(message(json!([text("Hello.")]), "end_turn"));
    let (server, run) = shop([
        refusal(400, "invalid_request_error", "`temperature` is deprecated for this model."),
        refusal(
            400,
            "invalid_request_error",
            "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-x",
        ),
        answer(),
        answer(),
    ])
    .await;
    for _ in 0..2 {
        run.call(&Greet)
            .temperature(0.2)
            .max_tokens(100_000)
            .await
            .unwrap();
    }
    let sent: Vec<_> = server
        .bodies()
        .iter()
        .map(|body| {
            (
                body.get("temperature").is_some(),
                body["max_tokens"].clone(),
            )
        })
        .collect();
    assert_eq!(
        sent,
        [
            (true, json!(100_000)),
            (false, json!(100_000)),
            (false, json!(64_000)),
            (false, json!(64_000))
        ]
    );
}

#[tokio::test]
async fn withheld_and_cut_answers_say_so() {
    let withheld = json!({"type": "message", "id": "1", "model": "claude-x", "content": [], "stop_reason": "refusal",
        "stop_details": {"category": "cyber", "explanation": "It was blocked."}, "usage": {"input_tokens": 4, "output_tokens": 1}});
    let (server, run) = shop([
        json(withheld),
        json(message(json!([text("{\"name\": \"te")]), "max_tokens")),
        refusal(529, "overloaded_error", "Overloaded"),
    ])
    .await;
    let run = run.with_settings(llmnode::Settings::new().transport_retries(0));
    let categories = |error: NodeError| (error.category(), error.to_string());
    let (category, said) = categories(run.call(&Greet).await.unwrap_err());
    assert_eq!(category, Category::ContentFilter);
    assert!(
        said.contains("Anthropic withheld the answer (cyber): It was blocked."),
        "{said}"
    );
    // Half an object is nothing.
    assert_eq!(
        run.call(&Pick).max_tokens(9).await.unwrap_err().category(),
        Category::TruncatedOutput
    );
    assert_eq!(
        run.call(&Greet).await.unwrap_err().category(),
        Category::ServerError
    );
    assert_eq!(server.asked().len(), 3);
}

/// W29.
#[tokio::test]
async fn its_key_is_in_no_text() {
    let echoes = format!("invalid x-api-key: {KEY}");
    let (server, run) = shop([refusal(401, "authentication_error", &echoes)]).await;
    let error = run.call(&Greet).await.unwrap_err();
    assert_eq!(error.category(), Category::ApiKeyError);
    let model = Anthropic::builder().base_url(&server.url).api_key(KEY);
    let texts = [
        format!("{error} {error:?}"),
        format!("{model:?}"),
        run.ledger().to_json().to_string(),
    ];
    assert!(
        texts.iter().all(|text| !text.contains("SECRET")),
        "{texts:?}"
    );
    assert!(
        error.to_string().contains("check the key in `api_key`"),
        "{error}"
    );
}

/// W23: a turn that the provider paused continues, and counts as one.
#[tokio::test]
async fn a_paused_turn_goes_back_and_goes_on() {
    let searching = json!([text("I search."), {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}]);
    let (server, run) = shop([
        json(message(searching.clone(), "pause_turn")),
        json(message(json!([text("Found.")]), "end_turn")),
    ])
    .await;
    let search = json!([{"type": "web_search_20250305", "name": "web_search"}]);
    let report = run
        .call(&Greet)
        .extra("tools", search.clone())
        .report()
        .await
        .unwrap();
    // The text of a turn that was not paused would be all of it, too.
    assert_eq!(
        (&*report.value, report.record.attempts.len()),
        ("I search.Found.", 2)
    );
    let bodies = server.bodies();
    assert_eq!(
        (&bodies[1]["messages"][1]["content"], &bodies[1]["tools"]),
        (&searching, &search)
    );
    let whole = serde_json::to_value(report.message().unwrap()).unwrap();
    assert_eq!(whole["content"], "I search.Found.");
    assert_eq!(
        whole["carried"]["parts"].as_array().unwrap().len(),
        3,
        "{whole}"
    );
}

#[tokio::test]
async fn an_answer_goes_back_into_a_chat_with_its_thoughts() {
    #[llm_node(prompt = "{said}")]
    struct Say {
        said: &'static str,
        #[node(history)]
        before: Vec<Message>,
    }

    let first = json!([thought("Hm."), text("Yes.")]);
    let answers = [
        json(message(first.clone(), "end_turn")),
        json(message(json!([text("Indeed.")]), "end_turn")),
    ];
    let (server, run) = shop(answers).await;
    let report = run
        .call(&Say {
            said: "Is it?",
            before: Vec::new(),
        })
        .report()
        .await
        .unwrap();
    let before = vec![Message::user("Is it?"), report.message().unwrap()];
    run.call(&Say {
        said: "Really?",
        before,
    })
    .await
    .unwrap();
    assert_eq!(server.bodies()[1]["messages"][1]["content"], first);
}

#[tokio::test]
async fn cache_marks_stand_at_the_end_of_the_system_and_of_the_conversation() {
    let server = Recorded::start([json(message(json!([text("Here.")]), "end_turn"))]).await;
    let builder = Anthropic::builder()
        .base_url(&server.url)
        .model("claude-x")
        .cache(Cache::Hour1);
    Run::new(builder.build().unwrap())
        .call(&Keep)
        .await
        .unwrap();
    let mark = json!({"type": "ephemeral", "ttl": "1h"});
    let body = &server.bodies()[0];
    assert_eq!(
        (&body["cache_control"], &body["system"][0]["cache_control"]),
        (&mark, &mark)
    );
}

#[derive(Default, Serialize, Deserialize)]
struct World {
    said: String,
}

static ENDS: Mutex<bool> = Mutex::new(true);

/// Looks, unless the process ends.
#[tool]
fn look(world: &World) -> Result<String, BoxError> {
    let _ = world;
    if std::mem::take(&mut *ENDS.lock().unwrap()) {
        Err(ToolError::abort("the process ends").into())
    } else {
        Ok("a pen".into())
    }
}

#[llm_node(prompt = "Look.", state = World, tools = [Look], store = said)]
struct Looks {}

flow! { Looking(World): Looks => end }

/// W15: the process ends between the turns.
#[tokio::test]
async fn an_agent_that_resumes_from_its_journal_sends_the_thoughts_back() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("llmnode-anthropic-{}.journal", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let first = json!([thought("I look."), {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}]);
    let answers = [
        json(message(first.clone(), "tool_use")),
        json(message(json!([text("A pen.")]), "end_turn")),
    ];
    let server = Recorded::start(answers).await;
    for ends in [true, false] {
        let model = Anthropic::builder()
            .base_url(&server.url)
            .model("claude-x")
            .build()
            .unwrap();
        let mut run = Run::new(model).with_state(World::default());
        let file = JournalFile::open(&path).unwrap();
        let outcome = run.flow(Looking).resume(file).await;
        assert_eq!(outcome.is_err(), ends);
        assert_eq!(run.state().said, if ends { "" } else { "A pen." });
    }
    assert_eq!(
        server.bodies().len(),
        2,
        "the first answer comes from the journal"
    );
    assert_eq!(server.bodies()[1]["messages"][1]["content"], first);
    let _ = std::fs::remove_file(&path);
}

/// A turn that the provider paused is no answer, after a crash neither.
#[tokio::test]
async fn a_paused_turn_in_the_journal_goes_on() {
    #[llm_node(prompt = "Search.", state = World, store = said)]
    struct Searches {}

    #[llm_node(prompt = "Again.", state = World, store = said)]
    struct Again {}

    flow! { Searching(World): Searches => Again, Again => end }

    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!(
        "llmnode-anthropic-paused-{}.journal",
        std::process::id()
    ));
    let _ = std::fs::remove_file(&path);
    let searching = json!([text("I search.")]);
    let found = || json(message(json!([text("Found.")]), "end_turn"));
    let overloaded = refusal(400, "invalid_request_error", "no");
    let server = Recorded::start([
        json(message(searching.clone(), "pause_turn")),
        overloaded,
        found(),
        found(),
    ])
    .await;
    for ends in [true, false] {
        let model = Anthropic::builder()
            .base_url(&server.url)
            .model("claude-x")
            .build()
            .unwrap();
        let mut run = Run::new(model).with_state(World::default());
        let outcome = run
            .flow(Searching)
            .resume(JournalFile::open(&path).unwrap())
            .await;
        assert_eq!(outcome.is_err(), ends, "{outcome:?}");
    }
    let bodies = server.bodies();
    assert_eq!(bodies.len(), 4, "the paused turn comes from the journal");
    assert_eq!(bodies[1]["messages"], bodies[2]["messages"]);
    assert_eq!(bodies[2]["messages"][1]["content"], searching);
    let _ = std::fs::remove_file(&path);
}

#[tokio::test]
async fn a_turn_that_is_paused_again_and_again_ends_as_an_error() {
    let paused = || json(message(json!([text("Wait.")]), "pause_turn"));
    let (server, run) = shop((0..40).map(|_| paused())).await;
    let error = run.call(&Greet).await.unwrap_err();
    assert_eq!(error.category(), Category::TruncatedOutput, "{error}");
    let bodies = server.bodies();
    assert!(bodies.len() < 40, "{}", bodies.len());
    let last = bodies.last().unwrap()["messages"].as_array().unwrap();
    assert_eq!(
        last.last().unwrap()["role"],
        "assistant",
        "nothing stands behind a turn that goes on"
    );
}

#[tokio::test]
async fn arguments_and_failures_are_sent_as_the_api_wants_them() {
    #[llm_node(prompt = "Pay.", tools = [Pay])]
    struct Buy;

    /// Pays.
    #[tool]
    fn pay(n: serde_json::Number) -> Result<String, BoxError> {
        let _ = n;
        Err(" ".into())
    }

    let whole = r#"{"type":"message","content":[{"type":"tool_use","id":"t","name":"pay","input":{"n": 12345678901234567890123}}],
        "stop_reason":"tool_use"}"#;
    let (server, run) = shop([json(whole), json(message(json!([text("No.")]), "end_turn"))]).await;
    let report = run.call(&Buy).report().await.unwrap();
    let called = report
        .messages
        .iter()
        .flat_map(Message::calls)
        .next()
        .unwrap();
    assert_eq!(called.arguments, r#"{"n": 12345678901234567890123}"#);
    let result = &server.bodies()[1]["messages"][2]["content"][0];
    assert_eq!(result["is_error"], true);
    assert!(
        !result["content"][0]["text"]
            .as_str()
            .unwrap()
            .trim()
            .is_empty(),
        "{result}"
    );
}

/// W4: learned for calls that think.
#[tokio::test]
async fn a_forced_call_that_is_refused_while_it_thinks_is_forced_without_thoughts() {
    let refused = || {
        refusal(
            400,
            "invalid_request_error",
            "Thinking may not be enabled when tool_choice forces tool use.",
        )
    };
    let colour = json!({"type": "tool_use", "id": "toolu_2", "name": "Colour", "input": {"name": "tea", "red": 7}});
    let answer = || json(message(json!([colour]), "tool_use"));
    let said = || {
        json(message(
            json!([text(r#"{"name": "tea", "red": 7}"#)]),
            "end_turn",
        ))
    };

    #[llm_node(prompt = "A colour?", output = Colour, tools = [Stock], retries = 1)]
    struct Choose;

    let (server, run) = shop([refused(), answer(), answer(), said(), said(), answer()]).await;
    for reasoning in [Reasoning::Low, Reasoning::Off] {
        assert_eq!(run.call(&Choose).reasoning(reasoning).await.unwrap().red, 7);
    }
    let choices = |bodies: &[Value]| {
        bodies
            .iter()
            .map(|body| body["tool_choice"].clone())
            .collect::<Vec<_>>()
    };
    let any = json!({"type": "any"});
    assert_eq!(choices(&server.bodies()), [any.clone(), Value::Null, any]);

    let tool = || run.call(&Pick).response_format(ResponseFormat::Tool);
    assert_eq!(tool().reasoning(Reasoning::Low).await.unwrap().red, 7);
    assert_eq!(tool().reasoning(Reasoning::Low).await.unwrap().red, 7);
    assert_eq!(tool().await.unwrap().red, 7);
    let named = json!({"type": "tool", "name": "Colour", "disable_parallel_tool_use": true});
    assert_eq!(
        choices(&server.bodies()[3..]),
        [Value::Null, Value::Null, named]
    );
}

/// Limits reserve what is sent where nobody sets `max_tokens`.
#[tokio::test]
async fn the_tokens_that_are_reserved_are_those_that_are_sent() {
    let server =
        Recorded::start((0..4).map(|_| json(message(json!([text("Hello.")]), "end_turn")))).await;
    let model = Anthropic::builder()
        .base_url(&server.url)
        .api_key(KEY)
        .model("claude-x")
        .build()
        .unwrap();
    let run = Run::new(model.clone());
    let greet = || run.call(&Greet);
    for call in [
        greet(),
        greet().reasoning(Reasoning::Low),
        greet().max_tokens(100),
        greet().extra_on(ApiKind::Anthropic, "max_tokens", 9),
    ] {
        call.await.unwrap();
    }
    let mut request = Request::new(vec![Message::user("Greet.")]);
    let mut reserved = vec![model.max_tokens(&request)];
    request.reasoning = Some(Reasoning::Low);
    reserved.push(model.max_tokens(&request));
    request.reasoning = None;
    request.max_tokens = Some(100);
    reserved.push(model.max_tokens(&request));
    request.max_tokens = None;
    request.extra.insert("max_tokens".to_owned(), json!(9));
    reserved.push(model.max_tokens(&request));
    assert_eq!(reserved, [21_000, 21_000, 100, 9].map(Some));
    let sent: Vec<_> = server
        .bodies()
        .iter()
        .map(|body| body["max_tokens"].as_u64())
        .collect();
    assert_eq!(sent, [21_000, 21_000, 100, 9].map(Some));
}
