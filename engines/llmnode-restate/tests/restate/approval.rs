//! The example of the documentation, from its start to the approved result.

use std::time::Duration;

use llmnode::StubServer;
use llmnode::stub_server::{LoggedRequest, StubReply};
use serde_json::{Value, json};

use crate::support::{Restate, example, port, spawn};

#[test]
fn the_documentation_shows_the_example() {
    let (_, example) = include_str!("../../examples/approval.rs")
        .split_once("\n\n")
        .unwrap();
    assert!(include_str!("../../../../docs/many-machines.md").contains(example));
}

fn reply(request: &LoggedRequest) -> StubReply {
    match request.messages().iter().any(|(role, _)| role == "tool") {
        false => StubReply::call("refund", json!({"euros": 20})),
        true => StubReply::text("You have your 20 euros back."),
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Restate's server: scripts/restate"]
async fn a_refund_is_approved() {
    let model = StubServer::builder()
        .default_reply(StubReply::for_request(reply))
        .start()
        .await
        .unwrap();
    let (restate, worker) = (Restate::start().await, port());
    let _process = spawn(example(
        "approval",
        &["worker", &format!("127.0.0.1:{worker}")],
        &model,
        &restate,
    ));
    restate.register(worker).await;
    let ask = |arguments: &[&str]| {
        let output = example("approval", arguments, &model, &restate)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(
        ask(&["start", "order-17", "The lamp is broken."]),
        "started: true\n"
    );
    assert_eq!(
        ask(&["start", "order-17", "Another lamp."]),
        "started: false\n"
    );
    let status = loop {
        let status: Value = serde_json::from_str(&ask(&["status", "order-17"])).unwrap();
        if status["waiting"] != Value::Null {
            break status;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert_eq!(
        (&status["waiting"][0]["name"], &status["at"]),
        (&json!("refund"), &json!([])),
        "{status}"
    );
    assert_eq!(
        ask(&["approve", "order-17"]),
        "You have your 20 euros back.\n2 requests\n"
    );
    assert_eq!(model.requests_seen(), 2);
}
