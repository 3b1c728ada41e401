//! A scripted server: the test program itself, started again, or on a socket.

use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

/// The answer to a message, if it gets one. `mode` says what is wrong with the server.
pub(crate) fn answer(mode: &str, message: &Value) -> Option<Value> {
    let id = message.get("id")?;
    if mode == "modern"
        && message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] != NEWEST
    {
        let supported = json!({"supported": [NEWEST], "requested": ""});
        let error =
            json!({"code": -32022, "message": "Unsupported protocol version", "data": supported});
        return Some(json!({"jsonrpc": "2.0", "id": id, "error": error}));
    }
    let result = match message["method"].as_str()? {
        "server/discover" if mode == "modern" => json!({
            "resultType": "complete",
            "supportedVersions": [NEWEST],
            "capabilities": {"tools": {}},
            "ttlMs": 0,
            "cacheScope": "public",
        }),
        "server/discover" if mode == "empty" => json!({}),
        "server/discover" if mode == "silent" => return None,
        "server/discover" if mode == "late" => {
            std::thread::sleep(std::time::Duration::from_millis(2500));
            json!({})
        }
        "server/discover" if mode == "dies" => std::process::exit(4),
        "tools/list" if mode == "broken" && message["params"]["cursor"] == "2" => {
            json!({"tools": null})
        }
        "tools/list" if mode == "broken" => json!({"tools": broken_tools(), "nextCursor": "2"}),
        "tools/list" if mode == "pages that echo" && message["params"]["cursor"] == "2" => {
            let error = json!({"code": -32000, "message": "no page for token-1234567890"});
            return Some(json!({"jsonrpc": "2.0", "id": id, "error": error}));
        }
        "tools/list" if mode == "pages that echo" => {
            json!({"tools": tools(mode), "nextCursor": "2"})
        }
        "tools/list" if mode == "round" => {
            json!({"tools": [{"name": "one", "inputSchema": {"type": "object"}}], "nextCursor": "same"})
        }
        "initialize" => json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "scripted", "version": "1"},
        }),
        "tools/list" if mode == "hangs" => return None,
        // Pages without end, of 1 MiB each.
        "tools/list" if mode == "pages" => {
            let page = message["params"]["cursor"]
                .as_str()
                .map_or(0, |page| page.parse::<u32>().unwrap());
            assert!(page < 6, "page {page} is asked for");
            let tool = json!({"name": format!("tool{page}"), "description": "x".repeat(1 << 20), "inputSchema": {"type": "object"}});
            json!({"tools": [tool], "nextCursor": (page + 1).to_string()})
        }
        "tools/list" => json!({"tools": tools(mode)}),
        "tools/call" => match call(mode, &message["params"])? {
            Ok(result) => result,
            Err(message) => {
                return Some(
                    json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32602, "message": message}}),
                );
            }
        },
        "ping" => json!({}),
        _ => {
            return Some(
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no such method"}}),
            );
        }
    };
    Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

const NEWEST: &str = "2026-07-28";

/// Two that can be offered, in bad company.
fn broken_tools() -> Value {
    let schema = json!({"type": "object"});
    json!([
        {"name": "bad"},
        {"name": "null", "inputSchema": null},
        {"name": "int", "inputSchema": {"type": "object", "properties": {"n": {"type": "int"}}}},
        {"name": "nulls", "inputSchema": {"type": "object", "properties": null, "required": null}},
        {"name": "look", "inputSchema": schema, "annotations": "none", "outputSchema": 5},
        {"inputSchema": schema},
        {"name": "look", "inputSchema": schema},
        {"name": "second", "inputSchema": schema},
    ])
}

fn tools(mode: &str) -> Value {
    let tool = |name: &str, description: &str, properties: Value, required: Value| {
        let schema = json!({"type": "object", "properties": properties, "required": required});
        // Hints that would let a client run it without asking.
        let hints = json!({"readOnlyHint": true, "destructiveHint": false});
        json!({"name": name, "description": description, "inputSchema": schema, "annotations": hints})
    };
    let none = || tool("none", "Does nothing.", json!({}), json!([]));
    match mode {
        "dirty" => json!([tool(
            "a tool\u{200b}",
            &format!("Rea\u{200b}ds.\u{7}{}", "x".repeat(100_000)),
            json!({}),
            json!([])
        )]),
        "hidden" => json!([
            tool(
                "seen",
                "One.",
                json!({"a": {"description": "x\u{200b}y", "examples": ["z\u{e0041}"]}}),
                json!([])
            ),
            tool("name", "Two.", json!({"a\u{200b}": {}}), json!([])),
            tool(
                "value",
                "Three.",
                json!({"a": {"enum": ["x", "x\u{200b}"]}}),
                json!([])
            ),
        ]),
        "lists its key" => json!([
            tool(
                "seen",
                "Queries postgres://app:token-1234567890@db/sales.",
                json!({"password": {"description": "Beside token-1234567890.", "examples": ["token-1234567890"]}}),
                json!([])
            ),
            tool("token-1234567890", "Two.", json!({}), json!([])),
            tool(
                "value",
                "Three.",
                json!({"a": {"default": "postgres://app:token-1234567890@db"}}),
                json!([])
            ),
        ]),
        "clash" => {
            json!([
                tool("a b", "One.", json!({}), json!([])),
                tool("a_b", "Two.", json!({}), json!([]))
            ])
        }
        "many" => (0..200)
            .map(|at| tool(&format!("tool{at}"), "One of many.", json!({}), json!([])))
            .collect(),
        _ => json!([
            tool(
                "add",
                "Adds.",
                json!({"a": {"type": "integer"}, "b": {"type": "integer", "minimum": 0}}),
                json!(["a", "b"])
            ),
            tool("environment", "Says what it sees.", json!({}), json!([])),
            tool("fail", "Fails.", json!({}), json!([])),
            tool("refuse", "Is refused.", json!({}), json!([])),
            tool("image", "Shows.", json!({}), json!([])),
            tool("link", "Points.", json!({}), json!([])),
            tool("structured", "Says it in JSON.", json!({}), json!([])),
            tool("slow", "Never ends.", json!({}), json!([])),
            tool("die", "Dies.", json!({}), json!([])),
            tool("flood", "Says too much.", json!({}), json!([])),
            none(),
        ]),
    }
}

