//! The paths of the server.
//!
//! Handlers are short: they read a body, ask `app.rs` or `run.rs`, and answer with a status and a sentence. Open pages follow one
//! stream of events. A page that is too slow for it loses events; it is then sent all parts anew in place of what it lost.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;

use axum::Json;
use axum::Router;
use axum::extract::rejection::JsonRejection;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware;
use axum::response::sse::{Event, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::{get, post};
use futures_util::{Stream, stream};
use llmnode_page::ext::STYLE;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;

use crate::access;
use crate::app::App;
use crate::decision::{Decision, Waiting};
use crate::run::Inputs;
use crate::state::State as ServerState;
use crate::{panels, run};

const BODY: usize = 1 << 20;
/// The arguments of a call go back as they stand in the field.
const DECISION: usize = 16 << 20;

/// A run's page may only show itself, in a frame of ours.
const PAGE_POLICY: &str = "frame-ancestors 'self'; sandbox";

type Reply = Result<Json<Value>, (StatusCode, String)>;
type Body<T> = Result<Json<T>, JsonRejection>;

pub(crate) fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/", get(|state| page(state, Path("0".to_owned()))))
        .route("/file/{index}", get(page))
        .route("/pages/{key}", get(page_of_run))
        .route(
            "/script.js",
            get(|| async { asset("text/javascript", include_str!("assets/script.js")) }),
        )
        .route("/style.css", get(|| async { asset("text/css", style()) }))
        .route("/api/check", get(check))
        .route("/api/events", get(events))
        .route("/api/run", post(start))
        .route(
            "/api/decide",
            post(decide).layer(DefaultBodyLimit::max(DECISION)),
        )
        .route("/api/stop", post(stop))
        .layer(DefaultBodyLimit::max(BODY))
        .layer(middleware::from_fn_with_state(
            Arc::clone(&app),
            access::check,
        ))
        .with_state(app)
}

fn style() -> String {
    format!("{STYLE}{}", include_str!("assets/style.css"))
}

fn asset(kind: &'static str, text: impl Into<String>) -> impl IntoResponse {
    (
        [(header::CONTENT_TYPE, format!("{kind}; charset=utf-8"))],
        text.into(),
    )
}

async fn page(
    State(app): State<Arc<App>>,
    Path(index): Path<String>,
) -> Result<Html<String>, StatusCode> {
    let index = index.parse().map_err(|_| StatusCode::NOT_FOUND)?;
    app.read(|state| panels::page(state, index))
        .map(Html)
        .ok_or(StatusCode::NOT_FOUND)
}

async fn page_of_run(State(app): State<Arc<App>>, Path(key): Path<String>) -> Response {
    let mut headers = HeaderMap::new();
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(PAGE_POLICY),
    );
    match app.read(|state| state.history.page(&key).map(str::to_owned)) {
        Some(page) => (headers, Html(page)).into_response(),
        None => (
            StatusCode::NOT_FOUND,
            headers,
            "The page of this run is not kept any more.",
        )
            .into_response(),
    }
}

/// As `llmnode-graph check` would list them.
async fn check(State(app): State<Arc<App>>) -> Json<Value> {
    app.read(|state| {
        let files = state.files.iter().map(|file| {
            let mistakes = file.mistakes.iter().map(
                |mistake| json!({"line": mistake.line, "text": mistake.text, "is_warning": mistake.is_warning}),
            );
            json!({"file": file.name(), "problem": file.problem, "mistakes": mistakes.collect::<Vec<_>>()})
        });
        Json(files.collect())
    })
}

async fn events(
    State(app): State<Arc<App>>,
) -> Result<impl IntoResponse, (StatusCode, &'static str)> {
    let Ok(permit) = Arc::clone(&app.pages).try_acquire_owned() else {
        return Err((
            StatusCode::TOO_MANY_REQUESTS,
            "the page is open too often: close another one",
        ));
    };
    Ok(Sse::new(followed(app, permit)).keep_alive(axum::response::sse::KeepAlive::default()))
}

