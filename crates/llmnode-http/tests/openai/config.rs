//! A configuration of async-openai.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use http::HeaderMap;
use llmnode_http::OpenAi;
use llmnode_http::async_openai::config::{AzureConfig, Config, OpenAIConfig};
use llmnode_http::async_openai::error::WrappedError;
use llmnode_http::async_openai::types::chat::CreateChatCompletionResponse;
use llmnode_runtime::{Category, Run, TestClock};
use llmnode_stub::StubReply;
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::settings::passes_alone;
use crate::sinks::{self, Log};
use crate::support::{CANARY, Greet, ask, server};

/// Gives a new token each time, and says how often it was asked for its URL and its headers.
#[derive(Clone)]
struct Rotating {
    base_url: String,
    asked: Arc<(AtomicU32, AtomicU32)>,
    key: SecretString,
}

impl Rotating {
    fn new(base_url: impl Into<String>) -> Self {
        Rotating {
            base_url: base_url.into(),
            asked: Arc::default(),
            key: "".into(),
        }
    }

    /// How often URL and headers were read.
    fn read(&self) -> (u32, u32) {
        (
            self.asked.0.load(Ordering::Relaxed),
            self.asked.1.load(Ordering::Relaxed),
        )
    }
}

impl Config for Rotating {
    fn headers(&self) -> HeaderMap {
        let token = self.asked.1.fetch_add(1, Ordering::Relaxed);
        let value = |text: String| text.parse().unwrap();
        HeaderMap::from_iter([
            (
                "authorization".parse().unwrap(),
                value(format!("Bearer canary-token-{token}")),
            ),
            ("x-tenant".parse().unwrap(), value("acme".to_owned())),
            ("user-agent".parse().unwrap(), value("rotating".to_owned())),
        ])
    }

    fn url(&self, path: &str) -> String {
        self.asked.0.fetch_add(1, Ordering::Relaxed);
        format!("{}{path}", self.base_url)
    }

    fn query(&self) -> Vec<(&str, &str)> {
        vec![("tenant", "a & b")]
    }

    fn api_base(&self) -> &str {
        &self.base_url
    }

    fn api_key(&self) -> &SecretString {
        &self.key
    }
}

fn openai(base_url: &str) -> OpenAIConfig {
    OpenAIConfig::new()
        .with_api_base(base_url)
        .with_api_key(CANARY)
}

#[tokio::test]
async fn openais_own() {
    let server = server([]).await;
    let config = openai(&server.base_url())
        .with_org_id("org-1")
        .with_project_id("proj-1");
    let config = config.with_header("x-own", "yes").unwrap();
    let model = OpenAi::builder().config(config).model("m").build().unwrap();
    assert_eq!(ask(&model).await.unwrap().model.as_deref(), Some("m"));
    let sent = server.requests().remove(0);
    assert_eq!(sent.path(), "/v1/chat/completions");
    for (name, value) in [
        ("authorization", format!("Bearer {CANARY}").as_str()),
        ("openai-organization", "org-1"),
        ("openai-project", "proj-1"),
        ("x-own", "yes"),
        ("content-type", "application/json"),
    ] {
        assert_eq!(sent.header(name), Some(value), "{name}");
    }
}

#[tokio::test]
async fn azures() {
    let server = server([]).await;
    let config = AzureConfig::new()
        .with_api_base(format!("http://{}", server.address()))
        .with_deployment_id("my-gpt")
        .with_api_version("2024-10-21")
        .with_api_key(CANARY);
    let model = OpenAi::builder()
        .config(config)
        .model("my-gpt")
        .build()
        .unwrap();
    let _ = ask(&model).await;
    let sent = server.requests().remove(0);
    assert_eq!(
        sent.path(),
        "/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21"
    );
    assert_eq!(
        (sent.header("api-key"), sent.header("authorization")),
        (Some(CANARY), None)
    );
}

