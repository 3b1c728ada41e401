//! What an answer that did not end has used, on all APIs: what is reported counts, else an estimate, in limits and ledger.

use llmnode::prelude::*;
use llmnode::{AttemptRecord, Category, ModelError, Price, Prices, Run, Usage};
use serde_json::json;

use crate::recorded::{Answer, Recorded, events, json, refusal};
use crate::said::{APIS, Api, Said, ways};

#[llm_node(prompt = "Tell a long story.", retries = 0, transport_retries = 0)]
struct Tell;

/// The report of a call, plain or streamed.
macro_rules! report {
    ($call:expr, $streams:expr) => {{
        let call = $call;
        if $streams {
            call.stream().report().await
        } else {
            call.report().await
        }
    }};
}

/// 3,000 tokens, as most count them.
const PIECES: usize = 12;

fn piece() -> String {
    "word ".repeat(200)
}

/// The events of an answer up to the end of its text.
fn begun(api: Api, usage: Option<&str>) -> String {
    let piece = piece();
    let usage = usage.unwrap_or("{}").to_owned();
    let said = Said {
        usage: Some(usage),
        ..Said::text([piece.as_str(); PIECES])
    };
    let (_, _, body) = said.answer(api, true);
    let before = match api {
        Api::Chat | Api::Gemini => 0,
        Api::Responses => 1,
        Api::Anthropic => 2,
    };
    body.split_inclusive("\n\n").take(before + PIECES).collect()
}

fn error_event(api: Api, is_rate_limit: bool) -> String {
    let (kind, code) = if is_rate_limit {
        ("rate_limit_error", 429)
    } else {
        ("server_error", 503)
    };
    let event = match api {
        Api::Chat => json!({"error": {"message": "no", "type": kind, "code": code}}),
        Api::Responses if is_rate_limit => {
            json!({"type": "error", "code": "rate_limit_exceeded", "message": "no"})
        }
        Api::Responses => json!({"type": "response.failed", "response": {
            "status": "failed", "error": {"code": "server_error", "message": "no"}, "output": [],
        }}),
        Api::Anthropic if is_rate_limit => {
            json!({"type": "error", "error": {"type": "rate_limit_error", "message": "no"}})
        }
        Api::Anthropic => {
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "no"}})
        }
        Api::Gemini if is_rate_limit => {
            json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "no"}})
        }
        Api::Gemini => json!({"error": {"code": 503, "status": "UNAVAILABLE", "message": "no"}}),
    };
    format!("data: {event}\n\n")
}

async fn limited(
    api: Api,
    answers: impl IntoIterator<Item = Answer>,
    tokens: u64,
) -> (Recorded, Run<()>) {
    let server = Recorded::start(answers).await;
    let run = Run::new(api.model(&server.url)).with_limits(Limits::new().tokens(tokens));
    (server, run)
}

fn only_attempt(error: &NodeError) -> &AttemptRecord {
    let [attempt] = error.attempts() else {
        panic!("{error}")
    };
    attempt
}

fn is_estimated(usage: Usage, at_least: u64) -> bool {
    usage.total.known == 0 && usage.total.unreported_calls == 1 && usage.estimated >= at_least
}

#[tokio::test]
async fn what_had_begun_to_answer_counts_however_it_ends() {
    for (api, listens) in ways() {
        for end in [Some(false), Some(true), None] {
            let end = end
                .map(|is_rate_limit| error_event(api, is_rate_limit))
                .unwrap_or_default();
            let broken = events(begun(api, None) + &end);
            let (server, run) = limited(api, vec![broken; 12], 3_000).await;
            let error = report!(run.call(&Tell), listens).unwrap_err();
            assert_eq!(
                error.category().group(),
                llmnode::Group::Transport,
                "{api:?} {listens} {error}"
            );
            let said = report!(run.call(&Tell), listens).unwrap_err();
            assert_eq!(
                said.category(),
                Category::LimitExceeded,
                "{api:?} {listens} {end}: {said}"
            );
            assert_eq!(server.bodies().len(), 1);
            assert!(
                is_estimated(run.ledger().total(), 3_000),
                "{api:?} {:?}",
                run.ledger().total()
            );
        }
    }
}

