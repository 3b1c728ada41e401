//! Requests that no page of ours sends: each is refused, whatever it combines, and nothing runs.

use llmnode_runtime::ScriptedModel;
use serde_json::json;

use crate::client::{Folder, get, key, sent, served};

const CALLS: [(&str, &str); 5] = [
    ("POST", "/api/run"),
    ("POST", "/api/decide"),
    ("POST", "/api/stop"),
    ("GET", "/api/events"),
    ("GET", "/api/check"),
];

#[tokio::test]
async fn every_call_is_refused_from_elsewhere() {
    let folder = Folder::new("forged");
    let model = ScriptedModel::new().reply("never");
    let served = served(&folder, model.clone()).await;
    let (host, key) = (served.address().to_string(), key(&served).to_owned());
    let port = served.address().port();
    let body = json!({"file": 0, "inputs": {"question": "?"}, "requests": 1}).to_string();
    let mut checks = 0;
    for (method, path) in CALLS {
        let attack = |host: &str, headers: &str| {
            let length = body.len();
            format!(
                "{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
            )
        };
        let with_key = format!("x-llmnode-key: {key}\r\n");
        let mut all = Vec::new();
        for foreign in [
            "evil.example".to_owned(),
            format!("evil.example:{port}"),
            format!("127.0.0.1.evil.example:{port}"),
            format!("127.0.0.1:{}", port.wrapping_add(1)),
            "127.0.0.1".to_owned(),
            "localhost".to_owned(),
            format!("LOCALHOST.:{port}"),
            format!("0.0.0.0:{port}"),
            format!("[::1]:{port}"),
            format!("127.0.0.1:{port}@evil.example"),
            String::new(),
        ] {
            all.push(attack(&foreign, &with_key));
        }
        for origin in [
            "http://evil.example".to_owned(),
            format!("http://evil.example:{port}"),
            format!("https://{host}"),
            format!("http://{host}.evil.example"),
            format!("http://user@{host}"),
            "http://127.0.0.1".to_owned(),
            "null".to_owned(),
            "file://".to_owned(),
            String::new(),
            format!("http://{host}/"),
        ] {
            all.push(attack(&host, &format!("{with_key}origin: {origin}\r\n")));
        }
        for site in [
            "cross-site",
            "same-site",
            "none, cross-site",
            "SAME-ORIGIN",
            "",
        ] {
            all.push(attack(
                &host,
                &format!("{with_key}sec-fetch-site: {site}\r\n"),
            ));
        }
        for other in [
            "",
            "0",
            &key[1..],
            &key.to_uppercase(),
            &format!("{key}0"),
            &format!("Bearer {key}"),
        ] {
            if other != key {
                all.push(attack(&host, &format!("x-llmnode-key: {other}\r\n")));
            }
        }
        all.push(attack(&host, ""));
        all.push(attack(
            &host,
            &format!("cookie: k={key}\r\nauthorization: Bearer {key}\r\nreferer: http://{host}/#k={key}\r\n"),
        ));
        for request in all {
            let (status, _) = sent(&served, &request).await;
            assert!(matches!(status, 400 | 403), "{status}: {request}");
            checks += 1;
        }
    }
    assert!(checks >= 150, "{checks}");
    assert_eq!(model.requests().len(), 0);
    // Markup and paths from the address are on no page.
    for path in [
        "/%3Cscript%3E",
        "/file/%3Cimg%20src=x%3E",
        "/pages/%22onload=%22",
        "/file/0?<script>alert(1)</script>",
        "/script.js/..%2f..%2fetc/passwd",
    ] {
        let (_, page) = get(&served, path, "").await;
        assert!(
            !page.contains("<img") && !page.contains("alert(1)") && !page.contains("root:"),
            "{path}: {page}"
        );
    }
}

/// The answers to forged decisions and inputs are texts of ours, and the state does not change.
#[tokio::test]
async fn bodies_of_any_form_are_refused() {
    let folder = Folder::new("bodies");
    let model = ScriptedModel::new();
    let served = served(&folder, model.clone()).await;
    let deep = "[".repeat(20_000);
    for path in ["/api/run", "/api/decide"] {
        for body in [
            "",
            "null",
            "3",
            "[]",
            "{}",
            "{\"file\": -1}",
            "{\"file\": 1e99, \"inputs\": {}, \"requests\": 1}",
            "\u{0}",
            &deep,
            "{\"again\": \"<script>\"}",
            "{\"pause\": \"1.1\", \"id\": \"write\", \"answer\": \"YES\"}",
            "{\"pause\": \"1.1\", \"id\": \"write\", \"answer\": \"yes\"}",
            "{\"pause\": [], \"id\": {}, \"answer\": \"yes\"}",
            "{\"file\": 0, \"inputs\": [], \"requests\": 1}",
            "{\"file\": 0, \"inputs\": {\"question\": {}}, \"requests\": 1}",
            "{\"file\": 0, \"inputs\": {\"question\": \"?\", \"__proto__\": 1}, \"requests\": 1}",
        ] {
            let (host, key) = (served.address(), key(&served));
            let request = format!(
                "POST {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\nx-llmnode-key: {key}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            );
            let (status, told) = sent(&served, &request).await;
            assert!(
                matches!(status, 400 | 404 | 409 | 422),
                "{status} {told}: {body}"
            );
        }
    }
    assert_eq!(model.requests().len(), 0);
}
