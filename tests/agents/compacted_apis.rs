//! A conversation that each API refuses as too long, in its own words.

use std::sync::{Arc, Mutex};

use llmnode::prelude::*;
use llmnode::{CacheLost, Message, Request, Toolset};
use serde_json::{Value, json};

use crate::apis::{Api, Said, call, text};
use crate::recorded::{Answer, Asked, Recorded};

const MOST_BYTES: usize = 24_000;
const WINDOW: u64 = 6_000;

/// Reads pages.
#[llm_node(prompt = "What do the pages say?", turns = 20, compact(keep = 2))]
struct Research {
    #[node(tools)]
    tools: Toolset,
}

fn tools() -> Toolset {
    let schema = json!({"type": "object", "properties": {"page": {"type": "integer"}}, "required": ["page"]});
    let read = |arguments: Value| async move {
        Ok::<_, BoxError>(format!(
            "page {} begins. {}",
            arguments["page"],
            "x".repeat(4_000)
        ))
    };
    Toolset::new().json_function("search", "Reads a page.", schema, read)
}

/// What a gateway may write before what the provider has said: more than an error shows.
fn preface(is_long: bool) -> String {
    let sentence = "The gateway has asked the provider, and gives back what it said. ";
    sentence.repeat(if is_long { 10 } else { 0 })
}

fn refusal(api: Api, is_long: bool) -> Answer {
    let preface = preface(is_long);
    let said = match api {
        Api::Chat => {
            json!({"error": {"message": format!("{preface}This model's maximum context length is {WINDOW} tokens. However, your messages resulted in 7001 tokens."),
            "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}})
        }
        Api::Responses => {
            json!({"error": {"message": format!("{preface}Input tokens exceed the configured limit of {WINDOW} tokens."),
            "type": "invalid_request_error", "param": "input", "code": "context_length_exceeded"}})
        }
        Api::Anthropic => json!({"type": "error", "error": {"type": "invalid_request_error",
            "message": format!("{preface}prompt is too long: 7001 tokens > {WINDOW} maximum")}}),
        Api::Gemini => json!({"error": {"code": 400, "status": "INVALID_ARGUMENT",
            "message": format!("{preface}The input token count (7001) exceeds the maximum number of tokens allowed ({WINDOW}).")}}),
    };
    (400, "application/json", said.to_string())
}

/// Reads eight pages.
fn said(api: Api, body: &Value) -> Said {
    match api.calls(body).len() {
        turn if turn < 8 => call(&format!("call_{turn}"), "search", json!({"page": turn})),
        _ => text("Done."),
    }
}

async fn server(api: Api, is_long: bool, refused: &Arc<Mutex<usize>>) -> Recorded {
    let refused = Arc::clone(refused);
    Recorded::answering(move |asked: &Asked| {
        if asked.body.to_string().len() > MOST_BYTES {
            *refused.lock().unwrap() += 1;
            return refusal(api, is_long);
        }
        api.answer(asked, &said(api, &asked.body))
    })
    .await
}

#[tokio::test]
async fn each_api_is_asked_again_with_less() {
    for api in Api::ALL {
        for [streams, is_long] in [[false, false], [true, false], [false, true], [true, true]] {
            let refused = Arc::default();
            let server = server(api, is_long, &refused).await;
            let model = api.model(&server.url);
            let run = Run::new(Arc::clone(&model));
            let node = Research { tools: tools() };
            let call = run.call(&node);
            let report = if streams {
                call.stream().report().await.unwrap()
            } else {
                call.report().await.unwrap()
            };
            assert_eq!(report.value, "Done.", "{api:?}");
            assert!(*refused.lock().unwrap() > 0, "{api:?}");
            let asked = server.asked();
            let last = &asked.last().unwrap().body;
            assert_eq!(api.calls(last).len(), 8, "{api:?}");
            let results = api.results(last);
            assert_eq!(results.len(), 8, "{api:?}");
            for (at, (_, result)) in results.iter().enumerate() {
                let is_left_out = result.contains("[result of search, 4 KB, left out]");
                let is_whole = result.contains(&format!("page {at} begins."));
                assert!(is_left_out != is_whole, "{api:?} {at}: {result}");
                assert!(is_whole || at < 6, "{api:?} {at}: the last rounds stay");
            }
            // The handle has learned it, for other calls.
            let request = Request::new(vec![Message::user("x")]);
            assert_eq!(model.window(&request), Some(WINDOW), "{api:?}");
            let lost: Vec<&CacheLost> = report
                .record
                .attempts
                .iter()
                .map(llmnode::AttemptRecord::cache_lost)
                .collect();
            assert!(lost.contains(&&CacheLost::Compacted), "{api:?}: {lost:?}");
        }
    }
}
