//! A run on the model of the environment, written as a page and sent as spans to a collector:
//!
//! ```text
//! OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:5000 cargo run --manifest-path examples/apps/Cargo.toml --bin traced -- run.html
//! ```
//!
//! The model is that of `OPENAI_BASE_URL`, `OPENAI_API_KEY` and `OPENAI_MODEL`; the collector's headers are those of
//! `OTEL_EXPORTER_OTLP_HEADERS`. It prints what the ledger has.

#[path = "../../../../common/arguments.rs"]
mod arguments;

use llmnode::Recording;
use llmnode::prelude::*;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::trace::SdkTracerProvider;
use serde_json::json;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

struct Desk {
    letter: &'static str,
    ticket: Option<Ticket>,
    answer: String,
}

#[llm_output]
#[derive(Debug)]
enum Topic {
    Delivery,
    Payment,
    Other,
}

#[llm_output]
#[derive(Debug)]
struct Ticket {
    topic: Topic,
    urgent: bool,
}

/// Sorts a letter.
#[llm_node(prompt = "Sort this letter:\n{state.letter}", output = Ticket, state = Desk, retries = 2, max_tokens = 60)]
struct Sort {}

impl llmnode::flow::Step<Desk> for Sort {
    type Output = Ticket;
    type Action = ();

    async fn prep(_: &Desk) -> Result<Self, llmnode::BoxError> {
        Ok(Sort {})
    }

    fn post(self, ticket: Ticket, desk: &mut Desk) -> Result<(), llmnode::BoxError> {
        desk.ticket = Some(ticket);
        Ok(())
    }
}

/// Answers it.
#[llm_node(
    system = "You are polite and brief.",
    prompt = "Answer this letter in two sentences:\n{state.letter}",
    state = Desk,
    store = answer,
    max_tokens = 80
)]
struct Answer {}

flow! { Letters(Desk): Sort => Answer, Answer => end }

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = arguments::Arguments::read("[FILE]");
    let exporter = SpanExporter::builder().with_http().build()?;
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .build();
    let layer = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("traced"))
        .with_location(false)
        .with_threads(false)
        .with_tracked_inactivity(false);
    tracing_subscriber::registry().with(layer).init();

    let desk = Desk {
        letter: "My lamp has not arrived, and I need it tonight!",
        ticket: None,
        answer: String::new(),
    };
    let mut run = Run::new(OpenAi::from_env()?)
        .with_content_in_traces(true)
        .with_state(desk);
    let recording = Recording::new().with_content(true);
    let outcome = run.flow(Letters).record(&recording).await;
    if let Some(file) = arguments.value(0) {
        std::fs::write(file, recording.page())?;
    }
    let spent = run.ledger().total();
    // What is left is sent from a thread that may block.
    tokio::task::spawn_blocking(move || {
        provider.shutdown_with_timeout(std::time::Duration::from_secs(60))
    })
    .await??;
    let Desk { ticket, answer, .. } = run.state();
    eprintln!("{ticket:?}\n{answer}");
    let (input, output) = (spent.input.total(), spent.output.total());
    println!(
        "{}",
        json!({"requests": spent.requests, "input": input, "output": output})
    );
    Ok(outcome?)
}
