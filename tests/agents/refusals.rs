//! What servers refuse: learned from what helped, for a while, and never from what somebody wrote.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use llmnode::prelude::*;
use llmnode::{Category, DynNode, File, OpenAi, Reasoning};
use serde_json::{Value, json};

use crate::apis::{Api, call, text};
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
    let begun: String = quoted
        .chars()
        .take(quoted.chars().count() * 4 / 5)
        .collect();
    let message = match way {
        0 => format!("Could not read the input: {quoted}"),
        1 => format!("Could not read the input: {}", json!(quoted)),
        2 => format!(
            "Could not read the input: {}",
            json!(json!({"text": quoted}).to_string())
        ),
        3 => format!("Could not read the input: \"{begun}\"..."),
        _ => {
            let escaped = quoted
                .replace('&', "&amp;")
                .replace('\'', "&#39;")
                .replace('"', "&quot;");
            let page = format!(
                "<html><body><h1>Bad input</h1><p>{}</p></body></html>",
                escaped.replace('<', "&lt;")
            );
            return (400, "text/html", page);
        }
    };
    let error = match api {
        Api::Gemini => {
            json!({"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}})
        }
        Api::Anthropic => {
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}})
        }
        Api::Chat | Api::Responses => {
            json!({"error": {"message": message, "type": "invalid_request_error"}})
        }
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
                if is_hostile {
                    quoting(api, hostile, way)
                } else {
                    api.answer(asked, &text(GOOD))
                }
            })
            .await;
            let run = Run::new(api.model(&server.url));
            let innocent = || Advise {
                wish: "A book.".to_owned(),
            };
            run.call(&innocent()).await.unwrap();
            let attack = Advise {
                wish: format!("{hostile} Ignore this."),
            };
            let error = run.call(&attack).await.unwrap_err();
            assert_eq!(
                (error.category(), error.attempts().len()),
                (Category::BadRequest, 1),
                "{api:?}: {hostile}"
            );
            run.call(&innocent()).await.unwrap();
            let asked = server.asked();
            assert_eq!(
                without_wish(&asked[0]),
                without_wish(&asked[2]),
                "{api:?}: {hostile}"
            );
        }
    }
}

/// Reads what somebody has uploaded.
#[llm_node(prompt = "What is it?{file:attach}", output = Advice, transport_retries = 0)]
struct Look {
    file: File,
}

#[derive(Debug)]
struct Shop {
    goods: Vec<String>,
}

/// Sells what the shop has.
#[llm_node(prompt = "What to buy?", output = Advice, state = Shop, choices(title = state.goods), transport_retries = 0)]
struct Buy {}

/// Where a text of somebody's stands in a request, if it is not in the prompt.
#[derive(Clone, Copy, Debug)]
enum Place {
    NameOfAFile,
    NameOfATool,
    Choice,
}

/// As a tool may be named.
fn as_name(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .take(60)
        .collect()
}

impl Place {
    /// What the server finds there, and quotes.
    fn quoted(self, hostile: &str) -> String {
        match self {
            Place::NameOfAFile => format!("{hostile}.pdf"),
            Place::NameOfATool => as_name(hostile),
            Place::Choice => hostile.to_owned(),
        }
    }

    async fn attack(self, model: Arc<dyn ChatModel>, hostile: &str) -> NodeError {
        let quoted = self.quoted(hostile);
        let run = Run::new(model);
        match self {
            Place::NameOfAFile => {
                let file =
                    File::bytes(&quoted, "application/pdf", b"%PDF-1.4 /Type /Page").unwrap();
                run.call(&Look { file }).await.unwrap_err()
            }
            Place::NameOfATool => {
                let schema = json!({"type": "object", "properties": {"item": {"type": "string"}}});
                let tools = Toolset::new().json_function(
                    quoted,
                    hostile.to_owned(),
                    schema,
                    |_: Value| async { Ok::<_, BoxError>("") },
                );
                let agent = DynNode::builder("agent")
                    .text()
                    .tools(tools)
                    .build()
                    .unwrap();
                run.call(&agent.ask("What is there?"))
                    .transport_retries(0)
                    .await
                    .unwrap_err()
            }
            Place::Choice => {
                let run = run.with_state(Shop {
                    goods: vec![quoted, "pen".to_owned()],
                });
                run.call(&Buy {}).await.unwrap_err()
            }
        }
    }
}

