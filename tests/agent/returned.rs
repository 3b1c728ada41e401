//! What comes back from a server, on all APIs, in one piece and as a stream: ends, broken pieces, numbers, thoughts, usage.

use llmnode::prelude::*;
use llmnode::{Category, Flag};
use serde_json::json;

use crate::recorded::{Answer, Recorded, json};
use crate::said::{Api, Said, ways};

/// Shouts.
#[tool]
fn shout(value: String) -> String {
    value.to_uppercase()
}

/// Shouts on demand.
#[llm_node(prompt = "Shout.", tools = [Shout], turns = 3)]
struct Agent;

#[llm_node(prompt = "Greet.", wait = 0s)]
struct Greet;

#[llm_output]
#[derive(Debug)]
struct Word {
    answer: String,
}

#[llm_node(prompt = "A word?", output = Word, retries = 0, wait = 0s)]
struct Typed;

async fn run(api: Api, answers: impl IntoIterator<Item = Answer>) -> (Recorded, Run<()>) {
    let server = Recorded::start(answers).await;
    let run = Run::new(api.model(&server.url));
    (server, run)
}

/// The report of a call, plain or streamed.
macro_rules! report {
    ($call:expr, $streams:expr) => {{
        let call = $call;
        if $streams { call.stream().report().await } else { call.report().await }
    }};
}

#[tokio::test]
async fn an_end_that_is_a_failure_is_asked_again() {
    for (api, streams) in ways() {
        for word in ["network_error", "engine-overloaded", "RequestTimeout", "user_cancelled", "abort"] {
            let failed = Said::text(["Hel"]).ending(word).answer(api, streams);
            let whole = Said::text(["Hello"]).answer(api, streams);
            let (server, run) = run(api, [failed, whole]).await;
            let report = report!(run.call(&Greet).transport_retries(1), streams).unwrap();
            assert_eq!(report.value, "Hello", "{api:?} {streams} {word}");
            assert_eq!(server.bodies().len(), 2);
        }
    }
}

#[tokio::test]
async fn an_end_by_a_filter_is_one() {
    for (api, streams) in ways() {
        for word in ["sensitive", "guardrail_intervened", "contentBlocked", "SAFETY"] {
            let filtered = Said::text(["Hel"]).ending(word).answer(api, streams);
            let (server, run) = run(api, [filtered]).await;
            let error = report!(run.call(&Greet), streams).unwrap_err();
            assert_eq!(error.category(), Category::ContentFilter, "{api:?} {streams} {word}");
            assert_eq!(server.bodies().len(), 1);
        }
    }
}

