//! Nodes, agents and conversations against the stub server as each provider: answered, though each refuses other things.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    missing_docs,
    reason = "tests"
)]

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, Utc};
use llmnode::prelude::*;
use llmnode::stub_server::{LoggedRequest, Provider, StubReply, StubServerBuilder};
use llmnode::{Anthropic, Gemini, ResponseFormat, StubServer};
use serde_json::json;

/// How a provider is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Chat,
    Responses,
    Messages,
    Gemini,
}

/// A provider, one of its models, and how it is asked.
const ROWS: &[(Provider, &str, Way)] = &[
    (Provider::OpenAi, "gpt-4.1", Way::Chat),
    (Provider::OpenAi, "gpt-6-luna", Way::Chat),
    (Provider::OpenAi, "gpt-6-astra", Way::Chat),
    (Provider::OpenAi, "gpt-4.1", Way::Responses),
    (Provider::OpenAi, "gpt-6-luna", Way::Responses),
    (Provider::OpenAi, "gpt-6.1-sol", Way::Responses),
    (Provider::Azure, "gpt-5.6-sol", Way::Chat),
    (Provider::Azure, "gpt-5.6-sol", Way::Responses),
    (Provider::Anthropic, "claude-sonnet-5-5", Way::Messages),
    (Provider::Anthropic, "claude-opus-5-5", Way::Messages),
    (Provider::Anthropic, "claude-sonnet-4-6", Way::Messages),
    (Provider::Anthropic, "claude-haiku-4-5", Way::Messages),
    (Provider::Bedrock, "claude-opus-4-8", Way::Messages),
    (Provider::Gemini, "gemini-3.8-flash", Way::Gemini),
    (Provider::Gemini, "gemini-2.5-flash", Way::Gemini),
    (Provider::Mistral, "mistral-large-latest", Way::Chat),
    (Provider::DeepSeek, "deepseek-v4-pro", Way::Chat),
    (Provider::Groq, "llama-3.3-70b-versatile", Way::Chat),
    (Provider::Xai, "grok-4.6", Way::Chat),
    (Provider::Moonshot, "kimi-k2.6", Way::Chat),
    (Provider::Zai, "glm-5.3-flash", Way::Chat),
    (Provider::MiniMax, "MiniMax-M3", Way::Chat),
    (Provider::DashScope, "qwen3.7-plus", Way::Chat),
    (Provider::Cerebras, "gpt-oss-120b", Way::Chat),
    (
        Provider::Fireworks,
        "accounts/fireworks/models/glm-5p3",
        Way::Chat,
    ),
    (Provider::OpenRouter, "deepseek/deepseek-v4-pro", Way::Chat),
    (Provider::LiteLlm, "claude-sonnet-5", Way::Chat),
    (Provider::LmStudio, "google/gemma-4-12b", Way::Chat),
    (Provider::Ollama, "qwen3:4b", Way::Chat),
    (Provider::LlamaCpp, "gemma-4-e4b", Way::Chat),
    (Provider::Vllm, "google/gemma-4-26B-A4B-it", Way::Chat),
];

/// How many requests more may be refused than without a provider.
const REFUSALS: usize = 3;

fn run(server: &StubServer, model: &str, way: Way) -> Run {
    let url = server.base_url();
    match way {
        Way::Chat => Run::new(
            OpenAi::builder()
                .base_url(url)
                .model(model)
                .build()
                .unwrap(),
        ),
        Way::Responses => Run::new(
            OpenAi::builder()
                .base_url(url)
                .model(model)
                .responses()
                .build()
                .unwrap(),
        ),
        Way::Messages => Run::new(
            Anthropic::builder()
                .base_url(url)
                .model(model)
                .build()
                .unwrap(),
        ),
        Way::Gemini => Run::new(
            Gemini::builder()
                .base_url(url)
                .model(model)
                .build()
                .unwrap(),
        ),
    }
}

fn refused(server: &StubServer) -> Vec<&'static str> {
    server
        .requests()
        .iter()
        .filter_map(LoggedRequest::refused_by)
        .collect()
}

