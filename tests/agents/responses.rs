//! OpenAI's Responses API over sockets, with answers written after its documentation.

use llmnode::prelude::*;
use llmnode::{BoxError, Category, Event, Gemini, Message, NodeError, OpenAi, ResponseFormat};
use serde_json::{Value, json};

use crate::recorded::{Answer, Recorded, events, json, refusal};

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
    name: String,
    red: u8,
}

#[llm_node(prompt = "A colour?", output = Colour)]
struct Pick;

#[llm_node(prompt = "Greet.", transport_retries = 0)]
struct Greet;

fn response(output: Value) -> Value {
    json!({"id": "resp_1", "object": "response", "status": "completed", "error": null, "incomplete_details": null,
        "model": "gpt-x", "output": output,
        "usage": {"input_tokens": 13, "input_tokens_details": {"cached_tokens": 10}, "output_tokens": 20,
            "output_tokens_details": {"reasoning_tokens": 2}, "total_tokens": 33}})
}

fn incomplete(output: Value, reason: &str) -> Value {
    let mut cut = response(output);
    (cut["status"], cut["incomplete_details"]) = (json!("incomplete"), json!({"reason": reason}));
    cut
}

fn text(text: &str) -> Value {
    json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}]})
}

fn reasoning(id: &str) -> Value {
    json!({"type": "reasoning", "id": id, "summary": [{"type": "summary_text", "text": "Hm."}], "encrypted_content": "ZW5j"})
}

fn call(id: &str, item: &str) -> Value {
    json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "stock", "status": "completed",
        "arguments": json!({"item": item}).to_string()})
}

async fn shop(answers: impl IntoIterator<Item = Answer>) -> (Recorded, Run<()>) {
    let server = Recorded::start(answers).await;
    let builder = OpenAi::builder()
        .base_url(format!("{}/v1", server.url))
        .api_key("sk-test")
        .model("gpt-x");
    (server, Run::new(builder.build().unwrap().responses()))
}

