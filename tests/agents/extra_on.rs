//! Fields for one API alone, and the tools that a provider runs itself, in answers written after its documentation.

use llmnode::prelude::*;
use llmnode::{Anthropic, ApiKind, BoxError, Category, Gemini, OpenAi, Reasoning, Settings};
use serde_json::{Value, json};

use crate::recorded::{Answer, Recorded, json};

/// Says how much of it is in stock.
#[tool]
fn stock(item: String) -> Result<usize, BoxError> {
    Ok(item.len())
}

/// Keeps a shop.
#[llm_node(prompt = "What is there?", tools = [Stock])]
struct Keep;

#[llm_node(prompt = "Greet.", transport_retries = 0)]
struct Greet;

fn response(output: Value) -> Answer {
    json(
        json!({"id": "resp_1", "object": "response", "status": "completed", "model": "gpt-x", "output": output,
        "usage": {"input_tokens": 300, "output_tokens": 20, "total_tokens": 320}}),
    )
}

fn message(content: Value, stop: &str) -> Answer {
    json(
        json!({"type": "message", "id": "msg_1", "role": "assistant", "model": "claude-x", "content": content,
        "stop_reason": stop, "stop_sequence": null, "usage": {"input_tokens": 300, "output_tokens": 20,
            "server_tool_use": {"web_search_requests": 1}}}),
    )
}

async fn openai(answers: impl IntoIterator<Item = Answer>) -> (Recorded, Run<()>) {
    let server = Recorded::start(answers).await;
    let builder = OpenAi::builder()
        .base_url(format!("{}/v1", server.url))
        .api_key("k")
        .model("gpt-x");
    (server, Run::new(builder.responses().build().unwrap()))
}

async fn anthropic(answers: impl IntoIterator<Item = Answer>) -> (Recorded, Run<()>) {
    let server = Recorded::start(answers).await;
    let builder = Anthropic::builder()
        .base_url(&server.url)
        .api_key("k")
        .model("claude-x");
    (server, Run::new(builder.build().unwrap()))
}

/// What each of these sets for the other is no concern of either.
fn searching() -> Settings {
    Settings::new()
        .extra_on(ApiKind::Responses, "tools", json!([{"type": "web_search"}]))
        .extra_on(
            ApiKind::Responses,
            "include",
            json!(["web_search_call.action.sources"]),
        )
        .extra_on(
            ApiKind::Anthropic,
            "tools",
            json!([{"type": "web_search_20250305", "name": "web_search"}]),
        )
        .extra_on(ApiKind::Gemini, "safetySettings", json!([]))
}

#[tokio::test]
async fn a_search_of_openais_goes_back_with_the_call_after_it() {
    let thought =
        json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "ZW5j"});
    let search = json!({"type": "web_search_call", "id": "ws_1", "status": "completed",
        "action": {"type": "search", "query": "pears", "sources": [{"type": "url", "url": "https://a.example/"}]}});
    let call = json!({"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "stock",
        "status": "completed", "arguments": "{\"item\":\"pear\"}"});
    let cited = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "4 pears.", "annotations": [{"type": "url_citation",
            "start_index": 0, "end_index": 8, "url": "https://a.example/", "title": "Pears"}]}]});
    let (server, run) = openai([
        response(json!([thought, search, call])),
        response(json!([search, cited])),
    ])
    .await;
    let report = run
        .call(&Keep)
        .settings(searching())
        .report()
        .await
        .unwrap();
    assert_eq!(
        (report.value.as_str(), report.record.attempts.len()),
        ("4 pears.", 2)
    );
    let asked = server.bodies();
    for body in &asked {
        assert_eq!(body["tools"][0]["name"], "stock");
        assert_eq!(body["tools"][1], json!({"type": "web_search"}));
        assert_eq!(
            body["include"],
            json!([
                "reasoning.encrypted_content",
                "web_search_call.action.sources"
            ])
        );
        assert!(body.get("safetySettings").is_none());
    }
    assert_eq!(asked[1]["input"][1], thought);
    assert_eq!(asked[1]["input"][2], search);
    assert_eq!(
        (
            &asked[1]["input"][3]["call_id"],
            &asked[1]["input"][4]["output"]
        ),
        (&json!("call_1"), &json!("4"))
    );
}