/// Runs it against a server without a provider, and against each provider. `ask` says what was wrong.
async fn against_all(
    server: impl Fn() -> StubServerBuilder,
    ask: impl AsyncFn(&Run) -> Result<(), String>,
) {
    let mut wrong = Vec::new();
    for (provider, model, way) in ROWS.iter().copied() {
        let plain = server().start().await.unwrap();
        let asked = ask(&run(&plain, model, way)).await;
        let before = refused(&plain);
        if let Err(why) = asked {
            wrong.push(format!(
                "without a provider, {model} by {way:?}: {why} {before:?}"
            ));
        }
        let strict = server().as_provider(provider).start().await.unwrap();
        let asked = ask(&run(&strict, model, way)).await;
        let refusals = refused(&strict);
        if let Err(why) = asked {
            wrong.push(format!(
                "{provider:?}, {model} by {way:?}: {why} {refusals:?}"
            ));
        } else if refusals.len() > before.len() + REFUSALS {
            wrong.push(format!(
                "{provider:?}, {model} by {way:?}: refused too often {refusals:?}"
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn each_provider_is_asked() {
    for provider in Provider::ALL {
        assert!(ROWS.iter().any(|(of, ..)| of == provider), "{provider:?}");
    }
}

#[llm_output]
#[derive(Debug, PartialEq)]
struct Event {
    /// What it is called.
    name: String,
    day: NaiveDate,
    guests: Vec<String>,
    place: Option<String>,
    #[schemars(range(min = 0, max = 10))]
    rank: u8,
}

/// Reads an event.
#[llm_node(prompt = "Which event is this? {text}", output = Event, retries = 1)]
struct ReadEvent {
    text: &'static str,
}

const READ: ReadEvent = ReadEvent {
    text: "Ada's party on the 2nd of May",
};

fn event() -> serde_json::Value {
    json!({"name": "Party", "day": "2026-05-02", "guests": ["Ada"], "place": null, "rank": 3})
}

#[tokio::test]
async fn a_typed_node_is_answered() {
    let server = || StubServer::builder().default_reply(StubReply::json(event()));
    against_all(server, async |run: &Run| {
        let event = run.call(&READ).await.map_err(|error| error.to_string())?;
        if event.name == "Party" {
            Ok(())
        } else {
            Err(format!("{event:?}"))
        }
    })
    .await;
    against_all(server, async |run: &Run| {
        let event = run
            .call(&READ)
            .stream()
            .report()
            .await
            .map_err(|error| error.to_string())?
            .value;
        if event.rank == 3 {
            Ok(())
        } else {
            Err(format!("{event:?}"))
        }
    })
    .await;
}

/// OpenAI looks for the word JSON where the conversation is, not in the instructions.
#[tokio::test]
async fn responses_takes_each_response_format() {
    let formats = [
        ResponseFormat::Strict,
        ResponseFormat::Schema,
        ResponseFormat::JsonObject,
        ResponseFormat::Prompt,
        ResponseFormat::Tool,
    ];
    for format in formats {
        let server = StubServer::builder()
            .default_reply(StubReply::json(event()))
            .as_provider(Provider::OpenAi)
            .start()
            .await
            .unwrap();
        let model = OpenAi::builder()
            .base_url(server.base_url())
            .model("gpt-6-luna")
            .response_format(format);
        let event = Run::new(model.responses().build().unwrap())
            .call(&READ)
            .await
            .unwrap();
        assert_eq!(event.name, "Party");
        assert_eq!(refused(&server), [""; 0], "{format:?}");
    }
}

/// The time.
#[tool]
fn now() -> String {
    "noon".to_owned()
}

/// Answers with the help of a clock.
#[llm_node(prompt = "{question}", tools = [Now], turns = 4)]
struct Clock {
    question: &'static str,
}

const CLOCK: Clock = Clock {
    question: "What time is it?",
};

/// A call of the clock, then the answer.
fn clock_server() -> StubServerBuilder {
    StubServer::builder().default_reply(StubReply::for_request(|request| {
        let has_result = request.messages().iter().any(|(role, _)| role == "tool");
        if has_result {
            StubReply::text("It is noon.")
        } else {
            StubReply::call("now", json!({}))
        }
    }))
}

#[tokio::test]
async fn an_agent_is_answered() {
    against_all(clock_server, async |run: &Run| {
        let answer = run.call(&CLOCK).await.map_err(|error| error.to_string())?;
        if answer == "It is noon." {
            Ok(())
        } else {
            Err(answer)
        }
    })
    .await;
    against_all(clock_server, async |run: &Run| {
        let report = run
            .call(&CLOCK)
            .stream()
            .report()
            .await
            .map_err(|error| error.to_string())?;
        if report.value == "It is noon." {
            Ok(())
        } else {
            Err(report.value)
        }
    })
    .await;
}

/// A conversation of three questions, whose answers go back.
#[llm_node(system = "Be brief.", prompt = "{question}", tools = [Now], turns = 4)]
struct Talk {
    #[node(history)]
    before: Vec<Message>,
    question: &'static str,
}

#[tokio::test]
async fn a_conversation_goes_on() {
    let server = || {
        StubServer::builder().default_reply(StubReply::for_request(|request| {
            match request
                .messages()
                .iter()
                .filter(|(role, _)| role == "user")
                .count()
            {
                1 => StubReply::text("Hello!"),
                2 if request.messages().iter().all(|(role, _)| role != "tool") => {
                    StubReply::call("now", json!({}))
                }
                _ => StubReply::text("Noon."),
            }
        }))
    };
    against_all(server, async |run: &Run| {
        let mut before = Vec::new();
        for question in ["Hi", "What time is it?", "Thanks"] {
            let talk = Talk {
                before: before.clone(),
                question,
            };
            let report = run
                .call(&talk)
                .report()
                .await
                .map_err(|error| format!("{question}: {error}"))?;
            before = report.history().unwrap();
        }
        Ok(())
    })
    .await;
}

/// An answer that the program wrote into the history itself has no thoughts, and some providers want them.
#[tokio::test]
async fn a_history_by_hand_is_taken() {
    let server = || StubServer::builder().default_reply(StubReply::text("Noon."));
    against_all(server, async |run: &Run| {
        let before = vec![Message::user("Hi"), Message::assistant("Hello!")];
        let report = run
            .call(&Talk {
                before,
                question: "What time is it?",
            })
            .report()
            .await;
        let before = report
            .map_err(|error| error.to_string())?
            .history()
            .unwrap();
        run.call(&Talk {
            before,
            question: "Thanks",
        })
        .await
        .map(drop)
        .map_err(|error| error.to_string())
    })
    .await;
}

#[llm_output]
#[derive(Clone, Debug)]
enum Action {
    Wait,
    Go { to: String, with: Option<String> },
    Say(String),
}

#[llm_output]
#[derive(Clone, Debug)]
struct Tree {
    name: String,
    children: Vec<Tree>,
}

/// Marks a place.
#[tool]
fn mark(at: (f64, i32)) -> String {
    format!("{} {}", at.0, at.1)
}

/// Plans the days.
#[tool]
fn plan(days: BTreeMap<u32, String>) -> String {
    format!("{}", days.len())
}

/// Acts.
#[tool]
fn act(action: Action) -> String {
    format!("{action:?}")
}

/// Grows a tree.
#[tool]
fn grow(tree: Tree) -> String {
    format!("{} {}", tree.name, tree.children.len())
}

/// Notes something.
#[tool]
fn note(text: Option<String>, at: DateTime<Utc>, on: Option<NaiveDate>) -> String {
    format!("{text:?} {at} {on:?}")
}

#[llm_output]
#[derive(Debug)]
struct Journal {
    title: String,
    by_day: BTreeMap<u32, String>,
    moves: Vec<(String, i32)>,
    last: Action,
    tree: Tree,
    on: Option<NaiveDate>,
}

/// Keeps a journal.
#[llm_node(prompt = "{task}", tools = [Now, Mark, Plan, Act, Grow, Note], output = Journal, turns = 4, retries = 1)]
struct KeepJournal {
    task: &'static str,
}

const KEEP: KeepJournal = KeepJournal {
    task: "Keep a journal of the day.",
};

fn journal() -> serde_json::Value {
    json!({
        "title": "A day",
        "by_day": {"1": "rest"},
        "moves": [["north", 2]],
        "last": {"Go": {"to": "home", "with": null}},
        "tree": {"name": "oak", "children": []},
        "on": "2026-05-02",
    })
}

fn journal_server() -> StubServerBuilder {
    StubServer::builder().default_reply(StubReply::for_request(|request| {
        if request.messages().iter().any(|(role, _)| role == "tool") {
            return StubReply::json(journal());
        }
        StubReply::call("now", json!({}))
            .and_call("mark", json!({"at": [1.5, 2]}))
            .and_call("plan", json!({"days": {"1": "rest"}}))
            .and_call("act", json!({"action": {"Say": "hi"}}))
            .and_call(
                "grow",
                json!({"tree": {"name": "oak", "children": [{"name": "leaf", "children": []}]}}),
            )
            .and_call(
                "note",
                json!({"text": null, "at": "2026-05-02T12:00:00Z", "on": null}),
            )
    }))
}

#[tokio::test]
async fn an_agent_with_all_kinds_of_types_is_answered() {
    against_all(journal_server, async |run: &Run| {
        let report = run
            .call(&KEEP)
            .report()
            .await
            .map_err(|error| error.to_string())?;
        let outcomes: Vec<_> = report
            .record
            .attempts
            .iter()
            .flat_map(|attempt| &attempt.tools)
            .collect();
        let failed = outcomes
            .iter()
            .filter(|tool| &*tool.outcome != "ok")
            .count();
        if report.value.title == "A day" && failed == 0 {
            Ok(())
        } else {
            Err(format!("{outcomes:?}"))
        }
    })
    .await;
}
