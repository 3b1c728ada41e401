//! The run of a graph, for the pages that are open.
//!
//! `start` checks everything that can be wrong before there is a run: mistakes of the graph, inputs, another run. Then a task
//! drives it: it executes the flow until it ends or pauses, writes a pause to the disk *before* the page shows it (else a decision
//! could be about something that a restart has lost), waits for all decisions, and continues. A decision that the runtime refuses
//! without a request, such as an edit that fails validation, is put back to the person with what was wrong.
//!
//! The task is a separate one: a panic in it ends the run, and not the server.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use llmnode_flow::flow::{Position, RunExt};
use llmnode_graph::{CheckedRegistry, Graph, State};
use llmnode_model::Message;
use llmnode_model::ext::Redactor;
use llmnode_page::Recording;
use llmnode_page::ext::figures;
use llmnode_runtime::ext::{RunEvent, RunRecorder};
use llmnode_runtime::{Category, Event, Limits, NodeError, Paused, Run};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::app::App;
use crate::decision::{Decided, Waiting};
use crate::form::{self, MESSAGE};
use crate::history::{Ended, of_recording};
use crate::kept::{KeptPause, KeptRun};
use crate::panels::Part;
use crate::running::Running;
use crate::state::State as ServerState;

pub(crate) enum Inputs {
    /// Texts, which the schemas of the graph read.
    Typed(Value),
    /// Of an earlier run.
    Read(Value),
}

/// `Err`: why there is no run.
pub(crate) fn start(
    app: &Arc<App>,
    file: usize,
    inputs: Inputs,
    requests: u64,
) -> Result<u64, String> {
    if !app.options.can_run {
        return Err("this server draws and checks graphs, but runs none".to_owned());
    }
    let loaded = app.read(|state| state.files.get(file).map(|file| file.loaded.clone()));
    let loaded = loaded.ok_or(format!("there is no file {file}"))?;
    let (graph, registry) = loaded.ok_or("the graph has mistakes: mend them first")?;
    let inputs = match inputs {
        Inputs::Typed(inputs) => form::read(&graph, inputs)?,
        Inputs::Read(inputs) => inputs,
    };
    let start = begin(&graph, inputs.clone())?;
    let requests = requests.min(app.options.requests);
    let run = registry
        .run(Arc::clone(&app.options.model))
        .with_limits(Limits::new().requests(requests));
    let run = run.with_state(start);
    let recording = Recording::new().with_content(true);
    let number = app.change_run(|state| {
        if state.run.is_some() {
            return Err("a run is under way: stop it first");
        }
        let number = state.history.next_number();
        let written = state.files.get(file);
        let path = written.map_or_else(PathBuf::new, |file| file.canonical().to_path_buf());
        let name = written.map_or_else(String::new, |file| file.name().into_owned());
        let kept = KeptRun::begun(number, path, name, inputs, requests);
        // Nothing was there before.
        let _ = state.keeper.keep(&kept);
        let begun = Begun {
            file,
            graph,
            registry,
            run,
            recording,
            kept,
            pause: None,
        };
        begun.go(app, state);
        Ok(number)
    })?;
    Ok(number)
}

/// A run that is about to go on.
pub(crate) struct Begun {
    pub(crate) file: usize,
    pub(crate) graph: Graph,
    pub(crate) registry: CheckedRegistry,
    pub(crate) run: Run<State>,
    pub(crate) recording: Recording,
    pub(crate) kept: KeptRun,
    /// Where it waits.
    pub(crate) pause: Option<Pause>,
}

impl Begun {
    pub(crate) fn go(self, app: &Arc<App>, state: &mut ServerState) {
        let Begun {
            file,
            graph,
            registry,
            run,
            recording,
            kept,
            pause,
        } = self;
        let (stop, stopped) = oneshot::channel();
        state.run = Some(Running {
            number: kept.number,
            file,
            graph: graph.clone(),
            registry,
            requests: kept.requests.min(app.options.requests),
            recording: recording.clone(),
            texts: Vec::new(),
            waiting: None,
            stop: Some(stop),
            kept,
        });
        let app = Arc::clone(app);
        tokio::spawn(async move {
            // A separate task, so that a panic in it ends only the run.
            let driven = tokio::spawn(drive(
                Arc::clone(&app),
                graph,
                run,
                recording,
                pause,
                stopped,
            ));
            let ending = driven
                .await
                .unwrap_or_else(|_| Ending::of("panic", String::new()));
            ended(&app, ending);
        });
    }
}

fn begin(graph: &Graph, mut inputs: Value) -> Result<State, String> {
    let message = inputs
        .as_object_mut()
        .and_then(|inputs| inputs.remove(MESSAGE));
    let state = graph.start(inputs).map_err(|error| error.to_string())?;
    let message = message
        .as_ref()
        .and_then(Value::as_str)
        .filter(|text| !text.trim().is_empty());
    Ok(state.with_messages(message.map(Message::user)))
}

struct Ending {
    outcome: String,
    error: Option<String>,
    values: String,
}

impl Ending {
    fn of(outcome: &str, values: String) -> Self {
        Ending {
            outcome: outcome.to_owned(),
            error: None,
            values,
        }
    }
}

