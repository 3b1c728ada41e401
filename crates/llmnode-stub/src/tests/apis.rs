//! The same replies in the form of each API, whole and streamed.

use serde_json::{Value, json};

use super::client::Client;
use crate::{Provider, StubReply, StubServer, StubServerBuilder};

const CHAT: &str = "/v1/chat/completions";
const RESPONSES: &str = "/v1/responses";
const MESSAGES: &str = "/v1/messages";
const GEMINI: &str = "/v1beta/models/g:generateContent";
const GEMINI_STREAM: &str = "/v1beta/models/g:streamGenerateContent?alt=sse";

/// A request for an answer to "Hi" on this path, with a system text.
fn asked(path: &str) -> Value {
    let said = json!([{"role": "user", "content": "Hi"}]);
    match path {
        CHAT => {
            json!({"model": "m", "messages": [{"role": "system", "content": "Be brief."}, said[0]]})
        }
        RESPONSES => json!({"model": "m", "instructions": "Be brief.", "input": said}),
        MESSAGES => {
            json!({"model": "m", "max_tokens": 99, "system": "Be brief.", "messages": said})
        }
        _ => json!({
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
        }),
    }
}

async fn post(server: &StubServer, path: &str, body: &Value) -> (u16, Vec<u8>) {
    let body = body.to_string();
    let mut client = Client::connect(server.address()).await;
    let head = format!(
        "POST {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    client.send(head + &body).await;
    let (bytes, _) = client.rest().await;
    let at = bytes
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .unwrap();
    let status = String::from_utf8_lossy(&bytes[9..12]).parse().unwrap();
    (status, bytes[at + 4..].to_vec())
}

async fn json_of(server: &StubServer, path: &str, body: &Value) -> (u16, Value) {
    let (status, bytes) = post(server, path, body).await;
    (status, serde_json::from_slice(&bytes).unwrap())
}

/// The JSON of each event of a stream in chunks.
async fn events_of(server: &StubServer, path: &str, body: &Value) -> Vec<Value> {
    let (status, bytes) = post(server, path, body).await;
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&bytes));
    let text = String::from_utf8(bytes).unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter(|data| *data != "[DONE]")
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

async fn server(
    settings: StubServerBuilder,
    replies: impl IntoIterator<Item = StubReply>,
) -> StubServer {
    settings.script(replies).start().await.unwrap()
}

async fn scripted(reply: StubReply) -> StubServer {
    server(StubServer::builder(), [reply]).await
}

#[tokio::test]
async fn a_text_has_the_form_of_its_api() {
    for (path, text, finish, expected) in [
        (
            CHAT,
            "/choices/0/message/content",
            "/choices/0/finish_reason",
            "stop",
        ),
        (
            RESPONSES,
            "/output/0/content/0/text",
            "/status",
            "completed",
        ),
        (MESSAGES, "/content/0/text", "/stop_reason", "end_turn"),
        (
            GEMINI,
            "/candidates/0/content/parts/0/text",
            "/candidates/0/finishReason",
            "STOP",
        ),
    ] {
        let server = scripted(StubReply::text("Hello!").usage(7, 2)).await;
        let (status, body) = json_of(&server, path, &asked(path)).await;
        assert_eq!(status, 200, "{body}");
        assert_eq!(body.pointer(text), Some(&json!("Hello!")), "{body}");
        assert_eq!(body.pointer(finish), Some(&json!(expected)), "{body}");
        let log = &server.requests()[0];
        let said = [("system", "Be brief."), ("user", "Hi")];
        assert_eq!(
            log.messages(),
            said.map(|(role, text)| (role.to_owned(), text.to_owned()))
        );
        let usage = log.usage().unwrap();
        assert_eq!((usage.input, usage.output), (Some(7), Some(2)), "{body}");
    }
}

#[tokio::test]
async fn calls_have_the_form_of_their_api() {
    for (path, name, arguments) in [
        (
            CHAT,
            "/choices/0/message/tool_calls/1/function/name",
            "/choices/0/message/tool_calls/1/function/arguments",
        ),
        (RESPONSES, "/output/2/name", "/output/2/arguments"),
        (MESSAGES, "/content/2/name", "/content/2/input"),
        (
            GEMINI,
            "/candidates/0/content/parts/2/functionCall/name",
            "/candidates/0/content/parts/2/functionCall/args",
        ),
    ] {
        let reply = StubReply::text("I look.")
            .and_call("first", json!({}))
            .and_call("look", json!({"at": 1}));
        let server = scripted(reply).await;
        let (_, body) = json_of(&server, path, &asked(path)).await;
        assert_eq!(body.pointer(name), Some(&json!("look")), "{body}");
        let sent = body.pointer(arguments).unwrap();
        let sent = sent
            .as_str()
            .map_or(sent.clone(), |text| serde_json::from_str(text).unwrap());
        assert_eq!(sent, json!({"at": 1}), "{body}");
    }
}

