//! Whether a server can keep a thread busy: servers that send without end, faster than they are read.
//!
//! Usage: `pinned [SECONDS [NAME]]`, for the rows with this in their name. Each row is a call with a deadline of so many seconds
//! (1): when it ended after the request began, the longest time of the processor that one poll of it took, how many polls there
//! were, and how late a timer of 5 ms was beside two such calls on two threads (the ninth of ten). The server has threads of its
//! own. Of MCP it is the result of a tool that has no end.

use std::future::poll_fn;
use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use llmnode::prelude::*;
use llmnode::{Anthropic, BoxError, Gemini, Mcp, Reply, ScriptedModel};
use llmnode_benches::measure::thread_cpu;
use llmnode_benches::request::{read_request, serve};
use serde_json::{Value, json};

const APIS: [&str; 5] = ["chat", "responses", "messages", "gemini", "mcp"];

/// What a server sends once, and then again and again.
struct Endless {
    name: &'static str,
    kind: &'static str,
    begin: String,
    again: String,
    /// In chunks of one byte.
    single: bool,
}

#[llm_node(prompt = "Write {what}.", retries = 0, recover(timeout = [bubble]))]
struct Tell {
    what: &'static str,
}

fn event(event: &Value) -> String {
    format!("data: {event}\n\n")
}

/// A piece of a text.
fn text(api: &str, piece: &str) -> String {
    event(&match api {
        "chat" => json!({"choices": [{"index": 0, "delta": {"content": piece}}]}),
        "responses" => {
            json!({"type": "response.output_text.delta", "output_index": 0, "delta": piece})
        }
        "messages" => {
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}})
        }
        _ => json!({"candidates": [{"content": {"parts": [{"text": piece}]}}]}),
    })
}

/// The begin of the part at a place.
fn begin(api: &str, at: usize) -> String {
    event(&match api {
        "chat" => json!({"choices": [{"delta": {"tool_calls": [
            {"index": at, "id": format!("c{at}"), "function": {"name": "f", "arguments": ""}}]}}]}),
        "responses" => {
            json!({"type": "response.output_item.added", "output_index": at, "item": {"type": "reasoning"}})
        }
        "messages" => {
            json!({"type": "content_block_start", "index": at, "content_block": {"type": "thinking", "thinking": ""}})
        }
        _ => json!({"candidates": [{"content": {"parts": [{"executableCode": {"code": at}}]}}]}),
    })
}

/// A piece of the last part that adds nothing.
fn empty_piece(api: &str, at: usize) -> String {
    event(&match api {
        "chat" => {
            json!({"choices": [{"delta": {"tool_calls": [{"index": at, "function": {"name": "f", "arguments": ""}}]}}]})
        }
        "responses" => {
            json!({"type": "response.function_call_arguments.delta", "output_index": at, "delta": "1"})
        }
        "messages" => {
            json!({"type": "content_block_delta", "index": at, "delta": {"type": "thinking_delta", "thinking": ""}})
        }
        _ => json!({"candidates": [{"content": {"parts": [{"text": ""}]}}]}),
    })
}

const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";

/// Events of a server that are no answer, and an answer that does not end.
fn all_of_mcp() -> Vec<Endless> {
    let of = |name, kind, begin: &str, again: String| {
        let begin = begin.to_owned();
        Endless {
            name,
            kind,
            begin,
            again,
            single: false,
        }
    };
    let single = |endless: Endless, name| Endless {
        name,
        single: true,
        ..endless
    };
    let progress = json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}});
    let log = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "a"}});
    let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    let asked = json!({"jsonrpc": "2.0", "id": 7, "method": "ping"});
    vec![
        of("blank body", JSON, "", " \n".into()),
        single(of("", JSON, "", " \n".into()), "blank body, single bytes"),
        of(
            "a list without end",
            JSON,
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":["#,
            "{},".into(),
        ),
        of("comments", EVENTS, "", ": \n\n".into()),
        single(
            of("", EVENTS, "", ": \n\n".into()),
            "comments, single bytes",
        ),
        of("empty events", EVENTS, "", "data:{}\n\n".into()),
        of("progress", EVENTS, "", event(&progress)),
        single(
            of("", EVENTS, "", event(&progress)),
            "progress, single bytes",
        ),
        of("logs", EVENTS, "", event(&log)),
        of("changed lists", EVENTS, "", event(&changed)),
        of("pings", EVENTS, "", event(&asked)),
        of("events of one line", EVENTS, "data: ", "a".into()),
        of("many lines", EVENTS, "", "data:\n".into()),
    ]
}

