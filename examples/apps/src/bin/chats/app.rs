//! The routes: a page, the messages of a chat, and a question whose answer comes as events.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Html;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::routing::get;
use axum::{Json, Router};
use llmnode::chats::{Chat, Conversations};
use llmnode::prelude::*;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::ReceiverStream;

pub struct Service {
    pub run: Run,
    pub chats: Conversations,
}

#[llm_node(
    system = "You are a librarian. Be brief.",
    prompt = "{question}",
    deadline = 120s
)]
struct Answer {
    question: String,
}

type Events = mpsc::Sender<Result<Event, Infallible>>;

pub fn router(service: Arc<Service>) -> Router {
    Router::new()
        .route("/", get(async || Html(include_str!("page.html"))))
        .route("/chats/{id}", get(messages).post(ask))
        .with_state(service)
}

/// The history, and the question that has no answer. Here a service checks whose chat it is.
async fn messages(
    State(service): State<Arc<Service>>,
    Path(id): Path<String>,
) -> Result<Json<Value>, StatusCode> {
    read(&service, id).await.map(Json).map_err(|error| {
        eprintln!("{error}");
        StatusCode::INTERNAL_SERVER_ERROR
    })
}

async fn read(service: &Service, id: String) -> Result<Value, NodeError> {
    let chat = service.chats.open(id).await?;
    let messages = chat.messages(..).await?;
    let messages: Vec<Value> = messages
        .iter()
        .map(|one| json!({"role": one.message.role, "text": one.message.content}))
        .collect();
    let unfinished = chat.unfinished().await?;
    let unfinished = unfinished.map(|turn| turn.messages()[0].content.clone());
    Ok(json!({"messages": messages, "unfinished": unfinished}))
}

/// The body is the question. An empty one goes on with the question that has no answer.
async fn ask(
    State(service): State<Arc<Service>>,
    Path(id): Path<String>,
    question: String,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let (to, events) = mpsc::channel(1);
    tokio::spawn(async move {
        tokio::select! {
            () = tell(&service, id, question, &to) => {}
            // The browser has left. The call is dropped: its chat is free again, and its question is kept.
            () = to.closed() => {}
        }
    });
    Sse::new(ReceiverStream::new(events)).keep_alive(KeepAlive::default())
}

async fn tell(service: &Service, id: String, question: String, to: &Events) {
    let outcome = async {
        let chat = service.chats.open(id).await?;
        answer(&service.run, &chat, question, to).await
    };
    let end = match outcome.await {
        Ok(()) => named("done", ""),
        // The message may quote the provider: it is for the log, and the category for the browser.
        Err(error) => named("failed", error.category().as_str()),
    };
    // Who has left misses nothing.
    let _ = to.send(Ok(end)).await;
}

async fn answer(run: &Run, chat: &Chat, question: String, to: &Events) -> Result<(), NodeError> {
    let unfinished = if question.is_empty() {
        chat.unfinished().await?
    } else {
        None
    };
    let question = match &unfinished {
        Some(turn) => turn.messages()[0].content.clone(),
        None => question,
    };
    let node = Answer { question };
    let mut call = run.call(&node).conversation(chat);
    if let Some(unfinished) = unfinished {
        call = call.resume(unfinished);
    }
    let mut stream = call.stream();
    while let Some(event) = stream.next().await {
        let told = match event {
            llmnode::Event::Text(text) => named("text", &text),
            llmnode::Event::Restarted { .. } => named("restarted", ""),
            _ => continue,
        };
        if to.send(Ok(told)).await.is_err() {
            break;
        }
    }
    stream.finish().await.map(drop)
}

/// As JSON, since a line break would end the data of an event.
fn named(name: &str, text: &str) -> Event {
    Event::default().event(name).data(json!(text).to_string())
}
