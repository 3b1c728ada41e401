//! The first example a user runs, against this server.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::{key, server_url};
use crate::wire::Wire;

async fn quickstart(wire: &Wire, arguments: &'static [&str]) -> Output {
    let mut path: PathBuf = std::env::current_exe().unwrap();
    path.pop();
    path.set_file_name("examples");
    path.push("quickstart");
    assert!(
        path.exists(),
        "the example is not built: run scripts/real-components, or `cargo build --examples`"
    );
    let mut command = Command::new(path);
    command.args(arguments);
    command.env("OPENAI_BASE_URL", wire.base_url());
    command
        .env("OPENAI_API_KEY", key())
        .env("OPENAI_MODEL", "tiny-random");
    // The wire lives on this runtime, which must not be blocked.
    tokio::task::spawn_blocking(move || command.output().unwrap())
        .await
        .unwrap()
}

#[tokio::test]
#[ignore = "needs llama.cpp's server: run scripts/real-components"]
async fn quickstart_ends_with_an_answer_or_its_record() {
    let wire = Wire::to(&server_url()).await;
    let output = quickstart(&wire, &[]).await;
    let (told, error) = (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    );
    println!("exit code {:?}\n{told}{error}", output.status.code());
    assert!(
        told.contains("tokens by node: {\"choose_item\": "),
        "{told}"
    );
    match output.status.code() {
        Some(0) => assert!(told.contains("answer: "), "{told}"),
        Some(2) => assert!(
            error.starts_with("choose_item: validation_error after 3 requests: "),
            "{error}"
        ),
        other => panic!("exit code {other:?}: {told}{error}"),
    }
}

#[tokio::test]
#[ignore = "needs llama.cpp's server: run scripts/real-components"]
async fn its_ledger_is_the_servers() {
    let wire = Wire::to(&server_url()).await;
    let output = quickstart(&wire, &["--json"]).await;
    let ledger: Value = serde_json::from_slice(&output.stdout).unwrap();
    let exchanges = wire.exchanges();
    assert_eq!(
        ledger["calls"][0]["attempts"].as_array().unwrap().len(),
        exchanges.len()
    );
    let said = exchanges
        .iter()
        .map(|one| one.answer["usage"]["total_tokens"].as_u64().unwrap());
    assert_eq!(ledger["total"]["total"]["known"], said.sum::<u64>());
}
