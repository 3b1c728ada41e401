//! No key in any text.

use std::marker::PhantomData;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use llmnode_http::{OpenAi, OpenAiBuilder};
use llmnode_runtime::{
    BoxFuture, ChatModel, Completion, ModelError, NodeError, Request, Run, Settings, Sink,
    TestClock,
};
use llmnode_stub::StubReply;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::sinks::{self, Log};
use crate::support::{Ask, CANARY, Greet, builder, nowhere, sends, server};
use crate::tls::{AUTHORITY, tls_server};

fn assert_clean(texts: impl IntoIterator<Item = String>) {
    for text in texts {
        assert!(!text.contains("canary"), "{text}");
    }
}

#[tokio::test]
async fn echoes_of_keys_are_removed_everywhere() {
    let echo = format!(
        "Incorrect API key provided: {CANARY}. Headers: Authorization: Bearer {CANARY}, hidden-canary"
    );
    let replies = [
        StubReply::error(401, "authentication_error", "invalid_api_key", &echo),
        StubReply::error(400, "invalid_request_error", (), &echo),
        StubReply::raw(500, echo.clone()),
        // A message shows half of the key.
        StubReply::raw(500, format!("{}{CANARY}", "x ".repeat(243))),
        StubReply::raw(200, format!("<p>{}{CANARY}", "x ".repeat(90))),
        StubReply::raw(200, format!("<html>{echo}</html>")),
        StubReply::raw(200, format!("{{\"error\": \"{echo}\"}}")),
        StubReply::raw(500, "oops").header("x-request-id", CANARY),
        StubReply::raw(400, "what follows `Basic` is hidden-canary")
            .header("x-request-id", "hidden-canary"),
        StubReply::text("")
            .finish_reason("content_filter")
            .header("x-request-id", CANARY),
        StubReply::refusal(echo.clone()),
        StubReply::redirect(format!("http://elsewhere.invalid/?key={CANARY}")),
    ];
    for reply in replies {
        let server = server([reply.clone(), reply.clone(), reply]).await;
        let builder = builder(&format!("{}?key={CANARY}", server.base_url()))
            .api_key(CANARY)
            .header("x-secret", "Basic hidden-canary");
        assert_clean([format!("{builder:?}")]);
        let model = builder.build().unwrap();
        assert_clean([format!("{model:?}")]);
        let run = Run::new(model).with_clock(TestClock::new());
        let error = run.call(&Greet).await.unwrap_err();
        let record = error.record().unwrap();
        assert_clean([
            error.to_string(),
            format!("{error:?}"),
            format!("{error:#?}"),
            format!("{record:?}"),
            serde_json::to_string(&**record).unwrap(),
            run.ledger().to_json().to_string(),
        ]);
        assert_clean(
            record
                .attempts
                .iter()
                .map(|attempt| attempt.message.clone()),
        );
        assert!(
            server.requests()[0]
                .header("authorization")
                .unwrap()
                .contains(CANARY)
        );
    }
}

#[tokio::test]
async fn a_key_in_the_query_is_removed_encoded_or_not() {
    for (sent, echo) in [
        ("canary-0123456789%3D%3D", "canary-0123456789%3D%3D"),
        ("canary-0123456789%3D%3D", "canary-0123456789=="),
        ("canary-0123456789", "canary-0123456789"),
    ] {
        let message = format!("Route POST:/v1/chat/completions?api-key={echo} not found");
        let reply = StubReply::raw(
            404,
            serde_json::json!({"message": message, "statusCode": 404}).to_string(),
        );
        let server = server([reply]).await;
        let model = builder(&format!("{}?api-key={sent}", server.base_url()))
            .build()
            .unwrap();
        let error = Run::new(model).call(&Greet).await.unwrap_err();
        assert!(error.to_string().contains("not found"), "{error}");
        assert_clean([error.to_string(), format!("{error:?}")]);
    }
}

