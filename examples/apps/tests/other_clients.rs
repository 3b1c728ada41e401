//! Other clients in the same program: llmnode switches on no feature of theirs, and installs nothing for the process.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use llmnode::StubServer;
use llmnode::prelude::*;
use llmnode::stub_server::StubReply;
use opentelemetry::trace::{Tracer, TracerProvider};
use opentelemetry_otlp::{SpanExporter, WithExportConfig};
use opentelemetry_sdk::trace::SdkTracerProvider;

#[llm_node(prompt = "Greet Ada.")]
struct Greet;

async fn greeting() -> String {
    let server = StubServer::builder()
        .default_reply(StubReply::text("Hello!"))
        .start()
        .await
        .unwrap();
    let model = OpenAi::builder()
        .base_url(server.base_url())
        .model("m")
        .build()
        .unwrap();
    Run::new(model).call(&Greet).await.unwrap()
}

/// A server that answers each request with nothing; its address, and the first lines of all requests.
fn collector() -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (tell, told) = channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 64 * 1024];
            let read = stream.read(&mut request).unwrap();
            let text = String::from_utf8_lossy(&request[..read]).into_owned();
            let _ = tell.send(text.lines().next().unwrap_or_default().to_owned());
            let _ = stream
                .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        }
    });
    (url, told)
}

#[tokio::test]
async fn a_client_of_reqwest_without_features() {
    let (url, requests) = collector();
    let client = reqwest::Client::new();
    assert_eq!(
        client
            .get(format!("{url}/status"))
            .send()
            .await
            .unwrap()
            .status(),
        200
    );
    assert_eq!(requests.recv().unwrap(), "GET /status HTTP/1.1");
    assert_eq!(greeting().await, "Hello!");
    // Without a feature for TLS it has none, as its manifest says.
    assert!(client.get("https://127.0.0.1:1/").send().await.is_err());
}

#[tokio::test]
async fn spans_are_exported_over_http_as_by_default() {
    let (url, requests) = collector();
    let exporter = SpanExporter::builder()
        .with_http()
        .with_endpoint(format!("{url}/v1/traces"))
        .build()
        .unwrap();
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .build();
    provider.tracer("test").in_span("a span", |_| {});
    assert_eq!(greeting().await, "Hello!");
    tokio::task::spawn_blocking(move || provider.shutdown().unwrap())
        .await
        .unwrap();
    assert_eq!(requests.recv().unwrap(), "POST /v1/traces HTTP/1.1");
}