fn all(api: &str) -> Vec<Endless> {
    if api == "mcp" {
        return all_of_mcp();
    }
    const MANY: usize = 9_999;
    let of = |name, kind, begin: String, again: String| Endless {
        name,
        kind,
        begin,
        again,
        single: false,
    };
    let single = |endless: Endless, name| Endless {
        name,
        single: true,
        ..endless
    };
    let blocks: String = (0..MANY).map(|at| begin(api, at)).collect();
    let call = |arguments: &str| {
        event(
            &json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": arguments}}]}}]}),
        )
    };
    let object = json!({"a": "x".repeat(100_000)}).to_string();
    let mut all = vec![
        of("blank body", JSON, String::new(), " \n".into()),
        single(
            of("", JSON, String::new(), " \n".into()),
            "blank body, single bytes",
        ),
        of("comments", EVENTS, String::new(), ": \n\n".into()),
        single(
            of("", EVENTS, String::new(), ": \n\n".into()),
            "comments, single bytes",
        ),
        of("empty events", EVENTS, String::new(), "data:{}\n\n".into()),
        of("10,000 blocks", EVENTS, blocks, empty_piece(api, MANY - 1)),
        of("empty pieces", EVENTS, text(api, "a"), text(api, "")),
        of("blank pieces", EVENTS, String::new(), text(api, " ")),
        single(
            of("", EVENTS, String::new(), text(api, "a")),
            "pieces, single bytes",
        ),
        of(
            "blank thoughts",
            EVENTS,
            text(api, "<think>a"),
            text(api, " "),
        ),
        of("mentions", EVENTS, text(api, "a"), text(api, "</think> a")),
        of(
            "the end of a mention",
            EVENTS,
            text(api, &"a </think>".repeat(10_000)),
            text(api, ""),
        ),
        of(
            "a header",
            EVENTS,
            text(api, "<|start|>assistant"),
            text(api, " "),
        ),
        of(
            "behind the end",
            EVENTS,
            format!("{}data: [DONE]\n\n", text(api, "a")),
            ": \n\n".into(),
        ),
        of("events of one line", EVENTS, "data: ".into(), "a".into()),
    ];
    if api == "chat" {
        all.push(of("whole arguments", EVENTS, call(&object), call("}")));
        all.push(of("blank arguments", EVENTS, call(&object), call(" ")));
    }
    all
}

/// The path begins with the API and the number of the row.
fn connection(mut stream: TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let request = read_request(&mut reader)?;
    let mut path = request.line.split('/').skip(1);
    let api = path.next()?;
    let row = path.next()?.split(' ').next()?.parse::<usize>().ok()?;
    if api == "mcp"
        && let Some(answer) = before_the_call(&request.body)
    {
        return stream.write_all(answer.as_bytes()).ok();
    }
    let Endless {
        kind,
        begin,
        again,
        single,
        ..
    } = all(api).into_iter().nth(row)?;
    let chunked = |text: &str| match single {
        true => text
            .bytes()
            .map(|byte| format!("1\r\n{}\r\n", byte as char))
            .collect(),
        false => format!("{:x}\r\n{text}\r\n", text.len()),
    };
    let head =
        format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n");
    stream.write_all(head.as_bytes()).ok()?;
    if !begin.is_empty() {
        stream.write_all(chunked(&begin).as_bytes()).ok()?;
    }
    let again = chunked(&again.repeat(64 * 1024 / again.len()));
    loop {
        stream.write_all(again.as_bytes()).ok()?;
    }
}

/// What a server of MCP answers until a tool is called.
fn before_the_call(body: &[u8]) -> Option<String> {
    let message: Value = serde_json::from_slice(body).unwrap_or_default();
    let result = match message["method"].as_str().unwrap_or_default() {
        "tools/call" => return None,
        "initialize" => json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "endless", "version": "1"},
        }),
        "tools/list" => json!({"tools": [{"name": "read", "inputSchema": {"type": "object"}}]}),
        _ => {
            let none = "content-length: 0\r\nconnection: close\r\n\r\n";
            let status = if message.get("id").is_some() {
                "400 Bad Request"
            } else {
                "202 Accepted"
            };
            return Some(format!("HTTP/1.1 {status}\r\n{none}"));
        }
    };
    let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string();
    let length = answer.len();
    let head =
        format!("content-type: {JSON}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    Some(format!("HTTP/1.1 200 OK\r\n{head}{answer}"))
}

#[llm_node(prompt = "Read it.", retries = 0, turns = 2)]
struct Read {
    #[node(tools)]
    tools: Toolset,
}

