//! The guard against real requests. It holds for the rest of the process, so each way to set it runs in a process of its
//! own: this test program, started for the one test `child`.
#![cfg(feature = "openai")]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::process::Command;
use std::time::Duration;

use llmnode::prelude::*;
use llmnode::stub_server::{StubReply, StubServer};
use llmnode::testing::{forbid_all_requests, forbid_requests};
use llmnode::{OpenAiBuilder, TestClock};

#[llm_node(prompt = "Greet Ada.")]
struct Greet;

/// Says in the child how it forbids requests; nobody else sets it.
const HOW: &str = "LLMNODE_TEST_CHILD_FORBIDS";

/// Runs `child` in a process of its own.
fn forbidding(how: &str, variable: Option<&str>) {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child
        .args(["child", "--exact", "--ignored", "--nocapture"])
        .env(HOW, how);
    match variable {
        Some(value) => child.env("LLMNODE_FORBID_REQUESTS", value),
        None => child.env_remove("LLMNODE_FORBID_REQUESTS"),
    };
    let output = child.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{how}: {said}"
    );
}

#[test]
fn by_the_program() {
    forbidding("real", None);
    forbidding("all", None);
    forbidding("none", None);
}

#[test]
fn by_the_environment() {
    forbidding("real by variable", Some("1"));
    forbidding("all by variable", Some("all"));
    forbidding("none", Some("0"));
}

#[tokio::test]
#[ignore = "run by the other tests, in a process of its own"]
async fn child() {
    let Ok(how) = std::env::var(HOW) else { return };
    match how.as_str() {
        "real" => forbid_requests(),
        "all" => forbid_all_requests(),
        _ => {}
    }
    let server = StubServer::builder()
        .default_reply(StubReply::text("Hello!"))
        .start()
        .await
        .unwrap();
    // Whatever is meant for another machine goes to a proxy of this one: a guard that fails is seen, and does no harm.
    let elsewhere = OpenAi::builder()
        .base_url("http://models.invalid/v1")
        .without_key();
    let elsewhere = ask(elsewhere.proxy(format!("http://{}", server.address()))).await;
    assert_eq!(elsewhere.is_err(), how != "none");
    assert_eq!(server.requests_seen(), u64::from(how == "none"));

    let here = ask(OpenAi::builder().base_url(server.base_url())).await;
    assert_eq!(here.is_err(), how.starts_with("all"));
    for (error, host) in [
        (elsewhere, "models.invalid".to_owned()),
        (here, server.address().to_string()),
    ] {
        let Err(error) = error else { continue };
        assert_eq!(
            (error.category(), error.attempts().len()),
            (Category::ConfigError, 0)
        );
        let (message, who) = (
            error.message(),
            if how.ends_with("variable") {
                "LLMNODE_FORBID_REQUESTS="
            } else {
                "guard.rs"
            },
        );
        assert!(
            message.contains(&host) && message.contains(who),
            "{message}"
        );
        assert!(message.contains("ScriptedModel"), "{message}");
    }
}

async fn ask(model: OpenAiBuilder) -> Result<String, NodeError> {
    let model = model
        .model("m")
        .connect_timeout(Duration::from_secs(20))
        .build()
        .unwrap();
    Run::new(model)
        .with_clock(TestClock::new())
        .call(&Greet)
        .await
}