/// Names of files and tools, and values that a state allows, are somebody's texts as well.
#[tokio::test]
async fn what_stands_in_names_and_choices_changes_nothing_for_others() {
    let mut quotations = 0;
    for (api, place) in Api::ALL.into_iter().flat_map(|api| {
        [Place::NameOfAFile, Place::NameOfATool, Place::Choice].map(|place| (api, place))
    }) {
        for (index, hostile) in HOSTILE.iter().enumerate() {
            let quoted = place.quoted(hostile);
            let server = Recorded::answering(move |asked| {
                let is_innocent = asked.body.to_string().contains("A book.");
                match is_innocent {
                    true => api.answer(asked, &text(GOOD)),
                    false => quoting(api, &quoted, index % 5),
                }
            })
            .await;
            let model = api.model(&server.url);
            let run = Run::new(Arc::clone(&model));
            let innocent = || Advise {
                wish: "A book.".to_owned(),
            };
            run.call(&innocent()).await.unwrap();
            let error = place.attack(model, hostile).await;
            let asked = server.asked();
            // Gemini has no names of files: a server that quotes one has it from elsewhere.
            let is_in_the_request = holds(&asked[1].body, &place.quoted(hostile));
            if is_in_the_request {
                quotations += 1;
                let ended = (error.category(), error.attempts().len());
                assert_eq!(
                    ended,
                    (Category::BadRequest, 1),
                    "{api:?}, {place:?}: {hostile}"
                );
            }
            run.call(&innocent()).await.unwrap();
            let asked = server.asked();
            let last = asked.last().unwrap();
            assert_eq!(
                without_wish(&asked[0]),
                without_wish(last),
                "{api:?}, {place:?}: {hostile}"
            );
        }
    }
    assert!(quotations >= 330, "{quotations}");
}

/// Whether a string of the request is this text, or has it.
fn holds(body: &Value, text: &str) -> bool {
    match body {
        Value::String(own) => own.contains(text),
        Value::Array(values) => values.iter().any(|value| holds(value, text)),
        Value::Object(members) => members.values().any(|value| holds(value, text)),
        _ => false,
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
        let error = run
            .call(&Advise {
                wish: "Ignore this.".to_owned(),
            })
            .await
            .unwrap_err();
        assert_eq!(
            (error.category(), error.attempts().len()),
            (Category::BadRequest, 2),
            "{api:?}"
        );
        let report = run
            .call(&Advise {
                wish: "A book.".to_owned(),
            })
            .report()
            .await
            .unwrap();
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
    run.call(&Advise {
        wish: "A book.".to_owned(),
    })
    .await
    .unwrap();
    server.bodies()[before..]
        .iter()
        .map(|body| temperature(api, body).is_some())
        .collect()
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
            let is_refused =
                temperature(api, &asked.body).is_some() && !taken.load(Ordering::Relaxed);
            match is_refused {
                true => quoting(api, "`temperature` is deprecated for this model", 0),
                false => api.answer(asked, &text(GOOD)),
            }
        })
        .await;
        let run = Run::new(api.model(&server.url));
        assert_eq!(
            advise(&run, &server, api).await,
            [true, false],
            "{api:?}: learned"
        );
        assert_eq!(advise(&run, &server, api).await, [false], "{api:?}: known");
        an_hour_passes().await;
        assert_eq!(
            advise(&run, &server, api).await,
            [true, false],
            "{api:?}: tried again, still refused"
        );
        assert_eq!(
            advise(&run, &server, api).await,
            [false],
            "{api:?}: known again"
        );
        takes.store(true, Ordering::Relaxed);
        an_hour_passes().await;
        assert_eq!(advise(&run, &server, api).await, [true], "{api:?}: taken");
        assert_eq!(
            advise(&run, &server, api).await,
            [true],
            "{api:?}: forgotten"
        );
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
        let wanted = Advise {
            wish: "A book.".to_owned(),
        };
        let call = || run.call(&wanted);
        let report = call()
            .response_format(llmnode::ResponseFormat::Prompt)
            .report()
            .await
            .unwrap();
        assert_eq!(report.record.attempts.len(), 2, "{api:?}");
        assert!(
            report.record.attempts[1]
                .refused
                .contains(&"system".to_owned()),
            "{api:?}"
        );
        // Our own form goes with it.
        let first = api.conversation(&server.bodies()[1])[0].to_string();
        let (system, form) = (
            first.find("You are a librarian.").unwrap(),
            first.find("<text>").unwrap(),
        );
        assert!(
            system < form && form < first.find("A book.").unwrap(),
            "{api:?}: {first}"
        );
        call().await.unwrap();
        assert_eq!(server.bodies().len(), 3, "{api:?}: known");
    }
}

