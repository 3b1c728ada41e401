//! By which of OpenAI's APIs a request goes: the user's choice, the host, the request, what was learned.

use std::path::PathBuf;

use llmnode::journal::JournalFile;
use llmnode::media::Audio;
use llmnode::prelude::*;
use llmnode::{
    ApiKind, Approval, Cassette, CassetteMode, Category, Flag, OpenAi, OpenAiBuilder, Reasoning,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::apis::{Api, call, text};
use crate::recorded::{Answer, Asked, Recorded};

#[llm_node(prompt = "Greet.", transport_retries = 0)]
struct Greet;

/// Says how much of it is in stock.
#[tool]
fn stock(item: String) -> usize {
    item.len()
}

/// Sells one.
#[tool(require_approval)]
fn sell(item: String) -> String {
    format!("{item} is sold")
}

/// Keeps a shop.
#[llm_node(system = "You keep a shop.", prompt = "What is there?", tools = [Stock, Sell], turns = 4, transport_retries = 0)]
struct Keep;

fn by_responses(asked: &Asked) -> bool {
    asked
        .head
        .lines()
        .next()
        .unwrap_or_default()
        .contains("/responses")
}

fn greets(asked: &Asked) -> Answer {
    let api = if by_responses(asked) {
        Api::Responses
    } else {
        Api::Chat
    };
    api.answer(asked, &text("Hello."))
}

fn refusal(status: u16, message: &str) -> Answer {
    let error = json!({"error": {"message": message, "type": "invalid_request_error", "param": null, "code": null}});
    (status, "application/json", error.to_string())
}

/// A server behind a proxy, so that it stands in for any host.
fn at(host: &str, server: &Recorded) -> OpenAiBuilder {
    let builder = OpenAi::builder()
        .base_url(format!("http://{host}/v1"))
        .api_key("k-1")
        .model("m");
    builder.proxy(server.url.clone()).allow_plain_http()
}

fn ways(server: &Recorded) -> Vec<&'static str> {
    server
        .asked()
        .iter()
        .map(|asked| {
            if by_responses(asked) {
                "responses"
            } else {
                "chat"
            }
        })
        .collect()
}