#[tokio::test]
async fn headers_are_read_for_each_request_and_the_url_once() {
    let server = server([
        StubReply::error(503, "server_error", (), "busy").retry_after(2),
        StubReply::text("hi"),
    ])
    .await;
    let config = Rotating::new(server.base_url());
    let model = OpenAi::builder()
        .config(config.clone())
        .model("m")
        .build()
        .unwrap();
    assert_eq!(config.read(), (1, 0));
    let run = Run::new(model).with_clock(TestClock::new());
    let report = run.call(&Greet).report().await.unwrap();
    assert_eq!(config.read(), (1, 2));
    let sent = server.requests();
    let headers: Vec<_> = sent
        .iter()
        .map(|request| request.header("authorization").unwrap())
        .collect();
    assert_eq!(headers, ["Bearer canary-token-0", "Bearer canary-token-1"]);
    assert_eq!(sent[1].path(), "/v1/chat/completions?tenant=a+%26+b");
    assert_eq!(
        (sent[1].header("x-tenant"), sent[1].header("user-agent")),
        (Some("acme"), Some("rotating"))
    );
    // Status, wait and ids are those of our own service.
    let failed = &report.record.attempts[0];
    assert_eq!(
        (failed.category, failed.status),
        (Some(Category::ServerError), Some(503))
    );
    assert_eq!(failed.retry_after.map(|wait| wait.as_secs()), Some(2));
    assert_eq!(
        sent[1].header("x-client-request-id"),
        Some(report.record.attempts[1].id.to_string().as_str())
    );
}

/// What a request was sent with is in no text about it, although the next one is sent with something else.
#[tokio::test]
async fn a_secret_of_one_request_is_in_no_text() {
    passes_alone(
        "config::shows_no_secret_of_one_request",
        &[("LLMNODE_TEST_ALONE", "1")],
    )
    .await;
}

#[tokio::test]
#[ignore = "a part of the test above"]
async fn shows_no_secret_of_one_request() {
    if std::env::var_os("LLMNODE_TEST_ALONE").is_none() {
        return;
    }
    let log = Log::install().unwrap();
    let echo = format!("Incorrect token canary-token-0, {CANARY}");
    let replies = [
        StubReply::error(401, "authentication_error", (), &echo),
        StubReply::raw(200, format!("<html>{echo}</html>")),
        StubReply::text("")
            .finish_reason(format!("odd {echo}"))
            .header("x-request-id", echo.clone()),
    ];
    for reply in replies {
        let server = server([reply]).await;
        let config = Rotating {
            key: CANARY.into(),
            ..Rotating::new(server.base_url())
        };
        let builder = OpenAi::builder().config(config).model("m");
        let mut texts = vec![format!("{builder:?}")];
        let model = builder.build().unwrap();
        texts.push(format!("{model:?}"));
        let run = Run::new(model).with_clock(TestClock::new());
        let error = run.call(&Greet).await.unwrap_err();
        texts.extend([
            error.to_string(),
            format!("{error:?}"),
            run.ledger().to_json().to_string(),
        ]);
        assert_eq!(sinks::leaks(texts.clone(), &["canary"]), 0, "{texts:#?}");
        assert!(
            server.requests()[0]
                .header("authorization")
                .unwrap()
                .contains("canary-token-0")
        );
    }
    // The log is that of HTTP, too.
    assert!(log.text().contains("connected to"), "{}", log.text());
    assert_eq!(sinks::leaks([log.text()], &["canary"]), 0, "{}", log.text());
}

#[tokio::test]
async fn what_is_set_afterwards_replaces_it() {
    let (first, second) = (server([]).await, server([]).await);
    let config = openai(&first.base_url());
    let model = OpenAi::builder()
        .base_url("http://models.example")
        .api_key("gone")
        .config(config.clone());
    ask(&model.model("m").build().unwrap()).await.unwrap();
    assert_eq!(
        first.requests()[0].header("authorization"),
        Some(format!("Bearer {CANARY}").as_str())
    );
    let model = OpenAi::builder()
        .config(config)
        .base_url(second.base_url())
        .api_key("key-2")
        .model("m");
    ask(&model.header("user-agent", "mine").build().unwrap())
        .await
        .unwrap();
    let sent = second.requests().remove(0);
    assert_eq!(
        (sent.header("authorization"), sent.header("user-agent")),
        (Some("Bearer key-2"), Some("mine"))
    );
    assert_eq!(first.requests_seen(), 1);
}

#[tokio::test]
async fn a_key_that_could_be_read_on_the_way_is_not_sent() {
    let model = OpenAi::builder()
        .config(openai("http://models.invalid/v1"))
        .model("m");
    let error = ask(&model.clone().build().unwrap()).await.unwrap_err();
    assert_eq!(error.category, Category::ConfigError);
    assert!(
        error.message.contains("plain http") && !error.message.contains("canary"),
        "{error}"
    );
    let error = ask(&model.allow_plain_http().build().unwrap())
        .await
        .unwrap_err();
    assert_eq!(error.category, Category::Network, "{error}");
}

