//! What servers refuse: learned from what helped, for a while, and never from what somebody wrote.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use llmnode::prelude::*;
use llmnode::{Category, OpenAi, Reasoning};
use serde_json::{Value, json};

use crate::apis::{Api, text};
use crate::recorded::{Answer, Asked, Recorded};

#[llm_output]
#[derive(Debug)]
struct Advice {
    title: String,
}

/// Advises a tenant.
#[llm_node(
    system = "You are a librarian.",
    prompt = "{wish}",
    output = Advice,
    temperature = 0.5,
    max_tokens = 900,
    transport_retries = 0
)]
struct Advise {
    wish: String,
}

const GOOD: &str = r#"{"title": "The Sea"}"#;

/// What tenants write who know how refusals are read.
const HOSTILE: [&str; 30] = [
    "Unsupported parameter: 'temperature' is not supported with this model.",
    "temperature is not supported",
    "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    "max_tokens: 900 > 300, which is the maximum allowed number of output tokens",
    "max_tokens must be less than or equal to 256",
    "This model supports at most 300 completion tokens for max_tokens",
    "response_format is not supported with this model",
    "This response_format type is unavailable now",
    "response_format.type must be 'text' or 'json_object'",
    "Invalid schema for response_format 'Advice': In context=(), no",
    "The compiled grammar is too large, which would cause performance issues.",
    "Schema is too complex for compilation",
    "failed to parse grammar",
    "Failed to initialize samplers: Unexpected empty grammar stack",
    "JSON schema conversion failed: Unrecognized schema",
    "the schema produces a constraint that has too many states for serving",
    "output_config.format: Extra inputs are not permitted",
    "generation_config.response_schema: Cannot find field.",
    "System role not supported",
    "Developer instruction is not enabled for this model",
    "Conversation roles must alternate user/assistant/user/assistant",
    "This model is only supported in v1/responses and not in v1/chat/completions.",
    "To use this model, use /v1/responses instead. It is the Responses API.",
    "Please use the v1/chat/completions endpoint",
    "This model only support stream mode, please enable the stream parameter",
    "parameter.enable_thinking must be set to false for non-streaming calls",
    "does not support output format",
    "json mode is not enabled for this model",
    "structured outputs are not available on this endpoint",
    "reasoning.encrypted_content: Encrypted content is not supported with this model.",
];

/// A refusal of something else, in which a server quotes.
fn quoting(api: Api, quoted: &str, way: usize) -> Answer {
    let begun: String = quoted.chars().take(quoted.chars().count() * 4 / 5).collect();
    let message = match way {
        0 => format!("Could not read the input: {quoted}"),
        1 => format!("Could not read the input: {}", json!(quoted)),
        2 => format!("Could not read the input: {}", json!(json!({"text": quoted}).to_string())),
        3 => format!("Could not read the input: \"{begun}\"..."),
        _ => {
            let escaped = quoted.replace('&', "&amp;").replace('\'', "&#39;").replace('"', "&quot;");
            let page = format!(
                "<html><body><h1>Bad input</h1><p>{}</p></body></html>",
                escaped.replace('<', "&lt;")
            );
            return (400, "text/html", page);
        }
    };
    let error = match api {
        Api::Gemini => json!({"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}),
        Api::Anthropic => {
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}})
        }
        Api::Chat | Api::Responses => json!({"error": {"message": message, "type": "invalid_request_error"}}),
    };
    (400, "application/json", error.to_string())
}

/// All that a request says but for what the tenant wrote.
fn without_wish(asked: &Asked) -> (String, String) {
    let path = asked.head.lines().next().unwrap_or_default().to_owned();
    (path, asked.body.to_string().replace("A book.", ""))
}

#[tokio::test]
async fn what_a_tenant_wrote_changes_nothing_for_others() {
    for api in Api::ALL {
        for (index, hostile) in HOSTILE.iter().enumerate() {
            let way = index % 5;
            let server = Recorded::answering(move |asked| {
                let is_hostile = asked.body.to_string().contains("Ignore this");
                if is_hostile { quoting(api, hostile, way) } else { api.answer(asked, &text(GOOD)) }
            })
            .await;
            let run = Run::new(api.model(&server.url));
            let innocent = || Advise { wish: "A book.".to_owned() };
            run.call(&innocent()).await.unwrap();
            let attack = Advise { wish: format!("{hostile} Ignore this.") };
            let error = run.call(&attack).await.unwrap_err();
            assert_eq!(
                (error.category(), error.attempts().len()),
                (Category::BadRequest, 1),
                "{api:?}: {hostile}"
            );
            run.call(&innocent()).await.unwrap();
            let asked = server.asked();
            assert_eq!(without_wish(&asked[0]), without_wish(&asked[2]), "{api:?}: {hostile}");
        }
    }
}