#[tokio::test]
async fn the_words_beside_an_accepted_answer_are_clean() {
    let body = serde_json::json!({
        "id": CANARY,
        "model": CANARY,
        "choices": [{ "message": { "content": "hi" }, "finish_reason": CANARY }],
    });
    let server = server([StubReply::raw(200, body.to_string())]).await;
    let run = Run::new(builder(&server.base_url()).api_key(CANARY).build().unwrap());
    let report = run.call(&Greet).report().await.unwrap();
    assert!(report.record.attempts[0].finish_reason.is_some());
    assert_clean([run.ledger().to_json().to_string()]);
}

/// They stand in every record, so that a server could fill the memory with them.
#[tokio::test]
async fn the_words_beside_an_answer_are_short() {
    let long = "x".repeat(100_000);
    let body = serde_json::json!({
        "id": long,
        "model": long,
        "choices": [{ "message": { "content": "hi" }, "finish_reason": long }],
    });
    let server = server([StubReply::raw(200, body.to_string())]).await;
    let run = Run::new(builder(&server.base_url()).build().unwrap());
    run.call(&Greet).await.unwrap();
    let ledger = run.ledger().to_json().to_string();
    assert!(ledger.len() < 10_000, "{}", ledger.len());
}

#[tokio::test]
async fn faults_below_http_show_no_query() {
    for base_url in [nowhere().await, sends("nonsense").await] {
        let model = builder(&format!("{base_url}?key={CANARY}"))
            .build()
            .unwrap();
        let error = Run::new(model)
            .call(&Greet)
            .transport_retries(0)
            .await
            .unwrap_err();
        assert_clean([error.to_string(), format!("{error:?}")]);
    }
}

#[tokio::test]
async fn malformed_keys_are_named_not_shown() {
    for key in [
        "sk-canary\n",
        r"sk-canary\n",
        "\"sk-canary\"",
        "'sk-canary'",
        "sk canary",
        "",
        "sk-canaryé",
    ] {
        let error = OpenAi::builder().api_key(key).build().unwrap_err();
        assert_eq!(error.category.as_str(), "api_key_error");
        assert!(error.message.contains("`api_key`"), "{error}");
        assert_clean([error.to_string(), format!("{error:?}")]);
    }
}

#[derive(Deserialize, JsonSchema)]
struct Answer {
    #[allow(dead_code, reason = "only whether it is read counts")]
    a: i64,
}

/// Keeps the `Debug` form of each request.
struct Spy(OpenAi, Arc<Mutex<Vec<String>>>);

impl ChatModel for Spy {
    fn complete<'a>(
        &'a self,
        request: &'a Request,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        self.1
            .lock()
            .unwrap()
            .push(format!("{request:?} {:?}", self.0));
        self.0.complete(request, sink)
    }
}

/// All forms in which a program can show what came of a call.
async fn shown(builder: OpenAiBuilder) -> Vec<String> {
    let builder = builder.api_key(CANARY).header("x-api-key", "hidden-canary");
    let builder = builder
        .attempt_timeout(Duration::from_millis(250))
        .connect_timeout(Duration::from_secs(5));
    let mut texts = vec![format!("{builder:?} {builder:#?}")];
    let requests = Arc::<Mutex<Vec<String>>>::default();
    let settings = Settings::new().retries(1).transport_retries(1);
    texts.push(format!("{settings:?}"));
    let model = Spy(builder.build().unwrap(), Arc::clone(&requests));
    let run = Run::new(model)
        .with_clock(TestClock::new())
        .with_settings(settings);
    let ask = Ask::<Answer>(PhantomData);
    let outcome = run.call(&ask).report().await;
    texts.extend([
        run.ledger().to_json().to_string(),
        format!("{:?}", run.ledger()),
    ]);
    let record = match outcome {
        Ok(report) => report.record,
        Err(error) => {
            let record = error.record().cloned().unwrap();
            let chain =
                std::iter::successors(Some(&error as &dyn std::error::Error), |e| (*e).source());
            texts.extend(chain.map(|error| format!("{error} {error:?} {error:#?}")));
            texts.push(error.message().to_owned());
            // What a program prints that unwraps.
            let failed = || -> Result<(), NodeError> { Err(error) };
            let unwrap = std::panic::AssertUnwindSafe(|| failed().unwrap());
            let panic = std::panic::catch_unwind(unwrap).unwrap_err();
            texts.push(panic.downcast_ref::<String>().unwrap().clone());
            record
        }
    };
    texts.extend([
        format!("{record:?} {record:#?}"),
        serde_json::to_string(&*record).unwrap(),
    ]);
    texts.extend(
        record
            .attempts
            .iter()
            .map(|attempt| format!("{} {:?}", attempt.message, attempt.violations)),
    );
    texts.extend(requests.lock().unwrap().iter().cloned());
    texts
}