#[tokio::test]
async fn an_error_in_place_of_an_answer_counts_nothing() {
    for (api, listens) in ways() {
        for is_rate_limit in [false, true] {
            let kind = if is_rate_limit {
                "rate_limit_error"
            } else {
                "overloaded_error"
            };
            let status = if is_rate_limit { 429 } else { 503 };
            let refused = vec![
                events(error_event(api, is_rate_limit)),
                refusal(status, kind, "no"),
            ];
            let (_server, run) = limited(api, refused, 1).await;
            for _ in 0..2 {
                let error = report!(run.call(&Tell), listens).unwrap_err();
                assert_eq!(
                    error.category().group(),
                    llmnode::Group::Transport,
                    "{api:?} {error}"
                );
                assert_eq!(only_attempt(&error).estimate, None, "{api:?}");
            }
        }
    }
}

/// The prompt's tokens, and what a placeholder says of the answer's.
fn of_the_prompt(api: Api, tokens: u64) -> String {
    match api {
        Api::Chat => format!(r#"{{"prompt_tokens":{tokens},"completion_tokens":1}}"#),
        Api::Gemini => format!(r#"{{"promptTokenCount":{tokens},"totalTokenCount":{tokens}}}"#),
        Api::Responses | Api::Anthropic => {
            format!(r#"{{"input_tokens":{tokens},"output_tokens":1}}"#)
        }
    }
}

/// A first event with usage, as Anthropic has one, servers that report as they go, and Gemini.
fn first_event(api: Api, tokens: u64) -> String {
    let usage = of_the_prompt(api, tokens);
    let event = match api {
        Api::Chat => {
            format!(r#"{{"choices":[{{"index":0,"delta":{{"content":""}}}}],"usage":{usage}}}"#)
        }
        Api::Anthropic => {
            format!(
                r#"{{"type":"message_start","message":{{"id":"msg_1","content":[],"usage":{usage}}}}}"#
            )
        }
        Api::Gemini => format!(r#"{{"candidates":[],"usageMetadata":{usage}}}"#),
        Api::Responses => r#"{"type":"response.created","response":{}}"#.to_owned(),
    };
    format!("data: {event}\n\n")
}

/// Of Anthropic's, without its start.
fn rest_of(api: Api) -> String {
    let rest = begun(api, None);
    let skipped = usize::from(api == Api::Anthropic);
    rest.split_inclusive("\n\n").skip(skipped).collect()
}

#[tokio::test]
async fn usage_of_the_prompt_alone_is_no_full_figure() {
    for (api, listens) in ways() {
        for end in [String::new(), error_event(api, false)] {
            let broken = events(first_event(api, 1_000) + &rest_of(api) + &end);
            let whole = Said::text(["Hello"]).answer(api, listens);
            let (_server, run) = limited(api, [broken, whole.clone(), whole], 4_010).await;
            let error = report!(run.call(&Tell), listens).unwrap_err();
            let attempt = only_attempt(&error);
            let estimate = attempt.estimate.unwrap();
            assert!(
                estimate.output.unwrap() >= 3_000,
                "{api:?} {listens} {estimate:?}"
            );
            if api != Api::Responses {
                let usage = attempt.usage.unwrap();
                assert_eq!(
                    (usage.input, usage.total()),
                    (Some(1_000), None),
                    "{api:?} {listens}"
                );
                assert_eq!(estimate.input, 1_000, "{api:?} {listens}");
            }
            // Not for good: the next answer counts, and is the last one.
            let next = report!(run.call(&Tell).max_tokens(1), listens);
            assert_eq!(next.unwrap().value, "Hello", "{api:?} {listens}");
            if api != Api::Responses {
                let last = report!(run.call(&Tell), listens).unwrap_err();
                assert_eq!(
                    last.category(),
                    Category::LimitExceeded,
                    "{api:?} {listens} {last}"
                );
            }
        }
    }
}

#[tokio::test]
async fn money_counts_what_is_reported_and_what_is_estimated() {
    for (api, listens) in ways() {
        let broken = events(first_event(api, 1_000) + &rest_of(api) + &error_event(api, false));
        let server = Recorded::start([broken]).await;
        let prices = Prices::new().model("m", Price::per_million(1.0, 10.0));
        let run = Run::new(api.model(&server.url))
            .with_prices(prices)
            .with_limits(Limits::new().money(0.03));
        let error = report!(run.call(&Tell), listens).unwrap_err();
        assert_eq!(only_attempt(&error).cost, None, "{api:?} {listens}");
        let next = report!(run.call(&Tell), listens).unwrap_err();
        assert_eq!(
            next.category(),
            Category::LimitExceeded,
            "{api:?} {listens} {next}"
        );
        assert_eq!(run.ledger().total().cost.unknown_calls, 1);
    }
}

/// Without usage.
fn withheld(api: Api, streams: bool) -> Vec<Answer> {
    let none = |said: Said| Said {
        usage: Some("null".to_owned()),
        ..said
    };
    let filtered = match api {
        Api::Chat => "content_filter",
        Api::Responses | Api::Anthropic => "refusal_by_filter",
        Api::Gemini => "SAFETY",
    };
    let mut all = vec![none(Said::text(["Hel"]).ending(filtered)).answer(api, streams)];
    let refused = match (api, streams) {
        (Api::Chat, false) => json(
            json!({"choices": [{"message": {"content": null, "refusal": "I won't."}, "finish_reason": "stop"}]}),
        ),
        (Api::Chat, true) => events(
            "data: {\"choices\":[{\"delta\":{\"refusal\":\"I won't.\"}}]}\n\n\
             data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
        ),
        (Api::Responses, _) => {
            let content = json!([{"type": "refusal", "refusal": "I won't."}]);
            let whole = json!({"status": "completed", "incomplete_details": null,
                "output": [{"type": "message", "id": "msg_1", "role": "assistant", "content": content}]});
            match streams {
                false => json(whole),
                true => events(format!(
                    "data: {}\n\n",
                    json!({"type": "response.completed", "response": whole})
                )),
            }
        }
        (Api::Anthropic, _) => {
            none(Said::text(["I won't."]).ending("refusal")).answer(api, streams)
        }
        (Api::Gemini, _) => {
            let blocked = json!({"promptFeedback": {"blockReason": "SAFETY"}});
            if streams {
                events(format!("data: {blocked}\n\n"))
            } else {
                json(blocked)
            }
        }
    };
    all.push(refused);
    all.push(refusal(
        400,
        "content_filter",
        "The response was filtered due to the content_filter policy",
    ));
    all
}

#[tokio::test]
async fn what_is_refused_or_filtered_without_usage_counts_by_its_estimate() {
    let long = "A long prompt. ".repeat(40);
    let node = llmnode::DynNode::builder("ask").text().build().unwrap();
    for (api, streams) in ways() {
        for answer in withheld(api, streams) {
            let whole = Said::text(["Hello"]).answer(api, streams);
            let (_server, run) = limited(api, [answer.clone(), whole], 100_000).await;
            let ask = node.ask(long.clone());
            let error = report!(run.call(&ask), streams).unwrap_err();
            let is_known = matches!(
                error.category(),
                Category::ContentFilter | Category::Refusal
            );
            assert!(
                is_known || error.category() == Category::BadRequest,
                "{api:?} {streams} {error}"
            );
            if is_known {
                assert!(
                    is_estimated(run.ledger().total(), 150),
                    "{api:?} {streams} {answer:?}"
                );
            }
            let next = report!(run.call(&ask), streams);
            assert_eq!(
                next.unwrap().value,
                "Hello",
                "{api:?} {streams}: the limit can be enforced"
            );
        }
    }
}

#[tokio::test]
async fn a_cancelled_response_keeps_its_usage() {
    let usage = json!({"input_tokens": 1_000, "output_tokens": 700, "total_tokens": 1_700});
    let whole =
        json!({"status": "cancelled", "incomplete_details": null, "output": [], "usage": usage});
    let cancelled = json!({"type": "response.cancelled", "response": whole});
    let streamed = events(begun(Api::Responses, None) + &format!("data: {cancelled}\n\n"));
    for (answer, listens) in [
        (streamed.clone(), true),
        (streamed, false),
        (json(whole), false),
    ] {
        let (_server, run) = limited(Api::Responses, [answer], 1_700).await;
        let error = report!(run.call(&Tell), listens).unwrap_err();
        assert_eq!(
            only_attempt(&error).usage.unwrap().total(),
            Some(1_700),
            "{error}"
        );
        assert_eq!(
            run.call(&Tell).await.unwrap_err().category(),
            Category::LimitExceeded
        );
    }
}

#[tokio::test]
async fn a_stream_that_is_dropped_counts_what_it_showed() {
    for api in APIS {
        let broken = events(begun(api, None) + &error_event(api, false));
        let (_server, run) = limited(api, [broken], 1_000_000).await;
        let mut stream = run.call(&Tell).stream();
        let mut shown = 0;
        while let Some(event) = stream.next().await {
            if let llmnode::Event::Text(text) = event {
                shown += text.len() as u64 / 4;
                break;
            }
        }
        drop(stream);
        let usage = run.ledger().total();
        assert!(shown > 0 && is_estimated(usage, shown), "{api:?} {usage:?}");
    }
}

/// A gateway that fails reports what it has: nothing.
#[tokio::test]
async fn zeros_in_an_error_do_not_hide_what_had_come() {
    for listens in [false, true] {
        let usage = json!({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0});
        let error = json!({"error": {"message": "no", "type": "server_error", "code": 503}, "usage": usage});
        let broken = events(begun(Api::Chat, None) + &format!("data: {error}\n\n"));
        let (_server, run) = limited(Api::Chat, [broken], 3_000).await;
        let failed = report!(run.call(&Tell), listens).unwrap_err();
        assert!(
            only_attempt(&failed).estimate.unwrap().total() >= 3_000,
            "{failed}"
        );
        let next = report!(run.call(&Tell), listens).unwrap_err();
        assert_eq!(next.category(), Category::LimitExceeded, "{listens} {next}");
    }
}

/// A model of a test's script is no other.
#[tokio::test]
async fn a_script_that_breaks_off_counts_what_it_wrote() {
    let error = || ModelError::new(Category::ServerError, "overloaded");
    let broken = || Reply::pieces(vec![piece(); PIECES]).breaks_off(error());
    let model = ScriptedModel::new().reply(broken()).reply(broken());
    let run = Run::new(model).with_limits(Limits::new().tokens(3_000));
    let first = run.call(&Tell).stream().report().await.unwrap_err();
    assert_eq!(first.category(), Category::ServerError);
    let second = run.call(&Tell).stream().report().await.unwrap_err();
    assert_eq!(second.category(), Category::LimitExceeded);
    assert!(is_estimated(run.ledger().total(), 3_000));
}

/// What a provider counts of each request below: 3,000 that it adds itself, an image, a page and the texts.
const COUNTED: u64 = 3_000 + 1_365 + 2_000 + 60;
const ANSWERED: u64 = 90;

fn usage_of_all(api: Api) -> String {
    let total = COUNTED + ANSWERED;
    match api {
        Api::Chat => format!(r#"{{"prompt_tokens":{COUNTED},"completion_tokens":{ANSWERED}}}"#),
        Api::Gemini => format!(
            r#"{{"promptTokenCount":{COUNTED},"candidatesTokenCount":{ANSWERED},"totalTokenCount":{total}}}"#
        ),
        Api::Responses | Api::Anthropic => {
            format!(r#"{{"input_tokens":{COUNTED},"output_tokens":{ANSWERED}}}"#)
        }
    }
}

#[tokio::test]
async fn fifty_requests_at_once_exceed_a_limit_by_one_at_most() {
    let side = 1_024_u32.to_be_bytes();
    let png = [&b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"[..], &side, &side].concat();
    let image = llmnode::Image::bytes("image/png", png).unwrap();
    let page =
        llmnode::File::bytes("a.pdf", "application/pdf", "%PDF-1.4 <</Type /Page>>").unwrap();
    let message = Message::user("What is this?").attach(image).attach(page);
    let node = llmnode::DynNode::builder("look").text().build().unwrap();
    let nodes = vec![node.chat([message]); 50];
    let settings = llmnode::Settings::new().max_tokens(100);
    let one = COUNTED + ANSWERED;
    for (api, streams) in ways() {
        let said = Said {
            usage: Some(usage_of_all(api)),
            ..Said::text(["A page."])
        };
        let answer = said.answer(api, streams);
        let server = Recorded::answering(move |_| answer.clone()).await;
        let run = Run::new(api.model(&server.url)).with_limits(Limits::new().tokens(10 * one));
        let _ = run
            .map(&nodes)
            .settings(settings.clone())
            .concurrency(50)
            .await;
        let spent = run.ledger().total().total.total().unwrap();
        assert!(
            (10 * one..11 * one).contains(&spent),
            "{api:?} {streams}: {spent}"
        );
    }
}