#[llm_node(prompt = "Greet.", transport_retries = 0)]
struct Greet;

#[tokio::test]
async fn off_is_the_least_that_a_model_takes() {
    let disabled = "\"thinking.type.disabled\" is not supported for this model.";
    let between =
        format!("{disabled} Use \"thinking.type.between_tools\" for the lowest thinking setting.");
    for (api, refusal, wanted) in [
        (
            Api::Chat,
            "Reasoning is mandatory for this endpoint and cannot be disabled.",
            json!("minimal"),
        ),
        (
            Api::Responses,
            "Reasoning is mandatory for this endpoint and cannot be disabled.",
            json!("minimal"),
        ),
        (
            Api::Responses,
            "Unsupported value: 'none' is not supported with the 'm' model. Supported values are: 'low' and 'high'.",
            json!("low"),
        ),
        (
            Api::Responses,
            "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
            Value::Null,
        ),
        (
            Api::Anthropic,
            between.as_str(),
            json!({"type": "between_tools"}),
        ),
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
        let report = run
            .call(&Greet)
            .reasoning(Reasoning::Off)
            .report()
            .await
            .unwrap();
        let body = &server.bodies()[1];
        let asked = match api {
            Api::Anthropic => &body["thinking"],
            Api::Gemini => &body["generationConfig"]["thinkingConfig"],
            Api::Chat => &body["reasoning_effort"],
            Api::Responses => &body["reasoning"]["effort"],
        };
        assert_eq!(asked, &wanted, "{api:?}");
        assert_eq!(report.record.attempts[1].refused, ["reasoning"], "{api:?}");
    }
}

/// The least word in place of nothing is refused as nothing is, and then the next one is asked.
#[tokio::test]
async fn off_goes_on_to_the_lowest_effort_that_is_taken() {
    for words in [
        "Thinking cannot be turned off for this model",
        "This model requires thinking; the effort \"none\" is not allowed.",
        "reasoning effort none is not supported because this model always reasons",
        "Disabling reasoning is not supported for this model.",
        "The value of the enable_thinking parameter is restricted to True.",
        "`thinking.type` must be `enabled` for this model",
        "Reasoning effort none is not available for this model. Try low.",
    ] {
        for api in [Api::Chat, Api::Responses] {
            let server = Recorded::answering(move |asked| match effort(api, &asked.body) {
                Some("none" | "minimal") => quoting(api, words, 0),
                _ => api.answer(asked, &text("Hello.")),
            })
            .await;
            Run::new(api.model(&server.url))
                .call(&Greet)
                .reasoning(Reasoning::Off)
                .await
                .unwrap();
            let bodies = server.bodies();
            assert_eq!(
                effort(api, bodies.last().unwrap()),
                Some("low"),
                "{api:?}: {words}"
            );
            assert!(bodies.len() <= 3, "{api:?}: {words}");
        }
    }
}

fn effort(api: Api, body: &Value) -> Option<&str> {
    let effort = match api {
        Api::Chat => &body["reasoning_effort"],
        Api::Responses => &body["reasoning"]["effort"],
        Api::Anthropic => &body["output_config"]["effort"],
        Api::Gemini => &body["generationConfig"]["thinkingConfig"]["thinkingLevel"],
    };
    effort.as_str()
}

/// Servers offer values in many sentences; the highest that they take is the next one.
#[tokio::test]
async fn an_effort_that_is_refused_is_the_highest_that_the_text_offers() {
    for words in [
        "Unsupported value: the effort 'max' is not supported. Supported values are: 'low' and 'medium'.",
        "Invalid reasoning effort: max. This model supports: low, medium.",
        "The effort 'max' is not taken. Allowed reasoning efforts: low, medium",
        "Invalid value 'max' for the effort. Expected: low | medium",
        "effort max not supported, supported efforts are low/medium",
        "Effort level 'max' is not available for this model. Available levels: low, medium",
        "The effort 'max' is not supported when thinking is disabled. Use effort 'medium' or below.",
        "effort \"max\" is not supported by this model; supported values: [medium]",
    ] {
        for api in [Api::Chat, Api::Responses, Api::Anthropic] {
            let server = Recorded::answering(move |asked| match effort(api, &asked.body) {
                Some("low" | "medium") => api.answer(asked, &text("Hello.")),
                _ => quoting(api, words, 0),
            })
            .await;
            Run::new(api.model(&server.url))
                .call(&Greet)
                .reasoning(Reasoning::Max)
                .await
                .unwrap();
            let bodies = server.bodies();
            let sent: Vec<_> = bodies.iter().map(|body| effort(api, body)).collect();
            assert_eq!(sent, [Some("max"), Some("medium")], "{api:?}: {words}");
        }
    }
}

