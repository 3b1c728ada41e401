//! Attachments over the wire.

use llmnode::stub_server::{StubReply, StubServer};
use llmnode::{
    Category, ChatModel, File, Image, Message, OpenAi, Request, Role, Run, Sink, TokenUsage,
    llm_node, llm_output,
};
use serde_json::{Value, json};

async fn server(script: impl IntoIterator<Item = StubReply>) -> StubServer {
    StubServer::builder().script(script).start().await.unwrap()
}

fn model(base_url: &str) -> OpenAi {
    OpenAi::builder()
        .base_url(base_url)
        .model("m")
        .build()
        .unwrap()
}

/// Does not look at an attempt under way.
struct Unseen;

impl Sink for Unseen {
    fn request_id(&mut self, _: &str) {}

    fn usage(&mut self, _: TokenUsage) {}
}

#[llm_output]
#[derive(Debug)]
struct Animal {
    animal: String,
}

#[llm_node(
    system = "You know animals.",
    prompt = "What is this?\n{photo:attach}\nSee also\n{notes:attach}",
    output = Animal,
    retries = 1
)]
struct Describe {
    photo: Image,
    notes: Vec<File>,
}

const BYTES: &[u8] = b"\x89PNG\r\n\x1a\nsecret-pixels";
const BASE64: &str = "iVBORw0KGgpzZWNyZXQtcGl4ZWxz";

fn describe() -> Describe {
    let notes = File::bytes("no\"tes.pdf", "application/pdf", "%PDF-secret").unwrap();
    Describe {
        photo: Image::bytes("image/png", BYTES).unwrap(),
        notes: vec![notes, File::id("file-7").unwrap()],
    }
}

fn parts() -> Value {
    json!([
        {"type": "text", "text": "What is this?\n"},
        {"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{BASE64}")}},
        {"type": "text", "text": "\nSee also\n"},
        {"type": "file", "file": {"filename": "no\"tes.pdf", "file_data": "data:application/pdf;base64,JVBERi1zZWNyZXQ="}},
        {"type": "file", "file": {"file_id": "file-7"}},
    ])
}

#[tokio::test]
async fn parts_are_sent_in_order_and_again_as_they_were() {
    let script = [
        StubReply::text("a cat"),
        StubReply::error(503, "server_error", (), "busy"),
        StubReply::text(r#"{"animal": "cat"}"#),
    ];
    let server = server(script).await;
    let run = Run::new(model(&server.base_url())).with_clock(llmnode::TestClock::new());
    assert_eq!(run.call(&describe()).await.unwrap().animal, "cat");
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    let prompt = |body: &str| body[..body.find("file-7").unwrap()].to_owned();
    for request in &requests {
        assert_eq!(
            request.json().unwrap()["messages"][0]["content"],
            "You know animals."
        );
        assert_eq!(request.json().unwrap()["messages"][1]["content"], parts());
        assert_eq!(prompt(request.body()), prompt(requests[0].body()));
    }
    assert_eq!(requests[1].body(), requests[2].body());
    // What is said around them stays a text.
    assert_eq!(
        requests[2].json().unwrap()["messages"][2]["content"],
        "a cat"
    );
}

#[tokio::test]
async fn a_model_that_sees_nothing_is_a_bad_request_in_the_providers_words() {
    let words = "Invalid content type. image_url is only supported by certain models.";
    let server = server([StubReply::error(400, "invalid_request_error", (), words)]).await;
    let run = Run::new(model(&server.base_url()));
    let error = run.call(&describe()).await.unwrap_err();
    assert_eq!(
        (error.category(), error.attempts().len()),
        (Category::BadRequest, 1)
    );
    assert!(error.message().contains(words), "{error}");
    let shown = format!(
        "{error} {error:?} {:?} {run:?} {:?}",
        error.record(),
        run.ledger().to_json()
    );
    assert!(
        !shown.contains(&BASE64[12..]) && !shown.contains("JVBERi"),
        "{shown}"
    );
}

/// For a server without schemas, the system message has it, and the parts stay.
#[tokio::test]
async fn the_schema_in_the_prompt_leaves_the_parts_alone() {
    let refuses = || {
        StubReply::for_request(|request| match request.json() {
            Some(body) if body.get("response_format").is_some() => StubReply::error(
                400,
                "invalid_request_error",
                (),
                "response_format is not supported",
            ),
            _ => StubReply::text(r#"{"animal": "cat"}"#),
        })
    };
    let server = server(std::iter::repeat_with(refuses).take(6)).await;
    Run::new(model(&server.base_url()))
        .call(&describe())
        .await
        .unwrap();
    let requests = server.requests();
    let messages = &requests.last().unwrap().json().unwrap()["messages"];
    assert!(
        messages[0]["content"]
            .as_str()
            .unwrap()
            .contains("of this form"),
        "{messages}"
    );
    // Behind the parts, the names of the answer's members.
    let mut sent = messages[1]["content"].as_array().unwrap().clone();
    let reminder = sent.pop().unwrap();
    assert_eq!(reminder["text"], "\n\nAnswer with JSON that has `animal`.");
    assert_eq!(serde_json::Value::Array(sent), parts());
}

#[tokio::test]
async fn estimates_count_attachments_flat() {
    let server = server([StubReply::text(r#"{"animal": "cat"}"#).without_usage()]).await;
    let report = Run::new(model(&server.base_url()))
        .call(&describe())
        .report()
        .await
        .unwrap();
    let attempt = &report.record.attempts[0];
    // An image, a PDF and a file at the provider, and a quarter of 40 characters.
    assert_eq!(
        (attempt.usage, attempt.estimate.unwrap().input),
        (None, 765 + 1500 + 1500 + 10)
    );
}

#[tokio::test]
async fn the_stub_server_refuses_parts_that_openai_would_refuse() {
    let server = server([]).await;
    let model = model(&server.base_url());
    let mut request = Request::new(vec![
        Message::user("Look:").attach(Image::url("https://a.example/b.png").unwrap()),
    ]);
    assert!(model.complete(&request, &mut Unseen).await.is_ok());
    request.messages =
        vec![Message::new(Role::System, "Look:").attach(File::id("file-1").unwrap())];
    let error = model.complete(&request, &mut Unseen).await.unwrap_err();
    assert_eq!(error.category, Category::BadRequest);
    assert!(
        error.message.contains("messages[0].content"),
        "{}",
        error.message
    );
}