/// `permit`: held for as long as the page is open.
fn followed(app: Arc<App>, permit: impl Send) -> impl Stream<Item = Result<Event, Infallible>> {
    let (first, receiver) = app.follow();
    let state = (app, permit, VecDeque::from(first), receiver);
    stream::unfold(state, |(app, permit, mut ready, mut receiver)| async move {
        while ready.is_empty() {
            match receiver.recv().await {
                Ok(event) => ready.push_back(event),
                // The current panels replace the lost events.
                Err(RecvError::Lagged(_)) => {
                    let (panels, again) = app.follow();
                    ready.push_back(r#"{"texts":[]}"#.into());
                    ready.extend(panels);
                    receiver = again;
                }
                Err(RecvError::Closed) => return None,
            }
        }
        let event = Event::default().data(ready.pop_front()?);
        Some((Ok(event), (app, permit, ready, receiver)))
    })
}

#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum Start {
    Again {
        again: u64,
    },
    New {
        file: usize,
        inputs: Value,
        requests: Requests,
    },
}

/// A number, or what was typed.
#[derive(Deserialize)]
#[serde(untagged)]
enum Requests {
    Number(u64),
    Typed(String),
}

impl Requests {
    fn number(self) -> Result<u64, (StatusCode, String)> {
        let typed = match self {
            Requests::Number(number) => return Ok(number),
            Requests::Typed(text) => text,
        };
        let number = typed.trim().parse().ok().filter(|number| *number > 0);
        number.ok_or_else(|| {
            (
                StatusCode::CONFLICT,
                "Requests at most: write a number from 1".to_owned(),
            )
        })
    }
}

async fn start(State(app): State<Arc<App>>, body: Body<Start>) -> Reply {
    let (file, inputs, requests) = match read(body)? {
        Start::New {
            file,
            inputs,
            requests,
        } => (file, Inputs::Typed(inputs), requests.number()?),
        Start::Again { again } => app
            .read(|state| {
                let run = state.history.runs.iter().find(|run| run.number == again)?;
                Some((run.file?, Inputs::Read(run.inputs.clone()), run.requests))
            })
            .ok_or((
                StatusCode::NOT_FOUND,
                format!("there is no run {again} any more"),
            ))?,
    };
    match run::start(&app, file, inputs, requests) {
        Ok(number) => Ok(Json(json!({"run": number}))),
        Err(message) => Err((StatusCode::CONFLICT, message)),
    }
}

async fn decide(State(app): State<Arc<App>>, body: Body<Decision>) -> Reply {
    let decision = read(body)?;
    done(app.change_run(|state| decide_and_keep(state, decision)))
}

/// What was decided is on the disk before anything of it happens: a restart does not ask about it again.
fn decide_and_keep(state: &mut ServerState, decision: Decision) -> Result<(), String> {
    let run = state.run.as_mut().ok_or("no run is under way")?;
    let waiting = run.waiting.as_mut().ok_or("nothing waits")?;
    if waiting.number != decision.pause {
        return Err("that pause is over: decide about what the page shows now".to_owned());
    }
    let undecided = waiting.paused.clone();
    if !waiting
        .decide(decision, &run.registry)
        .map_err(|error| error.to_string())?
    {
        return Ok(());
    }
    let waits = run.kept.waits.take();
    if let Err(why) = state.keeper.keep(&run.kept) {
        waiting.paused = undecided;
        run.kept.waits = waits;
        return Err(format!(
            "nothing runs, since a restart would ask for the same again: the run's file can neither be written nor removed ({why}). \
             Mend that, and decide again"
        ));
    }
    run.waiting.take().into_iter().for_each(Waiting::go_on);
    Ok(())
}

async fn stop(State(app): State<Arc<App>>, body: Body<Value>) -> Reply {
    read(body)?;
    app.stop();
    Ok(Json(json!({})))
}

fn read<T>(body: Body<T>) -> Result<T, (StatusCode, String)> {
    match body {
        Ok(Json(value)) => Ok(value),
        Err(rejection) => Err((rejection.status(), rejection.body_text())),
    }
}

fn done(outcome: Result<(), String>) -> Reply {
    outcome
        .map(|()| Json(json!({})))
        .map_err(|message| (StatusCode::CONFLICT, message))
}