#[tokio::test]
async fn the_host_decides_where_nobody_chose() {
    for (host, way) in [
        ("api.openai.com", "responses"),
        ("eu.api.openai.com", "responses"),
        ("api.openai.com.example.com", "chat"),
        ("notapi.openai.com", "chat"),
        ("models.example.com", "chat"),
    ] {
        let server = Recorded::answering(greets).await;
        let model = at(host, &server).build().unwrap();
        let shown = format!("{model:?}");
        assert!(
            shown.contains(&format!("api: {way}")) && shown.contains(host),
            "{shown}"
        );
        let run = Run::new(model);
        let report = run.call(&Greet).report().await.unwrap();
        assert_eq!(ways(&server), [way], "{host}");
        let api = if way == "chat" {
            ApiKind::Chat
        } else {
            ApiKind::Responses
        };
        assert_eq!(report.record.attempts[0].api, Some(api), "{host}");
        assert!(
            run.ledger()
                .to_json()
                .to_string()
                .contains(&format!(r#""api":"{way}""#))
        );
    }
}

#[tokio::test]
async fn a_choice_always_counts() {
    let server = Recorded::answering(greets).await;
    let openai = || at("api.openai.com", &server);
    let other = || at("models.example.com", &server);
    for model in [
        openai().chat_completions().build().unwrap(),
        openai().build().unwrap().chat_completions(),
        other().responses().build().unwrap(),
        other().build().unwrap().responses(),
        openai().responses().build().unwrap().chat_completions(),
    ] {
        Run::new(model).call(&Greet).await.unwrap();
    }
    assert_eq!(
        ways(&server),
        ["chat", "chat", "responses", "responses", "chat"]
    );
    // A choice stays, whatever the server says.
    let server =
        Recorded::answering(|_| refusal(404, "This model is only supported in v1/responses."))
            .await;
    let error = Run::new(at("h.example", &server).chat_completions().build().unwrap())
        .call(&Greet)
        .await;
    assert_eq!(
        (error.unwrap_err().category(), ways(&server)),
        (Category::NotFound, vec!["chat"])
    );
    let server = Recorded::answering(|_| refusal(404, "Not Found")).await;
    let error = Run::new(at("api.openai.com", &server).responses().build().unwrap())
        .call(&Greet)
        .await;
    assert_eq!(
        (error.unwrap_err().category(), ways(&server)),
        (Category::NotFound, vec!["responses"])
    );
}

#[tokio::test]
async fn what_responses_cannot_say_goes_by_chat() {
    let server = Recorded::answering(greets).await;
    let run = Run::new(at("api.openai.com", &server).build().unwrap());
    for (field, value) in [
        ("stop", json!("x")),
        ("seed", json!(1)),
        ("reasoning_effort", json!("low")),
        ("modalities", json!(["text"])),
        ("verbosity", json!("low")),
    ] {
        run.call(&Greet).extra(field, value).await.unwrap();
    }
    run.call(&Greet)
        .extra("metadata", json!({"a": "b"}))
        .await
        .unwrap();
    run.call(&Listen {
        heard: Audio::bytes("audio/wav", b"RIFF....WAVEfmt ").unwrap(),
    })
    .await
    .unwrap();
    run.call(&Greet).await.unwrap();
    assert_eq!(
        ways(&server),
        [
            "chat",
            "chat",
            "chat",
            "chat",
            "chat",
            "responses",
            "chat",
            "responses"
        ]
    );
}

#[llm_node(prompt = "What is said?{heard:attach}", transport_retries = 0)]
struct Listen {
    heard: Audio,
}

const TOOLS: &str = "Function tools with reasoning_effort are not supported for m in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.";

fn has_tools(asked: &Asked) -> bool {
    asked.body.get("tools").is_some()
}

#[tokio::test]
async fn a_model_that_takes_tools_by_responses_is_asked_so_with_tools() {
    let server = Recorded::answering(|asked| match has_tools(asked) && !by_responses(asked) {
        true => refusal(400, TOOLS),
        false => greets(asked),
    })
    .await;
    let model = OpenAi::builder()
        .base_url(&server.url)
        .model("m")
        .build()
        .unwrap();
    let run = Run::new(model.clone());
    run.call(&Keep).await.unwrap();
    run.call(&Keep).await.unwrap();
    // Of the effort without tools, it says nothing.
    run.call(&Greet).reasoning(Reasoning::High).await.unwrap();
    assert_eq!(ways(&server), ["chat", "responses", "responses", "chat"]);
    assert_eq!(server.bodies()[3]["reasoning_effort"], "high");
    assert!(
        format!("{model:?}").contains(r#"learned: {"m": "responses"}"#),
        "{model:?}"
    );
    // A 404 is about the model, not about tools.
    let server = Recorded::answering(|asked| match by_responses(asked) {
        true => greets(asked),
        false => refusal(
            404,
            "This model is only supported in v1/responses and not in v1/chat/completions.",
        ),
    })
    .await;
    let run = Run::new(
        OpenAi::builder()
            .base_url(&server.url)
            .model("m")
            .build()
            .unwrap(),
    );
    run.call(&Keep).await.unwrap();
    run.call(&Greet).await.unwrap();
    assert_eq!(ways(&server), ["chat", "responses", "responses"]);
}

#[tokio::test]
async fn without_responses_tools_go_by_chat_without_thoughts() {
    let refuses = |asked: &Asked| match (
        by_responses(asked),
        asked.body["reasoning_effort"] == "none",
    ) {
        (true, _) => refusal(404, "Not Found"),
        (false, false) if has_tools(asked) => refusal(400, TOOLS),
        (false, _) => greets(asked),
    };
    let server = Recorded::answering(refuses).await;
    let run = Run::new(
        OpenAi::builder()
            .base_url(&server.url)
            .model("m")
            .build()
            .unwrap(),
    );
    let report = run.call(&Keep).report().await.unwrap();
    assert_eq!(ways(&server), ["chat", "responses", "chat"]);
    assert_eq!(report.record.attempts[2].refused, ["reasoning"]);
    run.call(&Keep).await.unwrap();
    assert_eq!(
        (ways(&server).len(), &server.bodies()[3]["reasoning_effort"]),
        (4, &json!("none"))
    );
    // By the user's choice: chat, without a detour.
    let server = Recorded::answering(refuses).await;
    let model = OpenAi::builder()
        .base_url(&server.url)
        .model("m")
        .chat_completions()
        .build()
        .unwrap();
    Run::new(model).call(&Keep).await.unwrap();
    assert_eq!(ways(&server), ["chat", "chat"]);
    // Nothing is left.
    let server = Recorded::answering(|asked| match by_responses(asked) {
        true => refusal(405, "Method Not Allowed"),
        false => refusal(400, TOOLS),
    })
    .await;
    let run = Run::new(
        OpenAi::builder()
            .base_url(&server.url)
            .model("m")
            .build()
            .unwrap(),
    );
    let error = run.call(&Keep).await.unwrap_err();
    assert_eq!(
        (error.category(), ways(&server)),
        (Category::BadRequest, vec!["chat", "responses", "chat"])
    );
    assert!(
        error.message().contains("To use function tools")
            && error.message().contains("`.responses()`"),
        "{error}"
    );
}

#[tokio::test]
async fn at_openais_host_what_responses_refuses_goes_by_chat() {
    for (status, message) in [
        (404, "Not Found"),
        (405, "Method Not Allowed"),
        (
            403,
            "You have insufficient permissions for this operation. Missing scopes: api.responses.write.",
        ),
        (401, "Missing scopes: api.responses.write"),
        (
            400,
            "This model is not supported in the v1/responses endpoint. Did you mean to use v1/chat/completions?",
        ),
    ] {
        let server = Recorded::answering(move |asked| match by_responses(asked) {
            true => refusal(status, message),
            false => greets(asked),
        })
        .await;
        let run = Run::new(at("api.openai.com", &server).build().unwrap());
        run.call(&Greet).await.unwrap();
        run.call(&Greet).await.unwrap();
        assert_eq!(ways(&server), ["responses", "chat", "chat"], "{message}");
    }
    // A model that is missing, and a key that is wrong, are missing and wrong by any API.
    for (status, message, category) in [
        (
            404,
            "The model `m` does not exist or you do not have access to it.",
            Category::NotFound,
        ),
        (401, "Incorrect API key provided", Category::ApiKeyError),
    ] {
        let server = Recorded::answering(move |_| refusal(status, message)).await;
        let error = Run::new(at("api.openai.com", &server).build().unwrap())
            .call(&Greet)
            .await
            .unwrap_err();
        assert_eq!(
            (error.category(), ways(&server)),
            (category, vec!["responses"]),
            "{message}"
        );
    }
}

/// Chat calls a tool; from the second turn on, the model is only asked by Responses.
fn changes(asked: &Asked) -> Answer {
    let turns = asked.body["messages"].as_array().map_or(0, Vec::len);
    match (by_responses(asked), turns) {
        (true, _) => Api::Responses.answer(asked, &text("Three.")),
        (false, ..=2) => Api::Chat.answer(asked, &call("call_1", "stock", json!({"item": "pen"}))),
        (false, _) => refusal(400, TOOLS),
    }
}

/// Responses calls a tool; from the second turn on, the model is only asked by chat.
fn changes_back(asked: &Asked) -> Answer {
    let items = asked.body["input"].as_array().map_or(0, Vec::len);
    match (by_responses(asked), items) {
        (true, ..=1) => {
            Api::Responses.answer(asked, &call("call_1", "stock", json!({"item": "pen"})))
        }
        (true, _) => refusal(
            400,
            "Not supported in v1/responses. Did you mean to use v1/chat/completions?",
        ),
        (false, _) => Api::Chat.answer(asked, &text("Three.")),
    }
}

async fn keep(run: &Run<()>, streamed: bool) -> llmnode::CallReport<String> {
    let call = run.call(&Keep);
    if streamed {
        call.stream().report().await
    } else {
        call.report().await
    }
    .unwrap()
}

/// From Responses to chat, plain, streamed and from a cassette.
#[tokio::test]
async fn a_conversation_goes_back_to_chat() {
    for streamed in [false, true] {
        let name = format!("switch-back-{streamed}-{}.json", std::process::id());
        let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_file(&file);
        let server = Recorded::answering(changes_back).await;
        let builder = at("api.openai.com", &server);
        let recorder = Cassette::open(&file)
            .mode(CassetteMode::Record)
            .around(move || builder.build())
            .unwrap();
        let report = keep(&Run::new(recorder), streamed).await;
        assert_eq!(ways(&server), ["responses", "responses", "chat"]);
        let last = report.record.attempts.last().unwrap();
        assert_eq!(
            (last.api, &last.flags),
            (Some(ApiKind::Chat), &vec![Flag::CarriedLeft])
        );
        let body = &server.bodies()[2];
        let roles: Vec<_> = Api::Chat
            .conversation(body)
            .iter()
            .map(|message| &message["role"])
            .collect();
        assert_eq!(roles, ["system", "user", "assistant", "tool"]);
        assert_eq!(
            Api::Chat.calls(body),
            [("call_1".to_owned(), "stock".to_owned())]
        );
        assert_eq!(
            Api::Chat.results(body),
            [("call_1".to_owned(), "3".to_owned())]
        );
        assert!(
            !body.to_string().contains("encrypted"),
            "what Responses carried stays with Responses"
        );
        let nowhere = || -> Result<OpenAi, _> { panic!("no model is needed") };
        let replayed = keep(
            &Run::new(Cassette::open(&file).around(nowhere).unwrap()),
            streamed,
        )
        .await;
        assert_eq!(
            (replayed.value, replayed.messages),
            (report.value, report.messages)
        );
        std::fs::remove_file(&file).unwrap();
    }
}

/// Keeps a shop, and remembers what was said.
#[llm_node(system = "You keep a shop.", prompt = "What is there?", tools = [Stock], turns = 4, transport_retries = 0)]
struct Remember {
    #[node(history)]
    history: Vec<Message>,
}

async fn remember(
    run: &Run<()>,
    history: Vec<Message>,
    streamed: bool,
) -> llmnode::CallReport<String> {
    let node = Remember { history };
    let call = run.call(&node);
    if streamed {
        call.stream().report().await
    } else {
        call.report().await
    }
    .unwrap()
}

/// A conversation of several calls goes there and back, and nothing of it is lost.
#[tokio::test]
async fn a_history_goes_there_and_back() {
    for streamed in [false, true] {
        let server = Recorded::answering(|asked| {
            let api = if by_responses(asked) {
                Api::Responses
            } else {
                Api::Chat
            };
            match asked.body.to_string().contains("call_1") {
                true => api.answer(asked, &text("Three.")),
                false => api.answer(asked, &call("call_1", "stock", json!({"item": "pen"}))),
            }
        })
        .await;
        let model = || OpenAi::builder().base_url(&server.url).model("m");
        let chat = Run::new(model().chat_completions().build().unwrap());
        let responses = Run::new(model().responses().build().unwrap());
        for [first, second] in [[&chat, &responses], [&responses, &chat]] {
            let begun = remember(first, Vec::new(), streamed).await;
            let report = remember(second, begun.history().unwrap(), streamed).await;
            assert_eq!(report.record.attempts[0].flags, [Flag::CarriedLeft]);
            let back = remember(first, report.history().unwrap(), streamed).await;
            assert_eq!(
                back.history().unwrap().len(),
                report.history().unwrap().len() + 2
            );
            let body = server.bodies().pop().unwrap();
            let api = if body.get("input").is_some() {
                Api::Responses
            } else {
                Api::Chat
            };
            assert_eq!(api.calls(&body).len(), 1, "{body}");
            assert_eq!(
                api.results(&body),
                [("call_1".to_owned(), "3".to_owned())],
                "{body}"
            );
        }
    }
}

#[tokio::test]
async fn a_pause_goes_back_to_chat() {
    let sells = |asked: &Asked| {
        Api::Responses.answer(asked, &call("call_1", "sell", json!({"item": "pen"})))
    };
    let server = Recorded::answering(sells).await;
    let model = |url: &str| OpenAi::builder().base_url(url).model("m");
    let begun = Run::new(model(&server.url).responses().build().unwrap());
    let paused = begun.call(&Keep).await.unwrap_err().paused().unwrap();
    let decided = paused.decide("call_1", Approval::yes()).unwrap();
    let server = Recorded::answering(|asked| Api::Chat.answer(asked, &text("Sold."))).await;
    let run = Run::new(model(&server.url).chat_completions().build().unwrap());
    let report = run.call(&Keep).approve(decided).report().await.unwrap();
    assert_eq!(
        (report.value.as_str(), &report.record.attempts[0].flags[..]),
        ("Sold.", &[Flag::CarriedLeft][..])
    );
    let body = server.bodies().remove(0);
    assert_eq!(
        Api::Chat.results(&body),
        [("call_1".to_owned(), "pen is sold".to_owned())]
    );
}

#[tokio::test]
async fn a_journal_goes_back_to_chat() {
    let name = format!("switch-back-{}.journal", std::process::id());
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_file(&file);
    let model = |url: &str| OpenAi::builder().base_url(url).model("m");
    let begins = |asked: &Asked| match asked.body["input"].as_array().map_or(0, Vec::len) {
        ..=1 => Api::Responses.answer(asked, &call("call_1", "stock", json!({"item": "pen"}))),
        _ => refusal(400, "out of order"),
    };
    let server = Recorded::answering(begins).await;
    let mut run =
        Run::new(model(&server.url).responses().build().unwrap()).with_state(Shop::default());
    run.flow(Counting)
        .resume(JournalFile::open(&file).unwrap())
        .await
        .unwrap_err();
    assert_eq!(server.bodies().len(), 2);

    let server = Recorded::answering(|asked| Api::Chat.answer(asked, &text("Three."))).await;
    let mut run = Run::new(model(&server.url).chat_completions().build().unwrap())
        .with_state(Shop::default());
    run.flow(Counting)
        .resume(JournalFile::open(&file).unwrap())
        .await
        .unwrap();
    assert_eq!(run.state().said, "Three.");
    let [body] = &server.bodies()[..] else {
        panic!("the first turn stands in the journal")
    };
    assert_eq!(
        Api::Chat.results(body),
        [("call_1".to_owned(), "3".to_owned())],
        "{body}"
    );
    std::fs::remove_file(&file).unwrap();
}

#[tokio::test]
async fn a_conversation_goes_on_by_another_api() {
    for streamed in [false, true] {
        let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("switch-{}.json", std::process::id()));
        let _ = std::fs::remove_file(&file);
        let server = Recorded::answering(changes).await;
        let url = server.url.clone();
        let open = move || OpenAi::builder().base_url(url).model("m").build();
        let recorder = Cassette::open(&file)
            .mode(CassetteMode::Record)
            .around(open)
            .unwrap();
        let run = Run::new(recorder);
        let ask = |run: &Run<()>| {
            let run = run.clone();
            async move {
                let call = run.call(&Keep);
                if streamed {
                    call.stream().report().await
                } else {
                    call.report().await
                }
                .unwrap()
            }
        };
        let report = ask(&run).await;
        assert_eq!(
            (report.value.as_str(), ways(&server)),
            ("Three.", vec!["chat", "chat", "responses"])
        );
        let last = report.record.attempts.last().unwrap();
        assert_eq!(
            (last.api, &last.flags),
            (Some(ApiKind::Responses), &vec![Flag::CarriedLeft])
        );
        let input: Vec<Value> = server.bodies()[2]["input"].as_array().unwrap().clone();
        let kinds: Vec<_> = input
            .iter()
            .map(|item| item["type"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(kinds, ["message", "function_call", "function_call_output"]);
        assert!(
            !server.bodies()[2].to_string().contains("Hm."),
            "what chat carried stays with chat"
        );
        // The cassette knows the request of the model, whichever API carried it.
        let nowhere = || -> Result<OpenAi, _> { panic!("no model is needed") };
        let replayed = ask(&Run::new(Cassette::open(&file).around(nowhere).unwrap())).await;
        assert_eq!(
            (replayed.value, replayed.messages),
            (report.value, report.messages)
        );
        let _ = std::fs::remove_file(&file);
    }
}

#[tokio::test]
async fn a_pause_goes_on_by_another_api() {
    let sells =
        |asked: &Asked| Api::Chat.answer(asked, &call("call_1", "sell", json!({"item": "pen"})));
    let server = Recorded::answering(sells).await;
    let model = |url: &str| OpenAi::builder().base_url(url).model("m").build().unwrap();
    let paused = Run::new(model(&server.url))
        .call(&Keep)
        .await
        .unwrap_err()
        .paused()
        .unwrap();
    let decided = paused.decide("call_1", Approval::yes()).unwrap();
    let server = Recorded::answering(|asked| Api::Responses.answer(asked, &text("Sold."))).await;
    let run = Run::new(model(&server.url).responses());
    let report = run.call(&Keep).approve(decided).report().await.unwrap();
    assert_eq!(report.value, "Sold.");
    assert_eq!(report.record.attempts[0].flags, [Flag::CarriedLeft]);
    let body = server.bodies().remove(0);
    assert_eq!(body["input"][2]["output"], "pen is sold", "{body}");
}

#[derive(Default, Serialize, Deserialize)]
struct Shop {
    said: String,
}

#[llm_node(prompt = "What is there?", state = Shop, tools = [Stock], store = said)]
struct Count {}

flow! { Counting(Shop): Count => end }

#[tokio::test]
async fn a_journal_goes_on_by_another_api() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("switch-{}.journal", std::process::id()));
    let _ = std::fs::remove_file(&file);
    let model = |url: &str| OpenAi::builder().base_url(url).model("m");
    let begins = |asked: &Asked| match asked.body["messages"].as_array().map_or(0, Vec::len) {
        ..=2 => Api::Chat.answer(asked, &call("call_1", "stock", json!({"item": "pen"}))),
        _ => refusal(400, "out of order"),
    };
    let server = Recorded::answering(begins).await;
    let mut run = Run::new(model(&server.url).build().unwrap()).with_state(Shop::default());
    run.flow(Counting)
        .resume(JournalFile::open(&file).unwrap())
        .await
        .unwrap_err();

    let server = Recorded::answering(|asked| Api::Responses.answer(asked, &text("Three."))).await;
    let mut run =
        Run::new(model(&server.url).responses().build().unwrap()).with_state(Shop::default());
    run.flow(Counting)
        .resume(JournalFile::open(&file).unwrap())
        .await
        .unwrap();
    assert_eq!(run.state().said, "Three.");
    let [body] = &server.bodies()[..] else {
        panic!("the first turn stands in the journal")
    };
    assert_eq!(
        (&body["input"][1]["name"], &body["input"][2]["output"]),
        (&json!("stock"), &json!("3")),
        "{body}"
    );
    std::fs::remove_file(&file).unwrap();
}

#[tokio::test]
async fn azure_has_responses_beside_its_deployments() {
    for (version, path) in [
        (
            "2025-04-01-preview",
            "/openai/responses?api-version=2025-04-01-preview",
        ),
        ("2024-10-21", "/openai/v1/responses"),
    ] {
        let server = Recorded::answering(greets).await;
        let model = OpenAi::azure(&server.url, "dep", version)
            .api_key("k-1")
            .responses()
            .build()
            .unwrap();
        Run::new(model).call(&Greet).await.unwrap();
        let asked = server.asked().remove(0);
        assert_eq!(
            asked.head.lines().next(),
            Some(&*format!("POST {path} HTTP/1.1"))
        );
        assert_eq!(asked.body["model"], "dep");
        // Without a choice: chat by deployment, then what its refusal names.
        let server = Recorded::answering(|asked| match by_responses(asked) {
            true => greets(asked),
            false => refusal(
                400,
                "Function tools are not supported. Please use /v1/responses instead.",
            ),
        })
        .await;
        let model = OpenAi::azure(&server.url, "dep", version)
            .api_key("k-1")
            .build()
            .unwrap();
        Run::new(model).call(&Keep).await.unwrap();
        let paths: Vec<_> = server
            .asked()
            .iter()
            .map(|asked| asked.head.lines().next().unwrap().to_owned())
            .collect();
        assert_eq!(paths[1], format!("POST {path} HTTP/1.1"));
    }
}