#[tokio::test]
async fn a_plain_call_leaves_nothing_on_the_server() {
    let (server, run) = shop([json(response(json!([reasoning("rs_1"), text("Hello.")])))]).await;
    let report = run
        .call(&Greet)
        .temperature(0.5)
        .max_tokens(9)
        .report()
        .await
        .unwrap();
    assert_eq!(report.value, "Hello.");
    let usage = report.record.attempts[0].usage.unwrap();
    assert_eq!(
        (usage.input, usage.output, usage.cached, usage.reasoning),
        (Some(13), Some(20), Some(10), Some(2))
    );
    let asked = &server.asked()[0];
    assert!(
        asked.head.starts_with("POST /v1/responses HTTP/1.1"),
        "{}",
        asked.head
    );
    assert!(
        asked
            .head
            .to_lowercase()
            .contains("authorization: bearer sk-test")
    );
    assert_eq!(
        asked.body,
        json!({"model": "gpt-x", "store": false, "include": ["reasoning.encrypted_content"], "temperature": 0.5,
            "max_output_tokens": 16, "input": [
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Greet."}]}]})
    );
}

/// W8.
#[tokio::test]
async fn reasoning_goes_back_before_its_call() {
    let first = json!([
        reasoning("rs_1"),
        {"type": "message", "id": "msg_0", "role": "assistant", "status": "completed", "phase": "commentary",
            "content": [{"type": "output_text", "text": "I look twice."}]},
        call("call_a", "pen"),
        reasoning("rs_2"),
        call("call_b", "?")
    ]);
    let (server, run) = shop([
        json(response(first.clone())),
        json(response(json!([text("Done.")]))),
    ])
    .await;
    assert_eq!(run.call(&Keep).await.unwrap(), "Done.");
    let bodies = server.bodies();
    assert_eq!(bodies[0]["instructions"], "You keep a shop.");
    let tool = &bodies[0]["tools"][0];
    assert_eq!(
        (&tool["type"], &tool["name"], &tool["strict"]),
        (&json!("function"), &json!("stock"), &json!(false))
    );
    let input = bodies[1]["input"].as_array().unwrap();
    assert_eq!(input[1..6], *first.as_array().unwrap());
    assert_eq!(
        input[6],
        json!({"type": "function_call_output", "call_id": "call_a", "output": "3"})
    );
    assert_eq!((&input[7]["call_id"], input.len()), (&json!("call_b"), 8));
}

fn stream(output: &[Value], last: &Value) -> String {
    let event = |value: Value| {
        format!(
            "event: {}\ndata: {value}\n\n",
            value["type"].as_str().unwrap()
        )
    };
    let mut whole = event(
        json!({"type": "response.created", "response": {"status": "in_progress", "output": []}}),
    );
    for (index, item) in output.iter().enumerate() {
        let delta = |kind: &str, piece: &Value| {
            event(
                json!({"type": format!("response.{kind}.delta"), "output_index": index, "delta": piece}),
            )
        };
        let mut begun = item.clone();
        // Some servers change the id with each event.
        begun["id"] = json!("another");
        whole += &event(
            json!({"type": "response.output_item.added", "output_index": index, "item": begun}),
        );
        whole += &match item["type"].as_str().unwrap() {
            "message" => delta("output_text", &item["content"][0]["text"]),
            "reasoning" => delta("reasoning_summary_text", &item["summary"][0]["text"]),
            _ => delta("function_call_arguments", &item["arguments"]),
        };
        whole += &event(
            json!({"type": "response.output_item.done", "output_index": index, "item": item}),
        );
    }
    whole
        + &event(
            json!({"type": format!("response.{}", last["status"].as_str().unwrap()), "response": last}),
        )
}

#[tokio::test]
async fn a_stream_comes_to_the_same_as_a_plain_answer() {
    let first = [reasoning("rs_1"), call("call_a", "pen")];
    let second = [text("Done.")];
    let whole = |items: &[Value]| events(stream(items, &response(json!(items))));
    let (server, run) = shop([whole(&first), whole(&second)]).await;
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
        ("Done.", "Done.", "Hm.")
    );
    assert_eq!(report.record.attempts[1].usage.unwrap().output, Some(20));
    let bodies = server.bodies();
    assert_eq!(bodies[0]["stream"], true);
    assert_eq!(bodies[1]["input"].as_array().unwrap()[1..3], first);
}

#[tokio::test]
async fn types_are_asked_for_by_the_format_of_the_text() {
    let right = || json(response(json!([text(r#"{"name": "tea", "red": 7}"#)])));
    let chosen = json!([{"type": "function_call", "call_id": "c", "name": "Colour", "arguments": "{\"name\":\"tea\",\"red\":7}"}]);
    let (server, run) = shop([
        refusal(
            400,
            "invalid_request_error",
            "Encrypted content is not supported with this model.",
        ),
        right(),
        refusal(
            400,
            "invalid_request_error",
            "Invalid schema for response_format 'Colour'.",
        ),
        right(),
        json(response(chosen)),
    ])
    .await;
    for _ in 0..2 {
        assert_eq!(run.call(&Pick).await.unwrap().red, 7);
    }
    assert_eq!(
        run.call(&Pick)
            .response_format(ResponseFormat::Tool)
            .await
            .unwrap()
            .red,
        7
    );
    let bodies = server.bodies();
    assert_eq!(
        (&bodies[0]["include"][0], &bodies[1]["include"]),
        (&json!("reasoning.encrypted_content"), &Value::Null)
    );
    let format = &bodies[1]["text"]["format"];
    assert_eq!(
        (&format["type"], &format["name"], &format["strict"]),
        (&json!("json_schema"), &json!("Colour"), &json!(true))
    );
    assert_eq!(bodies[3]["text"]["format"]["strict"], false);
    assert_eq!(
        bodies[4]["tool_choice"],
        json!({"type": "function", "name": "Colour"})
    );
    assert_eq!(
        (&bodies[4]["text"], &bodies[4]["parallel_tool_calls"]),
        (&Value::Null, &json!(false))
    );
}

/// W10, W21, W22.
#[tokio::test]
async fn withheld_declined_cut_and_broken_answers_say_so() {
    let declined = json!([{"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "I can't."}]}]);
    let half = [call("call_a", "pen")];
    let cut = incomplete(json!(half), "max_output_tokens");
    let unfinished = stream(&[text("Hal")], &response(json!([])));
    let unfinished = unfinished
        .split_once("event: response.completed")
        .unwrap()
        .0;
    let failed = json!({"status": "failed", "error": {"code": "rate_limit_exceeded", "message": "Slow down."}, "output": []});
    let mut bare = response(json!([text("Half of it")]));
    bare.as_object_mut().unwrap().remove("incomplete_details");
    let (_server, run) = shop([
        json(response(declined)),
        json(incomplete(json!([]), "content_filter")),
        events(stream(&half, &cut)),
        events(unfinished),
        events(stream(&[], &failed)),
        json(bare),
    ])
    .await;
    let category = |call: Result<String, NodeError>| call.unwrap_err().category();
    assert_eq!(category(run.call(&Greet).await), Category::Refusal);
    assert_eq!(category(run.call(&Greet).await), Category::ContentFilter);
    assert_eq!(
        category(
            run.call(&Keep)
                .stream()
                .report()
                .await
                .map(|report| report.value)
        ),
        Category::TruncatedOutput
    );
    assert_eq!(
        category(
            run.call(&Greet)
                .stream()
                .report()
                .await
                .map(|report| report.value)
        ),
        Category::Network
    );
    assert_eq!(
        category(
            run.call(&Greet)
                .stream()
                .report()
                .await
                .map(|report| report.value)
        ),
        Category::RateLimitError
    );
    let report = run.call(&Greet).max_tokens(20).report().await.unwrap();
    assert!(
        format!("{:?}", report.record.attempts[0].flags).contains("LengthStop"),
        "{:?}",
        report.record
    );
}

#[tokio::test]
async fn hosted_tools_do_no_harm_and_go_back_with_their_citations() {
    #[llm_node(prompt = "{question}")]
    struct Ask {
        question: &'static str,
        #[node(history)]
        before: Vec<Message>,
    }

    let mut cited = text("Mount Columbia.");
    cited["content"][0]["annotations"] =
        json!([{"type": "url_citation", "url": "https://x.example"}]);
    let first = json!([{"type": "web_search_call", "id": "ws_1", "status": "completed"}, cited]);
    let (server, run) = shop([
        json(response(first.clone())),
        json(response(json!([text("Yes.")]))),
    ])
    .await;
    let search = json!([{"type": "web_search"}]);
    let ask = Ask {
        question: "The tallest?",
        before: Vec::new(),
    };
    let report = run
        .call(&ask)
        .extra("tools", search.clone())
        .report()
        .await
        .unwrap();
    let before = vec![Message::user("The tallest?"), report.message().unwrap()];
    run.call(&Ask {
        question: "Sure?",
        before,
    })
    .await
    .unwrap();
    let bodies = server.bodies();
    assert_eq!(bodies[0]["tools"], search);
    assert_eq!(
        bodies[1]["input"].as_array().unwrap()[1..3],
        *first.as_array().unwrap()
    );
}

/// W27: begun here, gone on with Gemini, ended on chat completions.
#[tokio::test]
async fn a_conversation_goes_on_over_three_wires() {
    #[llm_node(prompt = "What is there?", tools = [Stock], transport_retries = 0,
        recover(server_error = [model("gemini"), model("chat")]))]
    struct Look;

    let busy = || refusal(503, "server_error", "Overloaded");
    let long = "call_".to_owned() + &"x".repeat(80);
    let first = json!([reasoning("rs_PRIVATE"), call(&long, "pen")]);
    let one = Recorded::start([json(response(first)), busy()]).await;
    let two = Recorded::start([
        json(json!({"candidates": [{"content": {"parts": [{"functionCall": {"name": "stock", "args": {"item": "ink"}}, "thoughtSignature": "U0VDUkVU"}]},
            "finishReason": "STOP"}]})),
        busy(),
    ])
    .await;
    let chat =
        json!({"choices": [{"message": {"content": "A pen and ink."}, "finish_reason": "stop"}]});
    let three = Recorded::start([json(chat)]).await;
    let openai = |server: &Recorded| OpenAi::builder().base_url(&server.url).model("m");
    let run = Run::new(openai(&one).responses().build().unwrap())
        .model(
            "gemini",
            Gemini::builder()
                .base_url(&two.url)
                .model("m")
                .build()
                .unwrap(),
        )
        .model("chat", openai(&three).build().unwrap());
    assert_eq!(run.call(&Look).await.unwrap(), "A pen and ink.");
    assert_eq!(
        one.bodies()[1]["input"][2]["call_id"]
            .as_str()
            .unwrap()
            .len(),
        33,
        "at most 64 characters"
    );
    let (gemini, chat) = (&two.bodies()[1], &three.bodies()[0]);
    assert_eq!(
        gemini["contents"][1]["parts"][0]["thoughtSignature"],
        "skip_thought_signature_validator"
    );
    assert_eq!(
        gemini["contents"][3]["parts"][0]["thoughtSignature"],
        "U0VDUkVU"
    );
    let roles: Vec<_> = chat["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].clone())
        .collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "tool"]);
    for foreign in ["PRIVATE", "U0VDUkVU", "ZW5j"] {
        assert!(!chat.to_string().contains(foreign), "{chat}");
    }
}