/// An agent whose tool does not end, up to its deadline.
async fn ask_tool(
    url: &str,
    row: usize,
    deadline: Duration,
) -> Result<impl Future<Output = ()> + use<>, BoxError> {
    let server = Mcp::http(format!("{url}/mcp/{row}"))
        .name("s")
        .connect()
        .await?;
    let run = Run::new(ScriptedModel::new().reply(Reply::text("").call("s_read", json!({}))));
    Ok(async move {
        let _ = run
            .call(&Read {
                tools: server.tools(),
            })
            .deadline(deadline)
            .await;
    })
}

async fn asking(
    url: &str,
    api: &str,
    row: usize,
    deadline: Duration,
    listens: bool,
) -> Result<Pin<Box<dyn Future<Output = ()> + Send>>, BoxError> {
    Ok(match api {
        "mcp" => Box::pin(ask_tool(url, row, deadline).await?),
        _ => Box::pin(ask(run(url, api, row)?, deadline, listens)),
    })
}

fn run(url: &str, api: &str, row: usize) -> Result<Run, BoxError> {
    let url = format!("{url}/{api}/{row}");
    Ok(match api {
        "chat" => Run::new(OpenAi::builder().base_url(url).model("m").build()?),
        "responses" => Run::new(
            OpenAi::builder()
                .responses()
                .base_url(url)
                .model("m")
                .build()?,
        ),
        "messages" => Run::new(Anthropic::builder().base_url(url).model("m").build()?),
        _ => Run::new(Gemini::builder().base_url(url).model("m").build()?),
    })
}

async fn ask(run: Run, deadline: Duration, listens: bool) {
    let call = run
        .call(&Tell { what: "a story" })
        .attempt_timeout(deadline);
    if listens {
        let mut answer = call.stream();
        while answer.next().await.is_some() {}
        let _ = answer.finish().await;
    } else {
        let _ = call.await;
    }
}

/// When it ended, the longest poll, and how many there were.
async fn timed(asking: impl Future<Output = ()>) -> (Duration, Duration, usize) {
    let begun = Instant::now();
    let mut longest = Duration::ZERO;
    let mut polls = 0;
    let mut asking = pin!(asking);
    poll_fn(|cx| {
        let before = thread_cpu();
        let poll = asking.as_mut().poll(cx);
        longest = longest.max(thread_cpu() - before);
        polls += 1;
        poll
    })
    .await;
    (begun.elapsed(), longest, polls)
}

/// How late a timer of 5 ms is beside two of them, in milliseconds: the ninth of ten.
async fn lateness(url: &str, api: &str, row: usize, deadline: Duration) -> Result<f64, BoxError> {
    let first = asking(url, api, row, deadline, false).await?;
    let second = asking(url, api, row, deadline, false).await?;
    let calls = [first, second].map(tokio::spawn);
    let is_over = Arc::new(AtomicBool::new(false));
    let watched = Arc::clone(&is_over);
    let timer = tokio::spawn(async move {
        let mut late = Vec::new();
        while !watched.load(Ordering::Relaxed) {
            let begun = Instant::now();
            tokio::time::sleep(Duration::from_millis(5)).await;
            late.push((begun.elapsed().as_secs_f64() - 0.005) * 1e3);
        }
        late
    });
    for call in calls {
        call.await?;
    }
    is_over.store(true, Ordering::Relaxed);
    let mut late = timer.await?;
    late.sort_by(f64::total_cmp);
    Ok(late.get(late.len() * 9 / 10).copied().unwrap_or_default())
}

fn main() -> Result<(), BoxError> {
    let seconds = std::env::args()
        .nth(1)
        .map_or(Ok(1.0), |seconds| seconds.parse())?;
    let only = std::env::args().nth(2);
    let deadline = Duration::from_secs_f64(seconds);
    let url = serve(connection);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    println!(
        "| API | sends | ended | longest poll | polls | read along | longest poll | a timer of 5 ms |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for api in APIS {
        for (row, Endless { name, .. }) in all(api).iter().enumerate() {
            if only
                .as_ref()
                .is_some_and(|only| !name.contains(only.as_str()))
            {
                continue;
            }
            let own = runtime.block_on(asking(&url, api, row, deadline, false))?;
            let (ended, longest, polls) = runtime.block_on(timed(own));
            let own = runtime.block_on(asking(&url, api, row, deadline, true))?;
            let (read, slowest, _) = runtime.block_on(timed(own));
            let late = runtime.block_on(lateness(&url, api, row, deadline))?;
            let ms = |time: Duration| time.as_secs_f64() * 1e3;
            println!(
                "| {api} | {name} | {:.2} s | {:.1} ms | {polls} | {:.2} s | {:.1} ms | {late:.1} ms late |",
                ended.as_secs_f64(),
                ms(longest),
                read.as_secs_f64(),
                ms(slowest),
            );
        }
    }
    Ok(())
}