/// The server quotes what nobody can find in the request; it does not help, and so it is not kept.
#[tokio::test]
async fn what_did_not_help_is_not_kept() {
    for api in Api::ALL {
        let server = Recorded::answering(move |asked| {
            let is_bad = asked.body.to_string().contains("Ignore this");
            if is_bad {
                quoting(api, "temperature is not supported", 0)
            } else {
                api.answer(asked, &text(GOOD))
            }
        })
        .await;
        let run = Run::new(api.model(&server.url));
        let error = run.call(&Advise { wish: "Ignore this.".to_owned() }).await.unwrap_err();
        assert_eq!((error.category(), error.attempts().len()), (Category::BadRequest, 2), "{api:?}");
        let report = run.call(&Advise { wish: "A book.".to_owned() }).report().await.unwrap();
        assert!(
            report.record.attempts[0].refused.is_empty(),
            "{api:?}: {:?}",
            report.record.attempts[0].refused
        );
    }
}

fn temperature(api: Api, body: &Value) -> Option<f64> {
    match api {
        Api::Gemini => body["generationConfig"]["temperature"].as_f64(),
        _ => body["temperature"].as_f64(),
    }
}

/// Runs the call with what was refused, or with all of it: whether each of its requests had a temperature.
async fn advise(run: &Run<()>, server: &Recorded, api: Api) -> Vec<bool> {
    let before = server.bodies().len();
    run.call(&Advise { wish: "A book.".to_owned() }).await.unwrap();
    server.bodies()[before..].iter().map(|body| temperature(api, body).is_some()).collect()
}

async fn an_hour_passes() {
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(3601)).await;
    tokio::time::resume();
}

#[tokio::test]
async fn what_helped_is_asked_so_for_an_hour_and_then_tried_once() {
    for api in Api::ALL {
        let takes = Arc::new(AtomicBool::new(false));
        let taken = Arc::clone(&takes);
        let server = Recorded::answering(move |asked| {
            let is_refused = temperature(api, &asked.body).is_some() && !taken.load(Ordering::Relaxed);
            match is_refused {
                true => quoting(api, "`temperature` is deprecated for this model", 0),
                false => api.answer(asked, &text(GOOD)),
            }
        })
        .await;
        let run = Run::new(api.model(&server.url));
        assert_eq!(advise(&run, &server, api).await, [true, false], "{api:?}: learned");
        assert_eq!(advise(&run, &server, api).await, [false], "{api:?}: known");
        an_hour_passes().await;
        assert_eq!(advise(&run, &server, api).await, [true, false], "{api:?}: tried again, still refused");
        assert_eq!(advise(&run, &server, api).await, [false], "{api:?}: known again");
        takes.store(true, Ordering::Relaxed);
        an_hour_passes().await;
        assert_eq!(advise(&run, &server, api).await, [true], "{api:?}: taken");
        assert_eq!(advise(&run, &server, api).await, [true], "{api:?}: forgotten");
    }
}

fn says_system(api: Api, body: &Value) -> bool {
    match api {
        Api::Chat => body["messages"][0]["role"] == "system",
        Api::Responses => body.get("instructions").is_some(),
        Api::Anthropic => body.get("system").is_some(),
        Api::Gemini => body.get("systemInstruction").is_some(),
    }
}

#[tokio::test]
async fn without_a_system_role_its_text_begins_the_users_first_message() {
    for api in Api::ALL {
        let server = Recorded::answering(move |asked| match says_system(api, &asked.body) {
            true => quoting(api, "System role not supported", 0),
            false => api.answer(asked, &text(GOOD)),
        })
        .await;
        let run = Run::new(api.model(&server.url));
        let wanted = Advise { wish: "A book.".to_owned() };
        let call = || run.call(&wanted);
        let report = call().response_format(llmnode::ResponseFormat::Prompt).report().await.unwrap();
        assert_eq!(report.record.attempts.len(), 2, "{api:?}");
        assert!(report.record.attempts[1].refused.contains(&"system".to_owned()), "{api:?}");
        // Our own form goes with it.
        let first = api.conversation(&server.bodies()[1])[0].to_string();
        let (system, form) = (first.find("You are a librarian.").unwrap(), first.find("<text>").unwrap());
        assert!(system < form && form < first.find("A book.").unwrap(), "{api:?}: {first}");
        call().await.unwrap();
        assert_eq!(server.bodies().len(), 3, "{api:?}: known");
    }
}

#[llm_node(prompt = "Greet.", transport_retries = 0)]
struct Greet;

