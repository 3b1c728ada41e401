//! Tools that the provider finds itself: at Anthropic's own host, and at OpenAI's by the Responses API.

use std::sync::Arc;

use llmnode::prelude::*;
use llmnode::{Anthropic, ChatModel, Message, OpenAi, Toolset};
use serde_json::{Value, json};

use crate::deferred::{Log, many};
use crate::recorded::{Answer, Asked, Recorded, json, refusal};

/// Helps.
#[llm_node(prompt = "I want a refund.", turns = 5)]
struct Help {
    #[node(history)]
    history: Vec<Message>,
    #[node(tools)]
    tools: Toolset,
}

fn help(log: &Log) -> Help {
    Help {
        history: Vec::new(),
        tools: many(log).deferred().always(["hr_get_shift"]),
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Native {
    Anthropic,
    Responses,
}

const BOTH: [Native; 2] = [Native::Anthropic, Native::Responses];

impl Native {
    /// At the provider's host, behind a proxy.
    fn model(self, server: &Recorded) -> Arc<dyn ChatModel> {
        match self {
            Native::Anthropic => {
                let builder = Anthropic::builder()
                    .base_url("http://api.anthropic.com")
                    .api_key("k")
                    .model("claude-x")
                    .proxy(&server.url)
                    .allow_plain_http();
                Arc::new(builder.build().unwrap())
            }
            Native::Responses => {
                let builder = OpenAi::builder()
                    .base_url("http://api.openai.com/v1")
                    .api_key("k")
                    .model("gpt-x")
                    .proxy(&server.url)
                    .allow_plain_http();
                Arc::new(builder.build().unwrap().responses())
            }
        }
    }

    fn search(self) -> Value {
        match self {
            Native::Anthropic => {
                json!({"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"})
            }
            Native::Responses => json!({"type": "tool_search"}),
        }
    }

    /// What the provider puts into an answer of a search.
    fn found(self) -> [Value; 2] {
        match self {
            Native::Anthropic => [
                json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "tool_search_tool_bm25",
                    "input": {"query": "create a virtual machine"}}),
                json!({"type": "tool_search_tool_result", "tool_use_id": "srvtoolu_1", "content": {
                    "type": "tool_search_tool_search_result",
                    "tool_references": [{"type": "tool_reference", "tool_name": "cloud_create_server"}]}}),
            ],
            Native::Responses => [
                json!({"type": "tool_search_call", "id": "tsc_1", "call_id": null, "execution": "server",
                    "status": "completed", "arguments": {"paths": ["cloud_create_server"]}}),
                json!({"type": "tool_search_output", "id": "tso_1", "call_id": null, "execution": "server",
                    "status": "completed", "tools": [{"type": "function", "name": "cloud_create_server",
                    "defer_loading": true, "description": "Creates a virtual machine.", "parameters": {}, "strict": false}]}),
            ],
        }
    }

    fn turn(self, answered: usize) -> Answer {
        let [searched, found] = self.found();
        match (self, answered) {
            (Native::Anthropic, 0) => anthropic(json!([
                searched,
                found,
                {"type": "tool_use", "id": "toolu_1", "name": "cloud_create_server", "input": {"number": 1}}
            ])),
            (Native::Anthropic, _) => anthropic(json!([{"type": "text", "text": "Done."}])),
            (Native::Responses, 0) => responses(json!([
                searched,
                found,
                {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "cloud_create_server",
                    "namespace": "cloud", "arguments": "{\"number\": 1}", "status": "completed"}
            ])),
            (Native::Responses, _) => responses(json!([
                {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": "Done.", "annotations": []}]}
            ])),
        }
    }

    /// Blocks or items that went back.
    fn sent_back(self, body: &Value) -> Vec<Value> {
        let list = match self {
            Native::Anthropic => &body["messages"][1]["content"],
            Native::Responses => &body["input"],
        };
        list.as_array().unwrap().clone()
    }
}

fn anthropic(content: Value) -> Answer {
    let calls = content.to_string().contains("\"tool_use\"");
    let stop = if calls { "tool_use" } else { "end_turn" };
    json(
        json!({"type": "message", "id": "msg_1", "role": "assistant", "model": "claude-x",
        "content": content, "stop_reason": stop, "usage": {"input_tokens": 3, "output_tokens": 5}}),
    )
}

fn responses(output: Value) -> Answer {
    json(
        json!({"id": "resp_1", "status": "completed", "error": null, "incomplete_details": null,
        "model": "gpt-x", "output": output,
        "usage": {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}}),
    )
}

/// Those of a namespace are in it.
fn names(body: &Value, deferred: bool) -> Vec<String> {
    let mut names = Vec::new();
    for tool in body["tools"].as_array().unwrap() {
        let within = tool["tools"].as_array().cloned().unwrap_or_default();
        for one in std::iter::once(tool).chain(&within) {
            let is_named = one["type"] != "namespace" && one.get("name").is_some();
            if is_named && (one["defer_loading"] == true) == deferred {
                names.push(one["name"].as_str().unwrap().to_owned());
            }
        }
    }
    names
}

#[tokio::test]
async fn the_provider_finds_tools_and_what_it_found_goes_back() {
    for native in BOTH {
        let log = Log::default();
        let mut answered = 0;
        let server = Recorded::answering(move |_: &Asked| {
            answered += 1;
            native.turn(answered - 1)
        })
        .await;
        let run = Run::new(native.model(&server));
        let report = run.call(&help(&log)).report().await.unwrap();
        assert_eq!(report.value, "Done.", "{native:?}");
        assert_eq!(*log.lock().unwrap(), ["cloud_create_server 1"]);
        let bodies = server.bodies();
        assert_eq!(bodies[0]["tools"][0], native.search());
        let listed = names(&bodies[0], false);
        assert!(listed.contains(&"hr_get_shift".to_owned()), "{listed:?}");
        // Those that fit the question are there from the start; the program's search is not.
        assert!(listed.contains(&"shop_create_refund".to_owned()));
        assert!(!listed.contains(&"search_tools".to_owned()));
        assert!(!listed.contains(&"call_tool".to_owned()));
        let deferred = names(&bodies[0], true);
        assert_eq!(deferred.len(), 48 - 1 - 4);
        assert!(deferred.contains(&"cloud_create_server".to_owned()));
        if native == Native::Responses {
            // It reads the namespaces alone.
            let tools = bodies[0]["tools"].as_array().unwrap();
            let spaces = tools.iter().filter(|tool| tool["type"] == "namespace");
            let spaces: Vec<&str> = spaces.filter_map(|one| one["name"].as_str()).collect();
            assert_eq!(spaces, ["cloud", "hr", "mail", "shop"]);
            assert!(
                bodies[1]["input"]
                    .to_string()
                    .contains(r#""namespace":"cloud""#)
            );
        }
        // The beginning of the prompt stays, and so does what the provider said.
        assert_eq!(bodies[0]["tools"], bodies[1]["tools"], "{native:?}");
        let back = native.sent_back(&bodies[1]);
        for item in native.found() {
            assert!(back.contains(&item), "{native:?}: {back:?}");
        }
    }
}

#[tokio::test]
async fn a_model_without_a_search_is_asked_without_it() {
    for native in BOTH {
        let log = Log::default();
        let mut answered = 0;
        let server = Recorded::answering(move |asked: &Asked| {
            if asked.body["tools"].to_string().contains("defer_loading") {
                let kind = native.search()["type"].as_str().unwrap().to_owned();
                let said = format!("tools.0: tool type \"{kind}\" is not supported");
                return refusal(400, "invalid_request_error", &said);
            }
            answered += 1;
            native.turn(answered - 1)
        })
        .await;
        let run = Run::new(native.model(&server));
        let report = run.call(&help(&log)).report().await.unwrap();
        assert_eq!(report.value, "Done.", "{native:?}");
        let bodies = server.bodies();
        // Learned once.
        assert_eq!(bodies.len(), 3, "{native:?}");
        let listed = names(&bodies[1], false);
        assert!(listed.contains(&"search_tools".to_owned()), "{listed:?}");
        assert!(listed.len() < 10, "{listed:?}");
        assert_eq!(report.record.attempts[1].refused, ["tool_search"]);
    }
}