#[tokio::test]
async fn what_a_configuration_cannot_give_is_an_error_of_the_call() {
    let server = server([]).await;
    let broken = openai(&server.base_url()).with_api_key("sk-canary\n");
    let framing = openai(&server.base_url())
        .with_header("host", "elsewhere.example")
        .unwrap();
    for (config, why) in [(broken, "`config` panicked"), (framing, "leave it out")] {
        let error = ask(&OpenAi::builder().config(config).model("m").build().unwrap())
            .await
            .unwrap_err();
        assert_eq!(error.category, Category::ConfigError);
        assert!(
            error.message.contains(why) && !error.message.contains("canary"),
            "{error}"
        );
    }
    assert_eq!(server.requests_seen(), 0);
    for base_url in ["models.example/v1", "ftp://models.example"] {
        let error = OpenAi::builder()
            .config(openai(base_url))
            .build()
            .unwrap_err();
        assert_eq!(error.category, Category::ConfigError);
        assert!(error.message.contains("the URL of `config`"), "{error}");
    }
}

#[tokio::test]
async fn a_refused_key_is_the_configurations() {
    let server = server([StubReply::error(
        401,
        "authentication_error",
        (),
        "Invalid API Key",
    )])
    .await;
    let model = OpenAi::builder()
        .config(openai(&server.base_url()))
        .model("m")
        .build()
        .unwrap();
    let error = ask(&model).await.unwrap_err();
    assert!(
        error.message.contains("check the key that `config` gives"),
        "{error}"
    );
}

/// What async-openai's own client would make of the same bytes: the page on endpoints has these figures.
#[tokio::test]
async fn what_its_own_types_lose() {
    let rows = include_str!("../../src/http/errors.jsonl").lines();
    let rows = rows.map(|row| serde_json::from_str::<Value>(row).unwrap());
    let refusals: Vec<Value> = rows
        .filter(|row| {
            row["status"]
                .as_u64()
                .is_some_and(|status| (400..500).contains(&status))
        })
        .collect();
    // As its client reads a 4xx: what does not parse has neither status nor code left.
    let is_lost = |row: &&Value| match &row["body"] {
        Value::String(text) => serde_json::from_str::<WrappedError>(text).is_err(),
        body => serde_json::from_value::<WrappedError>(body.clone()).is_err(),
    };
    let lost = refusals.iter().filter(is_lost).count();

    let odd = odd_answers();
    for answer in &odd {
        let typed = serde_json::from_value::<CreateChatCompletionResponse>(answer.clone());
        assert!(typed.is_err(), "{answer}");
        let server = server([StubReply::raw(200, answer.to_string())]).await;
        let model = OpenAi::builder()
            .config(openai(&server.base_url()))
            .model("m")
            .build()
            .unwrap();
        assert_eq!(ask(&model).await.unwrap().text, "paid for", "{answer}");
    }
    let page = include_str!("../../../../docs/endpoints.md");
    for figure in [
        format!("{lost} of {}", refusals.len()),
        format!("{} answers", odd.len()),
    ] {
        assert!(page.contains(&figure), "{figure}");
    }
}

/// Answers as servers give them, each with one thing that OpenAI's does not have.
fn odd_answers() -> Vec<Value> {
    let usual = || {
        json!({"id": "r", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "finish_reason": "stop",
                "message": {"role": "assistant", "content": "paid for"}}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}})
    };
    let odd = [
        ("/choices/0/finish_reason", json!("eos")),
        ("/choices/0/finish_reason", json!("end_turn")),
        ("/choices/0/finish_reason", json!("STOP")),
        ("/choices/0/finish_reason", json!("")),
        (
            "/choices/0/message/content",
            json!([{"type": "text", "text": "paid for"}]),
        ),
        ("/choices/0/index", json!(null)),
        ("/created", json!(1_700_000_000_000_u64)),
        ("/created", json!(1.5)),
        ("/created", json!(null)),
        ("/id", json!(null)),
        ("/model", json!(null)),
        ("/usage/prompt_tokens", json!(10.0)),
        ("/usage/total_tokens", json!(null)),
        ("/usage/completion_tokens", json!(-1)),
    ];
    let changed = odd.into_iter().map(|(at, value)| {
        let mut answer = usual();
        *answer.pointer_mut(at).unwrap() = value;
        answer
    });
    let mut tier = usual();
    tier["service_tier"] = json!("on_demand");
    changed.chain([tier]).collect()
}
