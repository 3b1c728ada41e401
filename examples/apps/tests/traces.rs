//! A run as a collector gets it: through `opentelemetry-otlp` as it is by default, over HTTP.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use llmnode::prelude::*;
use llmnode::stub_server::StubReply;
use llmnode::{StubServer, Usage};
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_sdk::trace::SdkTracerProvider;
use prost::Message as _;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

#[derive(Default)]
struct Shop {
    found: String,
    letter: String,
}

/// Counts what is there.
#[tool]
fn stock(article: String) -> Result<u32, String> {
    if article == "lamp" {
        Ok(3)
    } else {
        Err(format!("no article {article}"))
    }
}

/// Looks it up.
#[llm_node(prompt = "How many lamps are there?", tools = [Stock], state = Shop, store = found)]
struct Look {}

/// Writes it down.
#[llm_node(prompt = "Write a letter: {found}", state = Shop, store = letter)]
struct Write_ {
    #[prep(state.found.clone())]
    found: String,
}

flow! { Errand(Shop): Look => Letter, Write_ as Letter => end }

/// The bodies of what is posted.
fn collector() -> (String, Receiver<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (bodies, received) = channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let (mut request, mut part) = (Vec::new(), [0; 64 * 1024]);
            let body = loop {
                let read = stream.read(&mut part).unwrap();
                request.extend_from_slice(&part[..read]);
                let Some(end) = request.windows(4).position(|four| four == b"\r\n\r\n") else {
                    assert!(read > 0, "a request without an end");
                    continue;
                };
                let head = String::from_utf8_lossy(&request[..end]).to_lowercase();
                let length = head.split("content-length: ").nth(1).unwrap();
                let length: usize = length.split("\r\n").next().unwrap().parse().unwrap();
                if read == 0 || request.len() >= end + 4 + length {
                    break request[end + 4..].to_vec();
                }
            };
            let _ = bodies.send(body);
            let _ = stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        }
    });
    (url, received)
}

/// Runs the flow, with its spans sent to a collector.
async fn sent(content: bool) -> (Vec<Span>, Usage) {
    let (url, received) = collector();
    let exporter = SpanExporter::builder()
        .with_http()
        .with_endpoint(format!("{url}/v1/traces"))
        .build()
        .unwrap();
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .build();
    let layer = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("test"))
        .with_location(false)
        .with_threads(false)
        .with_tracked_inactivity(false);
    let subscribed = tracing_subscriber::registry().with(layer).set_default();
    let stub = StubServer::builder().script([
        StubReply::call("stock", serde_json::json!({"article": "lamp"}))
            .and_call("stock", serde_json::json!({"article": "moon"}))
            .usage(40, 9),
        StubReply::text("There are 3 lamps.").usage(70, 8),
        StubReply::error(503, "server_error", "overloaded", "secret words"),
        StubReply::text("Dear customer, ..").usage(30, 12),
    ]);
    let server = stub.start().await.unwrap();
    let model = OpenAi::builder()
        .base_url(server.base_url())
        .model("stub")
        .build()
        .unwrap();
    let mut run = Run::new(model)
        .with_prices(Prices::new().model("stub", Price::per_million(1.0, 2.0)))
        .with_content_in_traces(content)
        .with_state(Shop::default());
    run.flow(Errand).await.unwrap();
    drop(subscribed);
    let spent = run.ledger().total();
    tokio::task::spawn_blocking(move || provider.shutdown().unwrap())
        .await
        .unwrap();
    let requests = received
        .try_iter()
        .map(|body| ExportTraceServiceRequest::decode(&*body).unwrap());
    let scopes = requests
        .flat_map(|request| request.resource_spans)
        .flat_map(|resource| resource.scope_spans);
    let mut spans: Vec<Span> = scopes.flat_map(|scope| scope.spans).collect();
    spans.sort_by_key(|span| span.start_time_unix_nano);
    (spans, spent)
}

fn get<'s>(span: &'s Span, name: &str) -> Option<&'s Value> {
    span.attributes
        .iter()
        .find(|one| one.key == name)?
        .value
        .as_ref()?
        .value
        .as_ref()
}

