//! The page, and the events that fill it.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::response::Html;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::routing::get;
use llmnode::prelude::*;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;

/// One day of a trip.
#[llm_output]
pub struct Day {
    place: String,
    hours: u8,
}

#[llm_output]
pub struct Trip {
    title: String,
    days: Vec<Day>,
}

#[llm_node(prompt = "Plan a trip to {town}.", output = Trip, retries = 1, deadline = 60s)]
pub struct Plan {
    town: String,
}

/// A page, and the plans that it asks for.
pub fn router(run: Arc<Run>) -> Router {
    Router::new()
        .route("/", get(async || Html(include_str!("page.html"))))
        .route("/plans/{town}", get(plan))
        .with_state(run)
}

async fn plan(
    State(run): State<Arc<Run>>,
    Path(town): Path<String>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    // Room for one event: who reads slowly slows the provider down.
    let (to, events) = mpsc::channel(1);
    tokio::spawn(async move {
        tokio::select! {
            () = tell(&run, Plan { town }, &to) => {}
            // The browser has left. The call is dropped here, and with it the request to the provider.
            () = to.closed() => {}
        }
    });
    Sse::new(ReceiverStream::new(events)).keep_alive(KeepAlive::default())
}

/// Sends the plan while it is written, and how it ended.
async fn tell(run: &Run, plan: Plan, to: &mpsc::Sender<Result<Event, Infallible>>) {
    let mut answer = run.call(&plan).stream();
    while let Some(event) = answer.next().await {
        let told = match (event, answer.partial()) {
            (llmnode::Event::Restarted { category, .. }, _) => {
                named("restarted", &json!(category.as_str()))
            }
            (_, Some(plan)) => named("plan", plan),
            _ => continue,
        };
        if to.send(Ok(told)).await.is_err() {
            return;
        }
    }
    let end = match answer.finish().await {
        Ok(trip) => named("done", &json!({"days": trip.days.len()})),
        // The message may quote the provider: it is for the log, and the category for the browser.
        Err(error) => named("failed", &json!(error.category().as_str())),
    };
    // Who has left misses nothing.
    let _ = to.send(Ok(end)).await;
}

fn named(name: &str, data: &Value) -> Event {
    Event::default().event(name).data(data.to_string())
}
