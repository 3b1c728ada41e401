//! The run of a graph, for the pages that are open.

use std::sync::Arc;

use llmnode_flow::flow::{Position, RunExt};
use llmnode_graph::{Graph, State};
use llmnode_model::Message;
use llmnode_model::internal::Redactor;
use llmnode_page::Recording;
use llmnode_runtime::internal::{RunEvent, RunRecorder};
use llmnode_runtime::{Category, Event, Limits, NodeError, Paused, Run};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::app::App;
use crate::decision::Waiting;
use crate::form::MESSAGE;
use crate::history::{Ended, of_recording};
use crate::key::Key;
use crate::running::Running;

/// `Err`: why there is no run.
pub(crate) fn start(app: &Arc<App>, file: usize, inputs: Value, requests: u64) -> Result<u64, String> {
    if !app.options.can_run {
        return Err("this server draws and checks graphs, but runs none".to_owned());
    }
    let loaded = app.read(|state| state.files.get(file).map(|file| file.loaded.clone()));
    let loaded = loaded.ok_or(format!("there is no file {file}"))?;
    let (graph, registry) = loaded.ok_or("the graph has mistakes: mend them first")?;
    let start = begin(&graph, inputs.clone())?;
    let requests = requests.min(app.options.requests);
    let run = registry.run(Arc::clone(&app.options.model)).with_limits(Limits::new().requests(requests));
    let run = run.with_state(start);
    let recording = Recording::new().with_content(true);
    let (stop, stopped) = oneshot::channel();
    let number = app.change(|state| {
        if state.run.is_some() {
            return Err("a run is under way: stop it first");
        }
        let number = state.history.next_number();
        state.run = Some(Running {
            number,
            file,
            graph: graph.clone(),
            inputs,
            requests,
            recording: recording.clone(),
            texts: Vec::new(),
            waiting: None,
            stop: Some(stop),
        });
        Ok(number)
    })?;
    let app = Arc::clone(app);
    tokio::spawn(async move {
        // A separate task, so that a panic in it ends only the run.
        let driven = tokio::spawn(drive(Arc::clone(&app), graph, run, recording, stopped));
        let ending = driven.await.unwrap_or_else(|_| Ending::of("panic", String::new()));
        ended(&app, ending);
    });
    Ok(number)
}

fn begin(graph: &Graph, mut inputs: Value) -> Result<State, String> {
    let message = inputs.as_object_mut().and_then(|inputs| inputs.remove(MESSAGE));
    let state = graph.start(inputs).map_err(|error| error.to_string())?;
    let message = message.as_ref().and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    Ok(state.with_messages(message.map(Message::user)))
}

struct Ending {
    outcome: String,
    error: Option<String>,
    values: String,
}

impl Ending {
    fn of(outcome: &str, values: String) -> Self {
        Ending { outcome: outcome.to_owned(), error: None, values }
    }
}

async fn drive(
    app: Arc<App>,
    graph: Graph,
    mut run: Run<State>,
    recording: Recording,
    stopped: oneshot::Receiver<()>,
) -> Ending {
    let outcome = tokio::select! {
        outcome = until_decided(&app, &graph, &mut run, &recording) => Some(outcome),
        _ = stopped => None,
    };
    let redactor = Redactor::from_env();
    let values = redactor.text(&run.state().shown());
    match outcome {
        None => Ending::of("stopped", values),
        Some(Ok(_)) => Ending::of("completed", values),
        Some(Err(error)) => {
            let (outcome, error) = (error.category().to_string(), Some(redactor.text(&error.to_string())));
            Ending { outcome, error, values }
        }
    }
}

async fn until_decided(
    app: &App,
    graph: &Graph,
    run: &mut Run<State>,
    recording: &Recording,
) -> Result<String, NodeError> {
    let (mut decided, mut undecided): (Option<Paused>, Option<Paused>) = (None, None);
    let redactor = Redactor::from_env();
    let mut pause = 0_u64;
    loop {
        pause += 1;
        let requests = run.ledger().total().requests;
        let outcome = once(app, graph, run, recording, decided.take()).await;
        let Err(error) = &outcome else { return outcome };
        let (paused, problem) = match (error.paused(), undecided.take()) {
            (Some(paused), _) => (paused, None),
            // After a refused decision, the person decides again.
            (None, Some(before))
                if error.category() == Category::ConfigError && run.ledger().total().requests == requests =>
            {
                (before, Some(redactor.text(&error.to_string())))
            }
            _ => return outcome,
        };
        undecided = Some(paused.clone());
        let decision = app.change(|state| {
            let run = state.run.as_mut()?;
            let (waiting, decision) = Waiting::new(format!("{}.{pause}", run.number), paused, problem);
            run.waiting = Some(waiting);
            Some(decision)
        });
        match decision {
            Some(decision) => decided = decision.await.ok(),
            None => return outcome,
        }
        // Nobody can decide any more.
        if decided.is_none() {
            return outcome;
        }
    }
}

async fn once(
    app: &App,
    graph: &Graph,
    run: &mut Run<State>,
    recording: &Recording,
    decided: Option<Paused>,
) -> Result<String, NodeError> {
    let live = Live { app, recording, redactor: Redactor::from_env() };
    let mut call = run
        .flow(graph)
        .on_step(|_| app.change(|_| ()))
        .on_event(|position, event| written(app, position, event))
        .record(&live);
    if let Some(paused) = decided {
        call = call.approve(paused);
    }
    call.await
}

/// Records the run, and shows the results of tools.
struct Live<'a> {
    app: &'a App,
    recording: &'a Recording,
    redactor: Redactor,
}

impl RunRecorder for Live<'_> {
    fn record(&self, event: &RunEvent<'_>) {
        self.recording.record(event);
        if let RunEvent::ToolEnded { tool, result: Some(result), .. } = event {
            let result = self.redactor.text(&result.content);
            self.app.append(|run| run.result(&tool.id, &tool.name, &result));
        }
    }
}

fn written(app: &App, position: &Position, event: &Event) {
    let position = position.to_string();
    if !app.read(|state| state.run.as_ref().is_some_and(|run| run.has(&position))) {
        app.change(|state| state.run.as_mut().map(|run| run.begin(&position)));
    }
    app.append(|run| run.write(&position, event));
}

fn ended(app: &App, ending: Ending) {
    let recording = app.read(|state| state.run.as_ref().map(|run| run.recording.clone()));
    let Some((figures, page)) = recording.as_ref().map(of_recording) else { return };
    // Without random numbers, nobody can open the page.
    let page_key = Key::random().map(|key| key.text().to_owned()).unwrap_or_default();
    app.change(|state| {
        let Some(run) = state.run.take() else { return };
        state.history.add(Ended {
            number: run.number,
            file: run.file,
            graph: state.files.get(run.file).map_or(String::new(), |file| file.name().into_owned()),
            inputs: run.inputs,
            requests: run.requests,
            outcome: ending.outcome,
            error: ending.error,
            values: ending.values,
            figures,
            page,
            page_key,
        });
    });
}