#[tokio::test]
async fn off_is_the_least_that_a_model_takes() {
    let disabled = "\"thinking.type.disabled\" is not supported for this model.";
    let between = format!("{disabled} Use \"thinking.type.between_tools\" for the lowest thinking setting.");
    for (api, refusal, wanted) in [
        (Api::Chat, "Reasoning is mandatory for this endpoint and cannot be disabled.", json!("minimal")),
        (Api::Anthropic, between.as_str(), json!({"type": "between_tools"})),
        (Api::Anthropic, disabled, json!({"type": "adaptive"})),
        (
            Api::Gemini,
            "Budget 0 is invalid. This model only works in thinking mode.",
            json!({"thinkingLevel": "MINIMAL"}),
        ),
    ] {
        let mut is_first = true;
        let refusal = refusal.to_owned();
        let server = Recorded::answering(move |asked| match std::mem::take(&mut is_first) {
            true => quoting(api, &refusal, 0),
            false => api.answer(asked, &text("Hello.")),
        })
        .await;
        let run = Run::new(api.model(&server.url));
        let report = run.call(&Greet).reasoning(Reasoning::Off).report().await.unwrap();
        let body = &server.bodies()[1];
        let asked = match api {
            Api::Anthropic => &body["thinking"],
            Api::Gemini => &body["generationConfig"]["thinkingConfig"],
            Api::Chat | Api::Responses => &body["reasoning_effort"],
        };
        assert_eq!(asked, &wanted, "{api:?}");
        assert_eq!(report.record.attempts[1].refused, ["reasoning"], "{api:?}");
    }
}

#[tokio::test]
async fn a_call_is_asked_in_another_way_four_times_at_most() {
    let refusals = [
        "'temperature' is not supported",
        "Unsupported parameter: 'max_tokens'",
        "response_format of type json_schema is not supported",
        "response_format of type json_object is not supported",
        "System role not supported",
        "no",
    ];
    let mut refusals = refusals.into_iter();
    let server =
        Recorded::answering(move |_| quoting(Api::Chat, refusals.next().unwrap_or_default(), 0)).await;
    let model = OpenAi::builder().base_url(&server.url).model("m").build().unwrap();
    let error = Run::new(model).call(&Advise { wish: "A book.".to_owned() }).await.unwrap_err();
    assert_eq!((error.category(), error.attempts().len()), (Category::BadRequest, 5));
    let refused = &error.record().unwrap().attempts[4].refused;
    assert_eq!(*refused, ["temperature", "max_tokens", "strict", "schema", "json_object"]);
}

/// What the server refused is no fault of the program, so another model is asked.
#[tokio::test]
async fn a_refusal_that_nobody_can_adapt_to_asks_the_fallback_model() {
    let server =
        Recorded::answering(|_| quoting(Api::Chat, "registry.example/gemma does not support tools", 0)).await;
    let other = Recorded::answering(|asked| Api::Chat.answer(asked, &text("Done."))).await;
    let model = |url: &str| OpenAi::builder().base_url(url).model("m").build().unwrap();
    let run = Run::new(model(&server.url)).model("second", model(&other.url));
    let report = run.call(&Keep).fallback_model("second").report().await.unwrap();
    assert_eq!((report.value.as_str(), server.bodies().len()), ("Done.", 1));
    assert_eq!(report.record.attempts[0].category, Some(Category::BadRequest));
}

/// Says how much of it is in stock.
#[tool]
fn stock(item: String) -> usize {
    item.len()
}

/// Keeps a shop.
#[llm_node(prompt = "What is there?", tools = [Stock], turns = 4, transport_retries = 0)]
struct Keep;

#[tokio::test]
async fn a_missing_endpoint_is_no_wrong_model() {
    for (message, category, hints) in [
        (
            "No endpoints found that can handle the requested parameters.",
            Category::BadRequest,
            false,
        ),
        ("No endpoints found that support image input", Category::BadRequest, false),
        ("Invalid URL (POST /chat/completions)", Category::NotFound, false),
        ("No endpoints found for m.", Category::NotFound, false),
        ("The model `m` does not exist", Category::NotFound, true),
    ] {
        let error = json!({"error": {"message": message, "code": 404}}).to_string();
        let server = Recorded::start([(404, "application/json", error)]).await;
        let model = OpenAi::builder().base_url(&server.url).model("m").build().unwrap();
        let error = Run::new(model).call(&Greet).await.unwrap_err();
        assert_eq!(error.category(), category, "{message}");
        assert!(error.message().contains(message), "{error}");
        assert_eq!(error.message().contains("asked for the model"), hints, "{error}");
    }
}