/// Every kind of fault, and what HTTP, TLS and the library itself log on the way.
#[tokio::test]
async fn no_sink_shows_a_key_whatever_goes_wrong() {
    let log = Log::install().unwrap();
    log.clear();
    let echo = format!("Bearer {CANARY}, hidden-canary");
    let faults = [
        StubReply::text(r#"{"a": 7}"#),
        StubReply::text(r#"{"a": "seven"}"#),
        StubReply::text("seven").header("x-request-id", CANARY),
        StubReply::text("").finish_reason("length"),
        StubReply::text(r#"{"a": 7}"#).finish_reason(format!("odd {CANARY}")),
        StubReply::refusal(echo.clone()),
        StubReply::null_content(),
        StubReply::no_choices(),
        StubReply::html(200),
        StubReply::html(502),
        StubReply::huge(9 << 20),
        StubReply::raw(200, ""),
        StubReply::raw(200, format!("<p>{echo}")),
        StubReply::raw(200, format!("{{\"{echo}")),
        StubReply::raw(200, format!("{{\"error\": \"{echo}\"}}")),
        StubReply::raw(200, "\u{1f}\u{8b}").header("content-encoding", "gzip"),
        StubReply::raw(400, echo.clone()),
        StubReply::error(401, "authentication_error", CANARY, &echo),
        StubReply::error(402, &echo, (), &echo),
        StubReply::error(404, "not_found_error", "model_not_found", &echo),
        StubReply::error(413, "x", (), &echo),
        StubReply::error(
            422,
            "x",
            "unsupported_parameter",
            &format!("response_format: {echo}"),
        ),
        StubReply::error(429, "rate_limit_error", "rate_limit_exceeded", &echo).retry_after(1),
        StubReply::error(429, "x", (), &echo).retry_after(CANARY),
        StubReply::error(503, "server_error", (), &echo).header("x-should-retry", CANARY),
        StubReply::redirect(format!("/v1/chat/completions?key={CANARY}")),
        StubReply::redirect(format!("http://elsewhere.invalid/?key={CANARY}")),
        StubReply::redirect(format!("not a place {CANARY}")),
        StubReply::hang_up(),
        StubReply::reset(),
        StubReply::garbage(),
        StubReply::stall(),
        StubReply::text("hello").cut_short(),
        StubReply::text("hello").reset_midway(),
    ];
    let mut texts = Vec::new();
    for fault in faults {
        let server = server([fault.clone(), fault.clone(), fault.clone(), fault]).await;
        texts.extend(shown(builder(&format!("{}?key=hidden-canary", server.base_url()))).await);
        // The feedback to the model.
        texts.extend(
            server
                .requests()
                .iter()
                .map(|request| request.body().to_owned()),
        );
        assert!(
            server.requests()[0]
                .header("authorization")
                .unwrap()
                .contains(CANARY)
        );
    }
    let long = format!("https://{}.invalid/v1?key=hidden-canary", "x".repeat(64));
    for base_url in [
        nowhere().await,
        sends(format!("HTTP/1.1 {CANARY}")).await,
        long,
        tls_server(),
    ] {
        texts.extend(shown(builder(&base_url).root_certificates(AUTHORITY)).await);
    }
    let logged = log.text();
    // The log is that of HTTP and TLS, too.
    assert!(logged.contains("connected to"), "{logged}");
    assert_eq!(sinks::leaks([logged], &["canary"]), 0, "{}", log.text());
    assert_clean(texts);
}