fn limit(api: Api, body: &Value) -> Option<u64> {
    let names = ["max_tokens", "max_completion_tokens", "max_output_tokens"];
    match api {
        Api::Gemini => body["generationConfig"]["maxOutputTokens"].as_u64(),
        _ => names.iter().find_map(|name| body[name].as_u64()),
    }
}

/// A number beyond a bound becomes the bound, on each API.
#[tokio::test]
async fn the_least_and_the_most_tokens_are_sent() {
    for (set, words, wanted) in [
        (
            20,
            "Invalid 'max_tokens': integer below minimum value. Expected a value >= 32, but got 20 instead.",
            32,
        ),
        (
            20,
            "max_tokens: Input should be greater than or equal to 32",
            32,
        ),
        (9000, "Max output tokens exceeds limit: 9000 > 8192", 8192),
        (
            9000,
            "The maximum output tokens for this model is 8192",
            8192,
        ),
        (
            9000,
            "The max_tokens value is out of range. Allowed: 1-8192",
            8192,
        ),
    ] {
        for api in Api::ALL {
            let server =
                Recorded::answering(move |asked| match limit(api, &asked.body) == Some(wanted) {
                    true => api.answer(asked, &text("Hello.")),
                    false => quoting(api, words, 0),
                })
                .await;
            let run = Run::new(api.model(&server.url));
            let report = run.call(&Greet).max_tokens(set).report().await.unwrap();
            let sent: Vec<_> = server
                .bodies()
                .iter()
                .map(|body| limit(api, body))
                .collect();
            assert_eq!(sent, [Some(set.into()), Some(wanted)], "{api:?}: {words}");
            assert_eq!(report.record.attempts[1].refused, ["max_tokens"], "{api:?}");
        }
    }
}

#[llm_output]
#[derive(Debug)]
struct Sale {
    item: String,
}

/// Sells one thing.
#[llm_node(prompt = "Sell one.", output = Sale, tools = [Stock], turns = 3, transport_retries = 0)]
struct Sell;

fn forces(body: &Value) -> bool {
    let choice = &body["tool_choice"];
    let mode = &body["toolConfig"]["functionCallingConfig"]["mode"];
    let word = choice
        .as_str()
        .or(choice["type"].as_str())
        .or(mode.as_str())
        .unwrap_or("auto");
    !["auto", "none", "AUTO", "NONE"].contains(&word)
}

/// In whatever words: the model is asked for a call, and not forced to it.
#[tokio::test]
async fn a_forced_call_that_is_refused_is_asked_for_freely() {
    for words in [
        "Model does not support forced tool calls",
        "Forcing tool use is not supported by this model",
        "Only 'auto' tool_choice is supported for this model",
        "tool_choice is only available for other models",
        "tool_choice must be 'auto' or 'none'",
    ] {
        for api in Api::ALL {
            let server = Recorded::answering(move |asked| match forces(&asked.body) {
                true => quoting(api, words, 0),
                false => {
                    let answer = api
                        .functions(&asked.body)
                        .into_iter()
                        .find(|name| name != "stock");
                    let sale = json!({"item": "pen"});
                    let name = answer.unwrap_or_default();
                    api.answer(asked, &call("call_1", &name, sale))
                }
            })
            .await;
            Run::new(api.model(&server.url)).call(&Sell).await.unwrap();
            let bodies = server.bodies();
            assert!(bodies.len() == 2 && forces(&bodies[0]), "{api:?}: {words}");
        }
    }
}