#[tokio::test]
async fn an_end_at_a_limit_is_a_cut() {
    for (api, streams) in ways() {
        for word in ["model_context_window_exceeded", "MaxTokens"] {
            let cut = Said::text(["Hel"]).ending(word);
            let (_server, run) = run(api, [cut.answer(api, streams)]).await;
            let report = report!(run.call(&Greet), streams).unwrap();
            assert_eq!(report.value, "Hel");
            assert_eq!(report.record.attempts[0].flags, [Flag::LengthStop], "{api:?} {streams} {word}");
            let half = Said::text([r#"{\"answer\": \"Hel"#]).ending(word);
            let (_server, run) = self::run(api, [half.answer(api, streams)]).await;
            let error = report!(run.call(&Typed).response_format(llmnode::ResponseFormat::Prompt), streams);
            assert_eq!(error.unwrap_err().category(), Category::TruncatedOutput, "{api:?} {streams} {word}");
        }
    }
}

#[tokio::test]
async fn a_text_with_an_end_that_nobody_knows_is_flagged() {
    for (api, streams) in ways() {
        let (_server, run) = run(api, [Said::text(["Hel"]).ending("strange").answer(api, streams)]).await;
        let report = report!(run.call(&Greet), streams).unwrap();
        assert_eq!(report.value, "Hel");
        let attempt = &report.record.attempts[0];
        assert_eq!(attempt.flags, [Flag::UnknownFinish], "{api:?} {streams}");
        assert_eq!(attempt.finish_reason.as_deref(), Some("strange"));
        for good in ["eos", "COMPLETE", "stop_sequence"] {
            let (_server, run) =
                self::run(api, [Said::text(["Hel"]).ending(good).answer(api, streams)]).await;
            let report = report!(run.call(&Greet), streams).unwrap();
            assert!(report.record.attempts[0].flags.is_empty(), "{api:?} {streams} {good}");
        }
    }
}

#[tokio::test]
async fn calls_with_an_end_that_nobody_knows_run_if_they_are_whole() {
    for (api, streams) in ways() {
        let whole = Said::call("shout", r#"{"value": "hi"}"#).ending("strange");
        let done = Said::text(["done"]).answer(api, streams);
        let (server, run) = run(api, [whole.answer(api, streams), done.clone()]).await;
        let report = report!(run.call(&Agent), streams).unwrap();
        assert_eq!((report.value.as_str(), server.bodies().len()), ("done", 2), "{api:?} {streams}");
        assert_eq!(report.record.attempts[0].flags, [Flag::UnknownFinish], "{api:?} {streams}");
        assert_eq!(report.record.attempts[0].tools[0].outcome, "ok");
        // The message has not ended as its API ends one. Gemini's has no other end than the word.
        if streams && matches!(api, Api::Chat | Api::Anthropic) {
            let open = Said { no_last_event: true, ..whole };
            let (server, run) = self::run(api, [open.answer(api, streams), done]).await;
            let report =
                report!(run.call(&Agent).transport_retries(1).wait(std::time::Duration::ZERO), streams);
            let report = report.unwrap();
            assert_eq!((report.value.as_str(), server.bodies().len()), ("done", 2), "{api:?}");
            let first = &report.record.attempts[0];
            assert_eq!((first.category, first.tools.len()), (Some(Category::ServerError), 0), "{api:?}");
        }
    }
}

#[tokio::test]
async fn half_a_call_with_an_end_that_nobody_knows_is_asked_again() {
    let half = r#"{"value": "h"#;
    let cut = Said::call("shout", half).ending("strange");
    let done = Said::text(["done"]);
    // Where arguments are no text, half of them cannot be written.
    for (api, streams) in ways().filter(|(api, streams)| match api {
        Api::Gemini => false,
        Api::Anthropic => *streams,
        Api::Chat | Api::Responses => true,
    }) {
        let (server, run) = run(api, [cut.answer(api, streams), done.answer(api, streams)]).await;
        let report = report!(run.call(&Agent).transport_retries(1).wait(std::time::Duration::ZERO), streams);
        let report = report.unwrap();
        assert_eq!((report.value.as_str(), server.bodies().len()), ("done", 2), "{api:?} {streams}");
        assert_eq!(report.record.attempts[0].category, Some(Category::ServerError), "{api:?} {streams}");
    }
}

/// Gateways put an empty call of the older form beside what they return.
#[tokio::test]
async fn an_empty_call_of_the_older_form_is_none() {
    let stub = json!({"name": "", "arguments": ""});
    let call = json!({"id": "c1", "type": "function", "function": {"name": "shout", "arguments": r#"{"value":"a"}"#}});
    let mut indexed = call.clone();
    indexed["index"] = json!(0);
    let plain = |message: serde_json::Value, end: &str| {
        json(json!({"choices": [{"message": message, "finish_reason": end}]}))
    };
    let streamed = |delta: serde_json::Value, end: &str| {
        let first = json!({"choices": [{"index": 0, "delta": delta}]});
        let last = json!({"choices": [{"index": 0, "delta": {"function_call": stub}, "finish_reason": end}]});
        crate::recorded::events(format!("data: {first}\n\ndata: {last}\n\ndata: [DONE]\n\n"))
    };
    for streams in [false, true] {
        let called = match streams {
            false => {
                plain(json!({"content": null, "tool_calls": [call], "function_call": stub}), "tool_calls")
            }
            true => streamed(json!({"tool_calls": [indexed]}), "tool_calls"),
        };
        let said = match streams {
            false => plain(json!({"content": "Hello", "function_call": stub}), "stop"),
            true => streamed(json!({"content": "Hello"}), "stop"),
        };
        let (server, run) = run(Api::Chat, [called, said.clone()]).await;
        let report = report!(run.call(&Agent), streams).unwrap();
        assert_eq!((report.value.as_str(), server.bodies().len()), ("Hello", 2), "{streams}");
        assert_eq!(report.record.attempts[0].tools.len(), 1, "{streams}");
        assert_eq!(server.bodies()[1]["messages"][1]["tool_calls"].as_array().unwrap().len(), 1);
        let (server, run) = self::run(Api::Chat, [said]).await;
        let report = report!(run.call(&Agent), streams).unwrap();
        assert_eq!((report.value.as_str(), server.bodies().len()), ("Hello", 1), "{streams}");
    }
}

/// What was paid for is not lost to a figure.
#[tokio::test]
async fn no_report_of_usage_costs_the_answer() {
    for (api, streams) in ways() {
        let (input, output) = match api {
            Api::Chat => ("prompt_tokens", "completion_tokens"),
            Api::Responses | Api::Anthropic => ("input_tokens", "output_tokens"),
            Api::Gemini => ("promptTokenCount", "candidatesTokenCount"),
        };
        for (usage, known) in [
            (format!(r#"{{"{input}":9,"{output}":1e999}}"#), (Some(9), None)),
            (format!(r#"{{"{input}":9,"{input}":7,"{output}":4}}"#), (Some(9), Some(4))),
            (format!(r#"{{"{input}":9,"{output}":"4"}}"#), (Some(9), None)),
            (format!(r#"{{"{input}":-9,"{output}":4}}"#), (None, Some(4))),
            ("[]".to_owned(), (None, None)),
            ("1e999".to_owned(), (None, None)),
            (
                format!(r#"{{"{input}":9}},"usage":{{"{output}":4}},"usageMetadata":{{"{output}":4}}"#),
                (Some(9), Some(4)),
            ),
        ] {
            let said = Said { usage: Some(usage.clone()), ..Said::text(["Hello"]) };
            let (_server, run) = run(api, [said.answer(api, streams)]).await;
            let report = report!(run.call(&Greet), streams)
                .unwrap_or_else(|error| panic!("{api:?} {streams} {usage}: {error}"));
            assert_eq!(report.value, "Hello");
            let read = report.record.attempts[0].usage.unwrap_or_default();
            assert_eq!((read.input, read.output), known, "{api:?} {streams} {usage}");
        }
    }
}
