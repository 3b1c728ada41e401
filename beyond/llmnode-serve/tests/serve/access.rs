//! Who may ask.

use llmnode_runtime::ScriptedModel;
use serde_json::json;
use tokio::net::TcpStream;

use crate::client::{Events, Folder, get, key, page, post, sent, served};

#[tokio::test]
async fn what_does_not_come_from_the_page_is_refused_and_runs_nothing() {
    let folder = Folder::new("access");
    let model = ScriptedModel::new().reply("never");
    let served = served(&folder, model.clone()).await;
    let (host, key) = (served.address().to_string(), key(&served).to_owned());
    let port = served.address().port();
    let body = json!({"file": 0, "inputs": {"question": "?"}, "requests": 1}).to_string();
    let length = format!("content-length: {}\r\n", body.len());
    let json = "content-type: application/json\r\n";
    let with_key = format!("x-llmnode-key: {key}\r\n");
    let attack = |method: &str, path: &str, host: &str, headers: &str| {
        format!(
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{length}{headers}\r\n{body}"
        )
    };
    let good = format!("{with_key}{json}");
    for (request, status) in [
        // DNS that leads here from another name.
        (
            attack("POST", "/api/run", &format!("evil.example:{port}"), &good),
            403,
        ),
        (attack("POST", "/api/run", "127.0.0.1", &good), 403),
        (attack("GET", "/", "evil.example", ""), 403),
        (
            attack(
                "POST",
                "/api/run",
                &host,
                &format!("{good}host: evil.example\r\n"),
            ),
            403,
        ),
        (
            attack(
                "POST",
                "/api/run",
                &host,
                &format!("{good}origin: http://evil.example\r\n"),
            ),
            403,
        ),
        (
            attack(
                "POST",
                "/api/run",
                &host,
                &format!("{good}origin: null\r\n"),
            ),
            403,
        ),
        (
            attack(
                "POST",
                "/api/run",
                &host,
                &format!("{good}origin: https://{host}\r\n"),
            ),
            403,
        ),
        (
            attack(
                "POST",
                "/api/run",
                &host,
                &format!("{good}sec-fetch-site: cross-site\r\n"),
            ),
            403,
        ),
        (
            attack(
                "POST",
                "/api/run",
                &host,
                &format!("{good}sec-fetch-site: same-site\r\n"),
            ),
            403,
        ),
        (attack("POST", "/api/run", &host, json), 403),
        (
            attack(
                "POST",
                "/api/run",
                &host,
                &format!("{json}x-llmnode-key: {}\r\n", "0".repeat(32)),
            ),
            403,
        ),
        (
            attack(
                "POST",
                "/api/run",
                &host,
                &format!("{json}x-llmnode-key: \r\n"),
            ),
            403,
        ),
        (
            attack("POST", &format!("/api/run?k={key}"), &host, json),
            403,
        ),
        (attack("GET", "/api/run", &host, &good), 405),
        (attack("GET", "/api/stop", &host, &good), 405),
        (
            attack(
                "POST",
                "/api/run",
                &host,
                &format!("{with_key}content-type: text/plain\r\n"),
            ),
            415,
        ),
        (attack("POST", "/api/run", &host, &with_key), 415),
        (attack("GET", "/api/events", &host, ""), 403),
        (attack("GET", "/api/check", &host, ""), 403),
        (attack("GET", "/pages/", &host, ""), 404),
        (attack("GET", "/pages/0", &host, ""), 404),
        (attack("GET", "/file/1", &host, ""), 404),
        (attack("GET", "/file/../../etc/passwd", &host, ""), 404),
    ] {
        assert_eq!(sent(&served, &request).await.0, status, "{request}");
    }
    let (status, message) =
        post(&served, "/api/run", &json!({"inputs": "x".repeat(2 << 20)})).await;
    assert!(matches!(status, 0 | 413), "{status}: {message}");
    for wrong in [
        json!(3),
        json!({"file": 0}),
        json!({"again": 1}),
        json!({"file": 7, "inputs": {}, "requests": 1}),
    ] {
        assert!(
            matches!(post(&served, "/api/run", &wrong).await.0, 404 | 409 | 422),
            "{wrong}"
        );
    }
    assert_eq!(model.requests().len(), 0);
}

#[tokio::test]
async fn answers_say_what_browsers_may_do_with_them() {
    let folder = Folder::new("headers");
    let served = served(&folder, ScriptedModel::new()).await;
    let host = served.address();
    for path in ["/", "/script.js", "/style.css", "/nothing"] {
        let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        let mut stream = TcpStream::connect(host).await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut stream, request.as_bytes())
            .await
            .unwrap();
        let mut answer = String::new();
        tokio::io::AsyncReadExt::read_to_string(&mut stream, &mut answer)
            .await
            .unwrap();
        for header in [
            "content-security-policy: default-src 'none'; script-src 'self';",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cross-origin-opener-policy: same-origin",
            "cross-origin-resource-policy: same-origin",
            "cache-control: no-store",
        ] {
            assert!(answer.contains(header), "{path} lacks {header}");
        }
        assert!(!answer.contains("access-control"), "{path}");
        assert!(!answer.contains(key(&served)), "{path}");
    }
}

#[tokio::test]
async fn a_page_is_open_five_times_and_connections_are_many() {
    let folder = Folder::new("many");
    let served = served(&folder, ScriptedModel::new()).await;
    let mut open = Vec::new();
    for _ in 0..5 {
        let mut events = Events::open(&served).await;
        events.panel("graph-0", "no mistakes").await;
        open.push(events);
    }
    let header = format!("x-llmnode-key: {}\r\n", key(&served));
    assert_eq!(get(&served, "/api/events", &header).await.0, 429);
    // As many as this process may have open beside what it has.
    let mut idle = Vec::new();
    while idle.len() < 400 {
        idle.push(TcpStream::connect(served.address()).await.unwrap());
    }
    assert_eq!(get(&served, "/", "").await.0, 200);
    drop((open, idle));
    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    Events::open(&served)
        .await
        .panel("graph-0", "no mistakes")
        .await;
}

#[tokio::test]
async fn without_runs_there_is_no_form_and_no_run() {
    let folder = Folder::new("no-runs");
    let served = page(&folder).runs(false).start().await.unwrap();
    let (status, message) = post(
        &served,
        "/api/run",
        &json!({"file": 0, "inputs": {"question": "?"}, "requests": 1}),
    )
    .await;
    assert_eq!(
        (status, &*message),
        (409, "this server draws and checks graphs, but runs none")
    );
    let form = Events::open(&served)
        .await
        .until(|event| event["panel"] == "form-0")
        .await;
    assert_eq!(form["html"], "");
}