/// What the server has not is no failure that passes.
#[tokio::test]
async fn a_server_that_cannot_is_asked_once() {
    for api in Api::ALL {
        for (status, body) in [
            (501, json!({"error": {"code": 501, "message": "This server does not support chat.", "type": "not_supported_error"}}).to_string()),
            (501, "<html><h1>501 Not Implemented</h1></html>".to_owned()),
            (500, json!({"error": {"code": 500, "message": "tools param requires --jinja flag"}}).to_string()),
        ] {
            let answer = (status, if body.starts_with('<') { "text/html" } else { "application/json" }, body);
            let server = Recorded::answering(move |_| answer.clone()).await;
            let error = Run::new(api.model(&server.url)).call(&Greet).transport_retries(3).await.unwrap_err();
            assert_eq!((error.category(), server.bodies().len()), (Category::BadRequest, 1), "{api:?} {status}");
        }
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
        Recorded::answering(move |_| quoting(Api::Chat, refusals.next().unwrap_or_default(), 0))
            .await;
    let model = OpenAi::builder()
        .base_url(&server.url)
        .model("m")
        .build()
        .unwrap();
    let error = Run::new(model)
        .call(&Advise {
            wish: "A book.".to_owned(),
        })
        .await
        .unwrap_err();
    assert_eq!(
        (error.category(), error.attempts().len()),
        (Category::BadRequest, 5)
    );
    let refused = &error.record().unwrap().attempts[4].refused;
    assert_eq!(
        *refused,
        [
            "temperature",
            "max_tokens",
            "strict",
            "schema",
            "json_object"
        ]
    );
}

/// What the server refused is no fault of the program, so another model is asked.
#[tokio::test]
async fn a_refusal_that_nobody_can_adapt_to_asks_the_fallback_model() {
    let server = Recorded::answering(|_| {
        quoting(
            Api::Chat,
            "registry.example/gemma does not support tools",
            0,
        )
    })
    .await;
    let other = Recorded::answering(|asked| Api::Chat.answer(asked, &text("Done."))).await;
    let model = |url: &str| OpenAi::builder().base_url(url).model("m").build().unwrap();
    let run = Run::new(model(&server.url)).model("second", model(&other.url));
    let report = run
        .call(&Keep)
        .fallback_model("second")
        .report()
        .await
        .unwrap();
    assert_eq!((report.value.as_str(), server.bodies().len()), ("Done.", 1));
    assert_eq!(
        report.record.attempts[0].category,
        Some(Category::BadRequest)
    );
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
        (
            "No endpoints found that support image input",
            Category::BadRequest,
            false,
        ),
        (
            "Invalid URL (POST /chat/completions)",
            Category::NotFound,
            false,
        ),
        ("No endpoints found for m.", Category::NotFound, false),
        ("The model `m` does not exist", Category::NotFound, true),
    ] {
        let error = json!({"error": {"message": message, "code": 404}}).to_string();
        let server = Recorded::start([(404, "application/json", error)]).await;
        let model = OpenAi::builder()
            .base_url(&server.url)
            .model("m")
            .build()
            .unwrap();
        let error = Run::new(model).call(&Greet).await.unwrap_err();
        assert_eq!(error.category(), category, "{message}");
        assert!(error.message().contains(message), "{error}");
        assert_eq!(
            error.message().contains("asked for the model"),
            hints,
            "{error}"
        );
    }
}

/// But for its name, what a model is sent says nothing of which it is.
#[tokio::test]
async fn the_name_of_a_model_changes_nothing() {
    const NAMES: [&str; 12] = [
        "gpt-6-astra",
        "gpt-6-luna",
        "gpt-5.5-pro",
        "gpt-4.1",
        "o3",
        "claude-opus-5-5",
        "claude-haiku-4-5",
        "gemini-3.8-flash",
        "gemini-2.5-pro",
        "deepseek-v4-pro",
        "kimi-k3",
        "qwen3.8-27b",
    ];
    for api in Api::ALL {
        let mut unnamed = Vec::new();
        for name in NAMES {
            let server = Recorded::answering(move |asked| {
                let answer = api
                    .functions(&asked.body)
                    .into_iter()
                    .find(|function| function != "stock");
                api.answer(
                    asked,
                    &call(
                        "call_1",
                        &answer.unwrap_or_default(),
                        json!({"item": "pen"}),
                    ),
                )
            })
            .await;
            let run = Run::new(api.model(&server.url));
            let sell = run
                .call(&Sell)
                .model(name)
                .reasoning(Reasoning::High)
                .max_tokens(30_000);
            sell.await.unwrap();
            let asked = server.asked();
            let path = asked[0]
                .head
                .lines()
                .next()
                .unwrap_or_default()
                .replace(name, "m");
            let mut body = asked[0].body.clone();
            if let Some(model) = body.get_mut("model") {
                *model = json!("m");
            }
            unnamed.push((asked.len(), path, body));
        }
        assert!(
            unnamed.windows(2).all(|pair| pair[0] == pair[1]),
            "{api:?}: {unnamed:#?}"
        );
    }
}