#[tokio::test]
async fn a_search_of_anthropics_goes_back_with_the_call_after_it() {
    let text = json!({"type": "text", "text": "I search."});
    let search = json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "pears"}});
    let found = json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": [
        {"type": "web_search_result", "url": "https://a.example/", "title": "Pears", "encrypted_content": "ZW5j", "page_age": null}]});
    let call =
        json!({"type": "tool_use", "id": "toolu_1", "name": "stock", "input": {"item": "pear"}});
    let cited = json!({"type": "text", "text": "4 pears.", "citations": [{"type": "web_search_result_location",
        "url": "https://a.example/", "title": "Pears", "encrypted_index": "ZW5j", "cited_text": "Pears"}]});
    let (server, run) = anthropic([
        message(json!([text, search, found, call]), "tool_use"),
        message(json!([cited]), "end_turn"),
    ])
    .await;
    let report = run
        .call(&Keep)
        .settings(searching())
        .report()
        .await
        .unwrap();
    assert_eq!(
        (report.value.as_str(), report.record.attempts.len()),
        ("4 pears.", 2)
    );
    let asked = server.bodies();
    assert_eq!(asked[0]["tools"][0]["name"], "stock");
    assert_eq!(
        asked[0]["tools"][1],
        json!({"type": "web_search_20250305", "name": "web_search"})
    );
    assert_eq!(asked[0].get("include"), None);
    assert_eq!(
        asked[1]["messages"][1]["content"],
        json!([text, search, found, call])
    );
    assert_eq!(
        asked[1]["messages"][2]["content"][0]["tool_use_id"],
        "toolu_1"
    );
}

#[tokio::test]
async fn fields_of_all_levels_are_joined_to_each_other_and_to_ours() {
    let body = json!({"candidates": [{"finishReason": "STOP", "content": {"parts": [{"text": "Hello."}]}}]});
    let server = Recorded::start([json(body)]).await;
    let model = Gemini::builder()
        .base_url(format!("{}/v1beta", server.url))
        .api_key("k")
        .model("m");
    let run = Run::new(model.build().unwrap()).with_settings(
        Settings::new()
            .extra("labels", json!({"team": "x"}))
            .extra_on(ApiKind::Gemini, "safetySettings", json!([1]))
            .extra_on(
                ApiKind::Gemini,
                "generationConfig",
                json!({"topK": 3, "stopSequences": ["a"]}),
            ),
    );
    run.call(&Greet)
        .temperature(0.5)
        .reasoning(Reasoning::Low)
        .extra_on(ApiKind::Gemini, "safetySettings", json!([2]))
        .extra_on(ApiKind::Gemini, "labels", json!({"job": "y"}))
        .extra_on(
            ApiKind::Gemini,
            "generationConfig",
            json!({"topK": 5, "stopSequences": ["b"]}),
        )
        .extra_on(
            ApiKind::Gemini,
            "generationConfig",
            json!({"thinkingConfig": {"thinkingBudget": 7}}),
        )
        .extra_on(ApiKind::Chat, "seed", 1)
        .await
        .unwrap();
    let mut asked = server.bodies().remove(0);
    asked.as_object_mut().unwrap().remove("contents");
    let wanted = json!({
        "generationConfig": {"temperature": 0.5, "topK": 5, "stopSequences": ["a", "b"], "thinkingConfig": {"thinkingBudget": 7}},
        "safetySettings": [1, 2],
        "labels": {"team": "x", "job": "y"},
    });
    assert_eq!(asked, wanted, "a field for one API goes before the setting");
}

#[tokio::test]
async fn a_field_that_the_node_writes_is_refused_there_too() {
    let (server, run) = openai([]).await;
    let error = run
        .call(&Greet)
        .extra_on(ApiKind::Responses, "input", json!([]))
        .await
        .unwrap_err();
    assert_eq!(
        (error.category(), server.asked().len()),
        (Category::ConfigError, 0)
    );
    assert!(
        error
            .message()
            .contains("`input`, which llmnode sets itself"),
        "{error}"
    );
}