#[tokio::test]
async fn streams_say_what_the_whole_answer_says() {
    let reply = || {
        StubReply::text("Hello, Ada!")
            .and_call("look", json!({"at": "home"}))
            .reasoning("A name.")
    };
    for (path, text, arguments, reasoning) in [
        (
            CHAT,
            "/choices/0/delta/content",
            "/choices/0/delta/tool_calls/0/function/arguments",
            "/choices/0/delta/reasoning_content",
        ),
        (
            MESSAGES,
            "/delta/text",
            "/delta/partial_json",
            "/delta/thinking",
        ),
    ] {
        let server = scripted(reply()).await;
        let mut body = asked(path);
        body["stream"] = json!(true);
        let events = events_of(&server, path, &body).await;
        let joined = |place: &str| {
            events
                .iter()
                .filter_map(|event| event.pointer(place)?.as_str())
                .collect::<String>()
        };
        assert_eq!(joined(text), "Hello, Ada!");
        assert_eq!(joined(arguments), r#"{"at":"home"}"#);
        assert_eq!(joined(reasoning), "A name.");
        assert!(server.requests()[0].usage().is_some());
    }
    let server = scripted(reply()).await;
    let mut body = asked(RESPONSES);
    body["stream"] = json!(true);
    let events = events_of(&server, RESPONSES, &body).await;
    let deltas = |kind: &str| {
        let of_kind = events.iter().filter(|event| event["type"] == kind);
        of_kind
            .map(|event| event["delta"].as_str().unwrap())
            .collect::<String>()
    };
    assert_eq!(deltas("response.output_text.delta"), "Hello, Ada!");
    assert_eq!(
        deltas("response.function_call_arguments.delta"),
        r#"{"at":"home"}"#
    );
    assert_eq!(deltas("response.reasoning_summary_text.delta"), "A name.");
    let numbers: Vec<u64> = events
        .iter()
        .map(|event| event["sequence_number"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, (0..events.len() as u64).collect::<Vec<_>>());
    let last = events.last().unwrap();
    assert_eq!(
        (&last["type"], &last["response"]["status"]),
        (&json!("response.completed"), &json!("completed"))
    );
}

#[tokio::test]
async fn gemini_streams_by_its_method() {
    let server = scripted(StubReply::text("Hello, Ada!").reasoning("A name.")).await;
    let events = events_of(&server, GEMINI_STREAM, &asked(GEMINI)).await;
    let parts: Vec<&Value> = events
        .iter()
        .filter_map(|event| event.pointer("/candidates/0/content/parts/0"))
        .collect();
    let text = |thought: bool| {
        let of_kind = parts
            .iter()
            .filter(|part| (part["thought"] == true) == thought);
        of_kind
            .map(|part| part["text"].as_str().unwrap())
            .collect::<String>()
    };
    assert_eq!(
        (text(false), text(true)),
        ("Hello, Ada!".to_owned(), "A name.".to_owned())
    );
    assert_eq!(
        events.last().unwrap()["candidates"][0]["finishReason"],
        "STOP"
    );
    assert!(parts.last().unwrap().get("thoughtSignature").is_some());

    let server = scripted(StubReply::text("Hello, Ada!")).await;
    let path = "/v1beta/models/g:streamGenerateContent";
    let (_, list) = json_of(&server, path, &asked(GEMINI)).await;
    assert_eq!(list.as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn errors_refusals_and_limits_are_in_the_words_of_the_api() {
    for (path, error, kind) in [
        (CHAT, "/error/type", "requests"),
        (RESPONSES, "/error/type", "requests"),
        (MESSAGES, "/error/type", "rate_limit_error"),
        (GEMINI, "/error/status", "RESOURCE_EXHAUSTED"),
    ] {
        let server = scripted(StubReply::error(
            429,
            "requests",
            "rate_limit_exceeded",
            "slow down",
        ))
        .await;
        let (status, body) = json_of(&server, path, &asked(path)).await;
        assert_eq!(
            (status, body.pointer(error)),
            (429, Some(&json!(kind))),
            "{body}"
        );
        assert_eq!(body["error"]["message"], "slow down");
    }
    for (path, place, refused, cut) in [
        (MESSAGES, "/stop_reason", "refusal", "max_tokens"),
        (GEMINI, "/candidates/0/finishReason", "SAFETY", "MAX_TOKENS"),
        (RESPONSES, "/status", "completed", "incomplete"),
    ] {
        let replies = [
            StubReply::refusal("I will not."),
            StubReply::text("Hel").finish_reason("length"),
        ];
        let server = server(StubServer::builder(), replies).await;
        for finish in [refused, cut] {
            let (_, body) = json_of(&server, path, &asked(path)).await;
            assert_eq!(body.pointer(place), Some(&json!(finish)), "{body}");
        }
    }
}

#[tokio::test]
async fn values_are_made_from_the_schema_of_each_api() {
    let schema = json!({
        "type": "object", "properties": {"n": {"type": "integer", "minimum": 3}}, "required": ["n"],
        "additionalProperties": false,
    });
    let format = json!({"type": "json_schema", "name": "n", "schema": schema});
    for (path, member, value, text) in [
        (
            RESPONSES,
            "text",
            json!({"format": format}),
            "/output/0/content/0/text",
        ),
        (
            MESSAGES,
            "output_config",
            json!({"format": format}),
            "/content/0/text",
        ),
        (
            GEMINI,
            "generationConfig",
            json!({"responseMimeType": "application/json", "responseJsonSchema": schema}),
            "/candidates/0/content/parts/0/text",
        ),
    ] {
        let server = StubServer::start().await.unwrap();
        let mut body = asked(path);
        body[member] = value;
        let (_, answer) = json_of(&server, path, &body).await;
        assert_eq!(answer.pointer(text), Some(&json!(r#"{"n":3}"#)), "{answer}");
    }
    let server = StubServer::start().await.unwrap();
    let mut body = asked(MESSAGES);
    body["tools"] = json!([{"name": "n", "input_schema": schema}]);
    body["tool_choice"] = json!({"type": "tool", "name": "n"});
    let (_, answer) = json_of(&server, MESSAGES, &body).await;
    assert_eq!(answer["content"][0]["input"], json!({"n": 3}));
}

#[tokio::test]
async fn keys_are_taken_where_each_api_has_them() {
    let server = StubServer::builder()
        .api_key("sk-secret")
        .start()
        .await
        .unwrap();
    for (header, status) in [
        ("x-api-key: sk-secret", 200),
        ("x-goog-api-key: sk-secret", 200),
        ("api-key: sk-secret", 200),
        ("x-api-key: sk-wrong", 401),
    ] {
        let mut client = Client::connect(server.address()).await;
        client
            .send(format!("GET /v1/models HTTP/1.1\r\n{header}\r\n\r\n"))
            .await;
        assert_eq!(client.response().await.unwrap().status, status, "{header}");
    }
    let (status, body) = json_of(&server, MESSAGES, &asked(MESSAGES)).await;
    assert_eq!(
        (status, &body["error"]["type"]),
        (401, &json!("authentication_error"))
    );
}

#[tokio::test]
async fn a_provider_refuses_with_its_own_words_and_takes_no_reply_for_it() {
    let settings = StubServer::builder().as_provider(Provider::Mistral);
    let server = server(settings, [StubReply::call("now", json!({}))]).await;
    let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "now", "arguments": "{}"}});
    let tools = json!([{"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}}]);
    let mut body = asked(CHAT);
    body["tools"] = tools;
    let first = body.clone();
    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": null, "tool_calls": [call("call_1")]}));
    messages.push(json!({"role": "tool", "tool_call_id": "call_1", "content": "noon"}));
    let (status, answer) = json_of(&server, CHAT, &body).await;
    assert_eq!((status, &answer["code"]), (400, &json!("3280")), "{answer}");
    assert_eq!(server.requests()[0].refused_by(), Some("mistral.call-id"));
    assert_eq!(server.replies_left(), 1);

    let (_, answer) = json_of(&server, CHAT, &first).await;
    let id = answer["choices"][0]["message"]["tool_calls"][0]["id"]
        .as_str()
        .unwrap();
    assert_eq!(id.len(), 9);
    let (status, _) = json_of(&server, RESPONSES, &asked(RESPONSES)).await;
    assert_eq!(
        (status, server.requests()[2].refused_by()),
        (404, Some("no-such-path"))
    );
}

#[tokio::test]
async fn models_think_where_the_providers_do() {
    let settings = StubServer::builder().as_provider(Provider::Anthropic);
    let server = server(
        settings,
        [StubReply::text("Hello!"), StubReply::text("Bye!")],
    )
    .await;
    let mut body = asked(MESSAGES);
    body["model"] = json!("claude-opus-5-5");
    let (_, answer) = json_of(&server, MESSAGES, &body).await;
    assert_eq!(answer["content"][0]["type"], "thinking");

    let messages = body["messages"].as_array_mut().unwrap();
    messages.push(json!({"role": "assistant", "content": answer["content"]}));
    messages.push(json!({"role": "user", "content": "Bye"}));
    let mut changed = body.clone();
    changed["system"] = json!("Be kind.");
    assert_eq!(json_of(&server, MESSAGES, &changed).await.0, 400);
    assert_eq!(
        server.requests()[1].refused_by(),
        Some("anthropic.thoughts-of-another-prefix")
    );
    assert_eq!(json_of(&server, MESSAGES, &body).await.0, 200);
}