fn text<'s>(span: &'s Span, name: &str) -> &'s str {
    match get(span, name) {
        Some(Value::StringValue(text)) => text,
        None => "",
        other => panic!("{name}: {other:?}"),
    }
}

fn number(span: &Span, name: &str) -> u64 {
    match get(span, name) {
        Some(Value::IntValue(number)) => u64::try_from(*number).unwrap(),
        _ => 0,
    }
}

/// Names, each below its parent's.
fn tree(spans: &[Span]) -> Vec<String> {
    fn below(spans: &[Span], parent: &[u8], depth: usize, lines: &mut Vec<String>) {
        for span in spans.iter().filter(|span| span.parent_span_id == parent) {
            lines.push(format!("{}{}", "  ".repeat(depth), span.name));
            below(spans, &span.span_id, depth + 1, lines);
        }
    }
    let mut lines = Vec::new();
    below(spans, &[], 0, &mut lines);
    lines
}

#[tokio::test]
async fn a_collector_gets_what_the_ledger_has() {
    let (spans, spent) = sent(false).await;
    assert_eq!(
        tree(&spans),
        [
            "invoke_workflow errand",
            "  Look",
            "    chat stub",
            "    execute_tool stock",
            "    execute_tool stock",
            "    chat stub",
            "  Letter",
            "    chat stub",
            "    chat stub",
        ]
    );
    let [flow, agent, _, found, missing, _, letter, failed, _] = &spans[..] else {
        panic!("{spans:?}")
    };
    assert_eq!(
        (
            text(flow, "gen_ai.agent.name"),
            text(flow, "gen_ai.workflow.name")
        ),
        ("errand", "errand")
    );
    assert_eq!(
        (
            text(agent, "gen_ai.operation.name"),
            text(agent, "gen_ai.agent.name")
        ),
        ("invoke_agent", "look")
    );
    assert_eq!(
        (
            text(agent, "llmnode.step.position"),
            text(letter, "llmnode.node")
        ),
        ("Look", "write_")
    );
    assert_eq!(text(found, "gen_ai.tool.type"), "function");
    assert_eq!(
        text(found, "gen_ai.tool.description"),
        "Counts what is there."
    );
    assert!(!text(found, "llmnode.call.id").is_empty());
    let sum = |name: &str| spans.iter().map(|span| number(span, name)).sum::<u64>();
    assert_eq!(sum("gen_ai.usage.input_tokens"), spent.input.known);
    assert_eq!(sum("gen_ai.usage.output_tokens"), spent.output.known);
    let costs = spans
        .iter()
        .filter_map(|span| match get(span, "llmnode.attempt.cost") {
            Some(Value::DoubleValue(cost)) => Some(*cost),
            _ => None,
        });
    assert!((costs.sum::<f64>() - spent.cost.known()).abs() < 1e-9);

    let status = |span: &Span| {
        span.status
            .clone()
            .map(|status| (status.code, status.message))
            .unwrap_or_default()
    };
    assert_eq!(
        status(failed),
        (
            StatusCode::Error as i32,
            "server_error (HTTP 503)".to_owned()
        )
    );
    assert_eq!(
        status(missing),
        (StatusCode::Error as i32, "exec_error".to_owned())
    );
    assert_eq!(status(found).0, StatusCode::Unset as i32);
    let all = format!("{spans:?}");
    for word in [
        "secret words",
        "lamp",
        "customer",
        "code.file.path",
        "thread.id",
        "busy_ns",
    ] {
        assert!(!all.contains(word), "{word}");
    }
}

#[tokio::test]
async fn content_is_sent_where_the_program_says_so() {
    let (spans, _) = sent(true).await;
    let [_, _, chat, found, missing, ..] = &spans[..] else {
        panic!("{spans:?}")
    };
    assert_eq!(
        text(found, "gen_ai.tool.call.arguments"),
        r#"{"article":"lamp"}"#
    );
    assert_eq!(text(found, "gen_ai.tool.call.result"), "3");
    assert_eq!(text(missing, "gen_ai.tool.call.result"), "no article moon");
    assert!(text(chat, "gen_ai.tool.definitions").contains(r#""name":"stock""#));
    assert!(text(chat, "gen_ai.input.messages").contains("How many lamps"));
}