/// What a call gives; `None` where no answer comes.
fn call(mode: &str, params: &Value) -> Option<Result<Value, String>> {
    let text = |text: String| json!({"content": [{"type": "text", "text": text}]});
    let arguments = &params["arguments"];
    Some(Ok(match params["name"].as_str()? {
        "add" => text((arguments["a"].as_i64()? + arguments["b"].as_i64()?).to_string()),
        "environment" => text(
            std::env::vars()
                .map(|(name, _)| name)
                .collect::<Vec<_>>()
                .join(" "),
        ),
        "fail" => {
            json!({"content": [{"type": "text", "text": "the disk is full"}], "isError": true})
        }
        "refuse" => return Some(Err("no \u{7}such thing, token-1234567890".to_owned())),
        "image" => json!({"content": [
            {"type": "text", "text": "A dot:"},
            {"type": "image", "mimeType": "image/png", "data": PNG},
        ]}),
        "link" => {
            json!({"content": [{"type": "resource_link", "name": "secrets", "uri": "file:///etc/passwd"}]})
        }
        "structured" => json!({"content": [], "structuredContent": {"degrees": 21}}),
        "slow" => return None,
        "die" => std::process::exit(3),
        "flood" => text("x".repeat(20 * 1024 * 1024)),
        "look" => {
            json!({"content": [{"type": "text", "text": "fine"}, {"type": "video", "data": "AA=="}]})
        }
        "second" => json!({
            "content": [{"type": "image", "mimeType": "image/png", "data": PNG}],
            "structuredContent": {"total": 36},
        }),
        "none" if mode == "pings" => text(PONGS.load(Ordering::Relaxed).to_string()),
        "none" if mode == "echoes" => text("token-1234567890".to_owned()),
        // `u:token-1234567890`
        "none" if mode == "echoes in base64" => text("Basic dTp0b2tlbi0xMjM0NTY3ODkw".to_owned()),
        _ => text("done".to_owned()),
    }))
}

/// Responses that the program has read.
static PONGS: AtomicUsize = AtomicUsize::new(0);

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// Serves on the standard streams. Each message is noted in the file LOG.
pub(crate) fn serve() {
    let (mode, log) = (
        std::env::var("MODE").unwrap_or_default(),
        std::env::var("LOG").unwrap(),
    );
    let mut output = std::io::stdout();
    // The test harness may have begun a line.
    writeln!(output, "\nthis is not JSON").unwrap();
    eprintln!("scripted: started with {mode:?}");
    if mode == "refuses" {
        let key = std::env::var("KEY").unwrap();
        eprintln!(
            "{}\nno folder `notes`\nthe key {key}\u{7} is not accepted",
            "x".repeat(10_000)
        );
        std::process::exit(3);
    }
    if mode == "refuses in JSON" {
        let key = std::env::var("KEY").unwrap();
        eprintln!("{}", json!({"env": {"KEY": key}, "error": "no"}));
        std::process::exit(3);
    }
    if mode == "refuses with a long line" {
        let key = std::env::var("KEY").unwrap();
        // The end of the log that is kept begins within the key.
        let rest = "y".repeat(4096 - key.len() / 2 - 1);
        eprint!("{key}{rest} ");
        std::process::exit(3);
    }
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
        note(Path::new(&log), &message);
        if message.get("method").is_none() {
            PONGS.fetch_add(1, Ordering::Relaxed);
        }
        if mode == "reads no more" && message["method"] == "tools/list" {
            writeln!(output, "{}", answer(&mode, &message).unwrap()).unwrap();
            output.flush().unwrap();
            std::thread::sleep(std::time::Duration::from_secs(600));
        }
        if mode == "pings" && message["method"] == "notifications/initialized" {
            for id in 0..50_000 {
                writeln!(
                    output,
                    "{}",
                    json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
                )
                .unwrap();
            }
        }
        if let Some(answer) = answer(&mode, &message) {
            writeln!(output, "{answer}").unwrap();
            output.flush().unwrap();
        }
    }
    if mode == "stays" {
        std::thread::sleep(std::time::Duration::from_secs(600));
    }
}

fn note(log: &Path, message: &Value) {
    let mut file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(log)
        .unwrap();
    let name = message["params"]["name"].as_str().unwrap_or_default();
    writeln!(
        file,
        "{} {} {name}",
        std::process::id(),
        message["method"].as_str().unwrap_or("answer")
    )
    .unwrap();
}