async fn drive(
    app: Arc<App>,
    graph: Graph,
    mut run: Run<State>,
    recording: Recording,
    pause: Option<Pause>,
    stopped: oneshot::Receiver<()>,
) -> Ending {
    let outcome = tokio::select! {
        outcome = until_decided(&app, &graph, &mut run, &recording, pause) => Some(outcome),
        _ = stopped => None,
    };
    let redactor = Redactor::from_env();
    let values = redactor.text(&run.state().shown());
    match outcome {
        None => Ending::of("stopped", values),
        Some(Ok(_)) => Ending::of("completed", values),
        Some(Err(error)) => Ending {
            outcome: error.category().to_string(),
            error: Some(redactor.text(&error.to_string())),
            values,
        },
    }
}

/// What a person is asked.
pub(crate) struct Pause {
    pub(crate) number: u64,
    pub(crate) paused: Paused,
    /// What was wrong with the last decision, and what it had.
    pub(crate) problem: Option<String>,
    pub(crate) drafts: BTreeMap<String, String>,
}

async fn until_decided(
    app: &App,
    graph: &Graph,
    run: &mut Run<State>,
    recording: &Recording,
    mut pause: Option<Pause>,
) -> Result<String, NodeError> {
    let mut decided: Option<Decided> = None;
    let mut undecided: Option<Paused> = None;
    let mut number = pause.as_ref().map_or(0, |pause| pause.number);
    loop {
        let waits = match pause.take() {
            Some(waits) => waits,
            None => {
                number += 1;
                let requests = run.ledger().total().requests;
                let Decided { paused, drafts } = decided.take().unwrap_or_default();
                let outcome = once(app, graph, run, recording, paused).await;
                let Err(error) = &outcome else { return outcome };
                let is_repeated = error.category() == Category::ConfigError
                    && run.ledger().total().requests == requests;
                match (error.paused(), undecided.take().filter(|_| is_repeated)) {
                    (Some(paused), _) => Pause {
                        number,
                        paused,
                        problem: None,
                        drafts: BTreeMap::new(),
                    },
                    // After a refused decision, the person decides again.
                    (None, Some(paused)) => {
                        let problem = Redactor::from_env().text(&error.to_string());
                        Pause {
                            number,
                            paused,
                            problem: Some(problem),
                            drafts,
                        }
                    }
                    (None, None) => return outcome,
                }
            }
        };
        undecided = Some(waits.paused.clone());
        let error = waits.paused.clone().into_error();
        decided = match keep_pause(app, run, recording, waits) {
            Some(decision) => decision.await.ok(),
            None => None,
        };
        // Nobody can decide any more.
        if decided.is_none() {
            return Err(error);
        }
    }
}

/// The pause stands on the disk before anybody sees it.
fn keep_pause(
    app: &App,
    run: &Run<State>,
    recording: &Recording,
    waits: Pause,
) -> Option<oneshot::Receiver<Decided>> {
    let Pause {
        number,
        paused,
        problem,
        drafts,
    } = waits;
    let spent = run.ledger().total().requests;
    let before: Vec<Message> = run.state().messages().cloned().collect();
    app.change_run(|state| {
        let running = state.run.as_mut()?;
        let earlier = running.kept.spent;
        let (mut waiting, decision) =
            Waiting::new(format!("{}.{number}", running.number), paused.clone());
        (waiting.problem, waiting.drafts, waiting.before) = (problem, drafts, before);
        running.waiting = Some(waiting);
        if state.keeper.store.is_some() {
            let recording = recording.to_json();
            running.kept.figures = figures(&running.recording);
            running.kept.waits = Some(KeptPause {
                pause: number,
                paused,
                state: run.state().clone(),
                spent: earlier + spent,
                recording,
            });
            // What may be left says that it was interrupted, and asks nothing.
            let _ = state.keeper.keep(&running.kept);
        }
        Some(decision)
    })
}

async fn once(
    app: &App,
    graph: &Graph,
    run: &mut Run<State>,
    recording: &Recording,
    decided: Option<Paused>,
) -> Result<String, NodeError> {
    let live = Live {
        app,
        recording,
        redactor: Redactor::from_env(),
    };
    let mut call = run
        .flow(graph)
        .on_step(|_| app.step_ended())
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
        if let RunEvent::ToolEnded {
            tool,
            result: Some(result),
            ..
        } = event
        {
            let result = self.redactor.text(&result.content);
            self.app
                .append(|run| run.result(&tool.id, &tool.name, &result));
        }
    }
}

fn written(app: &App, position: &Position, event: &Event) {
    let position = position.to_string();
    if !app.read(|state| state.run.as_ref().is_some_and(|run| run.has(&position))) {
        app.change(&[Part::Texts], |state| {
            state.run.as_mut().map(|run| run.begin(&position))
        });
    }
    app.append(|run| run.write(&position, event));
}

fn ended(app: &App, ending: Ending) {
    let recording = app.read(|state| state.run.as_ref().map(|run| run.recording.clone()));
    let Some((figures, page)) = recording.as_ref().map(of_recording) else {
        return;
    };
    app.change_run(|state| {
        let Some(run) = state.run.take() else { return };
        let Ending {
            outcome,
            error,
            values,
        } = ending;
        let kept = KeptRun {
            outcome,
            error,
            values,
            figures,
            waits: None,
            ..run.kept
        };
        // What may be left waits only if it was stopped while it waited, and nothing has happened since.
        let _ = state.keeper.keep(&kept);
        if let Some(store) = &state.keeper.store {
            let _ = store.keep_page(kept.number, &page);
            store.tidy();
        }
        state.history.add(Ended::of(kept, run.file, page, true));
    });
}
