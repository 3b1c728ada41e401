//! What is sent, and what comes back when all goes well.

use llmnode_runtime::{
    Category, ChatModel, FinishReason, Message, OutputSchema, Request, Role, Run,
};
use llmnode_stub::{StubReply, StubServer};
use serde_json::json;

use crate::support::{CANARY, Greet, Seen, ask, builder, model, sends, server};

#[tokio::test]
async fn one_call_is_one_request_of_this_form() {
    let server = server([StubReply::text("Hello, Ada!").usage(12, 3)]).await;
    let model = builder(&server.base_url())
        .api_key(CANARY)
        .organization("org-1")
        .project("proj-1")
        .header("x-team", "blue")
        .build()
        .unwrap();
    let messages = vec![
        Message::new(Role::System, "Be kind."),
        Message::new(Role::User, "I am \"Ada\"\n{x}"),
    ];
    let mut request = Request::new(messages);
    request.temperature = Some(0.5);
    request.max_tokens = Some(20);
    request.extra.insert("seed".to_owned(), json!(7));
    let mut seen = Seen::default();
    let completion = model.complete(&request, &mut seen).await.unwrap();

    let log = server.requests();
    assert_eq!(log.len(), 1);
    assert_eq!(
        (log[0].method(), log[0].path()),
        ("POST", "/v1/chat/completions")
    );
    assert_eq!(
        log[0].header("authorization"),
        Some(format!("Bearer {CANARY}").as_str())
    );
    assert_eq!(log[0].header("content-type"), Some("application/json"));
    assert_eq!(log[0].header("openai-organization"), Some("org-1"));
    assert_eq!(log[0].header("openai-project"), Some("proj-1"));
    assert_eq!(log[0].header("x-team"), Some("blue"));
    assert!(log[0].header("user-agent").unwrap().starts_with("llmnode/"));
    assert_eq!(
        *log[0].json().unwrap(),
        json!({
            "model": "m",
            "messages": [
                {"role": "system", "content": "Be kind."},
                {"role": "user", "content": "I am \"Ada\"\n{x}"},
            ],
            "temperature": 0.5,
            "max_tokens": 20,
            "seed": 7,
        })
    );
    assert_eq!(
        (completion.text.as_str(), completion.finish),
        ("Hello, Ada!", Some(FinishReason::Stop))
    );
    let usage = completion.usage.unwrap();
    assert_eq!(
        (usage.input, usage.output, usage.total),
        (Some(12), Some(3), Some(15))
    );
    assert_eq!(completion.request_id.as_deref(), Some(log[0].request_id()));
    assert_eq!(seen.id, completion.request_id);
}

#[tokio::test]
async fn the_schema_goes_strict_and_byte_for_byte() {
    #[derive(schemars::JsonSchema)]
    #[allow(dead_code, reason = "only its schema is used")]
    struct Choice {
        item: String,
    }
    let server = server([]).await;
    let schema = OutputSchema::of::<Choice>();
    let mut request = crate::support::request();
    request.output = Some(schema.clone());
    model(&server.base_url())
        .complete(&request, &mut Seen::default())
        .await
        .unwrap();
    let strict = schema.strict().unwrap().get();
    let expected = format!(
        r#""response_format":{{"type":"json_schema","json_schema":{{"name":"Choice","schema":{strict},"strict":true}}}}"#
    );
    assert!(server.requests()[0].body().contains(&expected));
}

#[tokio::test]
async fn a_field_given_as_extra_replaces_ours() {
    let server = server([]).await;
    let mut request = crate::support::request();
    (request.temperature, request.max_tokens) = (Some(0.5), Some(20));
    request
        .extra
        .insert("max_completion_tokens".to_owned(), json!(9));
    request.extra.insert("temperature".to_owned(), json!(1));
    model(&server.base_url())
        .complete(&request, &mut Seen::default())
        .await
        .unwrap();
    let body = server.requests()[0].json().unwrap().clone();
    assert_eq!(
        (&body["temperature"], &body["max_completion_tokens"]),
        (&json!(1), &json!(9))
    );
    assert!(body.get("max_tokens").is_none());
}

#[tokio::test]
async fn what_cannot_be_asked_never_leaves() {
    let server = server([]).await;
    let nameless = llmnode_http::OpenAi::builder()
        .base_url(server.base_url())
        .build()
        .unwrap();
    let error = ask(&nameless).await.unwrap_err();
    assert_eq!((error.category, error.sent), (Category::ConfigError, false));
    assert!(error.message.contains("OPENAI_MODEL"));
    let mut request = crate::support::request();
    request.extra.insert("stream".to_owned(), json!(true));
    let error = model(&server.base_url())
        .complete(&request, &mut Seen::default())
        .await
        .unwrap_err();
    assert_eq!((error.category, error.sent), (Category::ConfigError, false));
    assert_eq!(server.requests_seen(), 0);
}

#[tokio::test]
async fn empty_answers_and_refusals_are_answers() {
    let server = server([
        StubReply::null_content(),
        StubReply::refusal("I'd rather not."),
    ])
    .await;
    let model = model(&server.base_url());
    assert_eq!(ask(&model).await.unwrap().text, "");
    assert_eq!(
        ask(&model).await.unwrap().refusal.as_deref(),
        Some("I'd rather not.")
    );
}

#[tokio::test]
async fn chunked_bodies_odd_types_and_odd_usage_are_read() {
    let body = r#"{"id":null,"created":1.5,"choices":[{"message":{"content":"hi"}}]"#;
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ntransfer-encoding: chunked";
    let chunked = format!(
        "{head}\r\n\r\n2\r\n\n\n\r\n{:x}\r\n{body}\r\n1\r\n}}\r\n0\r\n\r\n",
        body.len()
    );
    let completion = ask(&model(&sends(chunked).await)).await.unwrap();
    assert_eq!(
        (
            completion.text.as_str(),
            completion.usage,
            completion.request_id
        ),
        ("hi", None, None)
    );
    let odd =
        StubReply::text("hi").usage_json(json!({"prompt_tokens": -4, "completion_tokens": 5.0}));
    let usage = ask(&model(&server([odd]).await.base_url()))
        .await
        .unwrap()
        .usage
        .unwrap();
    assert_eq!(
        (usage.input, usage.output, usage.total),
        (None, Some(5), None)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_calls_at_once_add_up() {
    let server = StubServer::start().await.unwrap();
    let run = Run::new(model(&server.base_url()));
    let outcomes = run.map((0..300).map(|_| Greet)).concurrency(64).await;
    assert!(outcomes.iter().all(Result::is_ok));
    let (total, served) = (run.ledger().total(), server.usage_totals());
    assert_eq!(total.requests, 300);
    assert_eq!(
        (total.input.total(), total.output.total()),
        (served.input, served.output)
    );
}
