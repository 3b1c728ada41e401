//! Nodes set up at run time, over real sockets.

use std::time::Duration;

use llmnode::prelude::*;
use llmnode::stub_server::{StubReply, StubServer};
use llmnode::{DynNode, TestClock};
use serde_json::{Value, json};

const KEY: &str = "sk-canary-0123456789abcdef";

#[llm_output]
struct City {
    name: String,
}

fn extract() -> DynNode {
    DynNode::builder("extract")
        .system_prompt("Extract the city.")
        .output::<City>()
        .build()
        .unwrap()
}

async fn server(script: impl IntoIterator<Item = StubReply>) -> StubServer {
    StubServer::builder().script(script).start().await.unwrap()
}

fn run(server: &StubServer, clock: &TestClock) -> Run {
    let model = OpenAi::builder()
        .base_url(server.base_url())
        .api_key(KEY)
        .model("m")
        .build()
        .unwrap();
    Run::new(model).with_clock(clock.clone())
}

/// The response as another process gets it, and how many requests it took.
async fn respond(script: impl IntoIterator<Item = StubReply>) -> (Value, usize, Vec<Duration>) {
    let (server, clock) = (server(script).await, TestClock::new());
    let response = extract()
        .respond(&run(&server, &clock), "Greetings from Oslo!")
        .await;
    let json = serde_json::to_value(&response).unwrap();
    assert!(!format!("{json} {response:?}").contains("canary"), "{json}");
    assert_eq!(json["metadata"]["llm.calls"], server.requests().len());
    (json, server.requests().len(), clock.waits())
}

#[tokio::test]
async fn the_schema_goes_along_and_the_payload_as_it_is() {
    let (server, clock) = (
        server([StubReply::text(r#"{"name": "Oslo"}"#)]).await,
        TestClock::new(),
    );
    let run = run(&server, &clock);
    let response = extract()
        .respond(&run, " Greetings\r\nfrom \"Oslo\"! ")
        .await;
    assert_eq!(response.data, Some(json!({"name": "Oslo"})));
    let sent = server.requests();
    let body = sent[0].json().unwrap();
    assert_eq!(
        body["messages"],
        json!([
            {"role": "system", "content": "Extract the city."},
            {"role": "user", "content": " Greetings\r\nfrom \"Oslo\"! "},
        ])
    );
    let format = &body["response_format"]["json_schema"];
    assert_eq!(
        (&format["name"], &format["strict"]),
        (&json!("City"), &json!(true))
    );
    assert_eq!(format["schema"]["required"], json!(["name"]));
    assert_eq!(
        Some(run.ledger().tokens_used()["extract"]),
        server.usage_totals().total
    );
}

#[tokio::test]
async fn a_model_that_takes_no_schema_is_told_it_behind_the_instruction() {
    let refuse = || {
        StubReply::error(
            400,
            "invalid_request_error",
            (),
            "response_format is not supported",
        )
    };
    let server = server([
        refuse(),
        refuse(),
        refuse(),
        StubReply::text(r#"{"name": "Oslo"}"#),
    ])
    .await;
    let response = extract()
        .respond(&run(&server, &TestClock::new()), "x")
        .await;
    let told = server.requests().last().unwrap().messages()[0].1.clone();
    assert!(
        told.starts_with("Extract the city.\n\n") && told.contains("\"name\""),
        "{told}"
    );
    assert_eq!(
        server.requests().last().unwrap().messages()[1].1,
        "x\n\nAnswer with JSON that has `name`."
    );
    assert_eq!(response.retry_count + 1, server.requests().len() as u64);
}

#[tokio::test]
async fn failures_are_data_with_their_labels() {
    let busy =
        || StubReply::error(429, "requests", "rate_limit_exceeded", "slow down").retry_after(7);
    let (json, requests, waits) = respond([busy(), busy(), busy(), busy()]).await;
    assert_eq!(
        (&json["success"], &json["reason"], requests),
        (&json!(false), &json!("rate_limit_error"), 4)
    );
    assert_eq!(
        (
            &json["details"]["status"],
            &json["details"]["retry_after_ms"]
        ),
        (&json!(429), &json!(7000))
    );
    assert!(
        waits.iter().all(|wait| *wait >= Duration::from_secs(7)),
        "{waits:?}"
    );

    let key = StubReply::error(
        401,
        "invalid_request_error",
        "invalid_api_key",
        &format!("Incorrect key: {KEY}"),
    );
    let (json, requests, _) = respond([key]).await;
    assert_eq!(
        (&json["reason"], &json["error_type"], requests),
        (&json!("api_key_error"), &json!("api_key_error"), 1)
    );

    let long = StubReply::error(
        400,
        "invalid_request_error",
        "context_length_exceeded",
        "too long",
    );
    let (json, requests, _) = respond([long]).await;
    assert_eq!(
        (&json["reason"], requests),
        (&json!("context_length_error"), 1)
    );

    let wrong = [true, false, true, false].map(|name| StubReply::json(json!({"name": name})));
    let (json, requests, _) = respond(wrong).await;
    assert_eq!((&json["reason"], requests), (&json!("schema_error"), 4));
    assert!(
        json["details"]["violations"][0]
            .as_str()
            .unwrap()
            .starts_with("name: ")
    );
}

#[test]
fn validators_are_never_left_out_silently() {
    #[llm_output]
    struct Checked {
        name: String,
    }
    #[validate]
    impl Checked {
        fn is_short(&self) -> Result<(), Invalid> {
            if self.name.len() < 9 {
                Ok(())
            } else {
                Err(Invalid::new("is long"))
            }
        }
    }
    let error = DynNode::builder("checked")
        .output::<Vec<Checked>>()
        .build()
        .unwrap_err();
    assert!(
        error.message().contains("validators of") && error.message().contains("#[llm_node]"),
        "{error}"
    );
}

#[llm_output]
struct Even {
    n: u8,
}

#[validate]
impl Even {
    fn is_even(&self) -> Result<(), Invalid> {
        if self.n.is_multiple_of(2) {
            Ok(())
        } else {
            Err(Invalid::at("n", "is odd"))
        }
    }
}

#[llm_node(prompt = "An even number?", output = Even)]
struct AskEven;

/// Each caller finds out for itself whether a type's validators run, whoever asked first.
#[tokio::test]
async fn what_a_primitive_cannot_check_a_node_can_and_the_other_way_round() {
    for _ in 0..2 {
        let error = DynNode::builder("even")
            .output::<Even>()
            .build()
            .err()
            .unwrap();
        assert!(error.message().contains("would never run"), "{error}");
        let run = Run::new(ScriptedModel::new().reply(r#"{"n": 3}"#));
        let error = run.call(&AskEven).await.err().unwrap();
        assert_eq!(error.category(), Category::ValidationError, "{error}");
    }
}
