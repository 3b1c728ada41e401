//! No key in any text.

use llmnode_runtime::stub_server::Reply;
use llmnode_runtime::{OpenAi, Run, TestClock};

use crate::support::{CANARY, Greet, builder, nowhere, sends, server};

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
        Reply::error(401, "authentication_error", "invalid_api_key", &echo),
        Reply::error(400, "invalid_request_error", (), &echo),
        Reply::raw(500, echo.clone()),
        // Half of the key stands within what a message shows.
        Reply::raw(500, format!("{}{CANARY}", "x ".repeat(243))),
        Reply::raw(200, format!("<p>{}{CANARY}", "x ".repeat(90))),
        Reply::raw(200, format!("<html>{echo}</html>")),
        Reply::raw(200, format!("{{\"error\": \"{echo}\"}}")),
        Reply::raw(500, "oops").header("x-request-id", CANARY),
        Reply::raw(400, "what follows `Basic` is hidden-canary").header("x-request-id", "hidden-canary"),
        Reply::text("").finish_reason("content_filter").header("x-request-id", CANARY),
        Reply::refusal(echo.clone()),
        Reply::redirect(format!("http://elsewhere.invalid/?key={CANARY}")),
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
        assert_clean(record.attempts.iter().map(|attempt| attempt.message.clone()));
        assert!(server.requests()[0].header("authorization").unwrap().contains(CANARY));
    }
}

#[tokio::test]
async fn the_words_beside_an_accepted_answer_are_clean() {
    let body = serde_json::json!({
        "id": CANARY,
        "model": CANARY,
        "choices": [{ "message": { "content": "hi" }, "finish_reason": CANARY }],
    });
    let server = server([Reply::raw(200, body.to_string())]).await;
    let run = Run::new(builder(&server.base_url()).api_key(CANARY).build().unwrap());
    let report = run.call(&Greet).report().await.unwrap();
    assert!(report.record.attempts[0].finish_reason.is_some());
    assert_clean([run.ledger().to_json().to_string()]);
}

#[tokio::test]
async fn faults_below_http_show_no_query() {
    for base_url in [nowhere().await, sends("nonsense").await] {
        let model = builder(&format!("{base_url}?key={CANARY}")).build().unwrap();
        let error = Run::new(model).call(&Greet).transport_retries(0).await.unwrap_err();
        assert_clean([error.to_string(), format!("{error:?}")]);
    }
}

#[tokio::test]
async fn malformed_keys_are_named_not_shown() {
    for key in ["sk-canary\n", r"sk-canary\n", "\"sk-canary\"", "'sk-canary'", "sk canary", "", "sk-canaryé"]
    {
        let error = OpenAi::builder().api_key(key).build().unwrap_err();
        assert_eq!(error.category().as_str(), "api_key_error");
        assert!(error.message().contains("`api_key`"), "{error}");
        assert_clean([error.to_string(), format!("{error:?}")]);
    }
}
