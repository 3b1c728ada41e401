//! Two processes that go on with one run at once, without a queue between them.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{NEEDED, Site, number, queue};

/// Lets two processes go on with a run at once. Returns how many were refused.
async fn two(site: &Site, id: &str) -> usize {
    let go_on = ["go-on", id];
    let (one, other) = tokio::join!(site.output(queue(), &go_on), site.output(queue(), &go_on));
    let refused = [one, other]
        .into_iter()
        .filter(|output| !output.status.success());
    let messages = refused.map(|output| String::from_utf8(output.stderr).unwrap());
    let is_known = |text: &String| {
        let known = [
            "another process has taken the run over",
            "the node `refund` was called in the first step",
        ];
        known.iter().any(|known| text.contains(known))
    };
    messages
        .inspect(|text| assert!(is_known(text), "{text}"))
        .count()
}

async fn twice(site: &Site, id: &str) -> (usize, u64, u64) {
    site.ask(queue(), &["start", id, id, "The lamp is broken."])
        .await;
    let mut refused = two(site, id).await;
    let status = site.json(queue(), &["status", id]).await;
    assert_eq!(
        (&status["waiting"][0]["name"], site.paid(id)),
        (&json!("refund"), 0),
        "{status}"
    );
    site.ask(queue(), &["approve", id]).await;
    refused += two(site, id).await;
    let status = site.json(queue(), &["status", id]).await;
    let (requests, again) = site.counts(id);
    assert_eq!(
        (&status["ended"], &status["failure"]),
        (&json!(true), &Value::Null),
        "{status}"
    );
    assert_eq!(
        (site.paid(id), &status["state"]["note"]),
        (1, &json!("refunded")),
        "{status}"
    );
    let unknown = status["unknown"].as_u64().unwrap();
    assert!(
        again <= unknown && requests - again == NEEDED,
        "{requests}, {again} again: {status}"
    );
    (refused, again, unknown)
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Postgres: scripts/postgres"]
async fn of_two_processes_one_goes_on_and_the_other_executes_no_tool() {
    let times = number("LLMNODE_TWICE", 10);
    let site = Site::new(Duration::from_millis(100)).await;
    site.ask(queue(), &["setup"]).await;
    let mut all = (0, 0, 0);
    for n in 1..=times {
        let (refused, again, unknown) = twice(&site, &format!("t{n}")).await;
        all = (all.0 + refused, all.1 + again, all.2 + unknown);
    }
    let (refused, again, unknown) = all;
    println!(
        "{times} runs, twice two at once: {refused} refused, {again} requests again, {unknown} unknown"
    );
}
