//! The runs of an earlier server: those that ended are listed, and one that waits
//! for a person waits again.

use std::sync::Arc;

use llmnode_page::ext::continued;
use llmnode_runtime::Limits;

use crate::app::App;
use crate::history::Ended;
use crate::kept::KeptRun;
use crate::run::{Begun, Pause};
use crate::state::State;

/// Of a run that waits, and whose graph is not served, or has mistakes, now.
const WAITS: &str = "waits";

/// Asks no model and executes no tool.
pub(crate) fn restore(app: &Arc<App>) {
    app.change_run(|state| {
        let kept = state
            .keeper
            .store
            .iter()
            .flat_map(|store| store.runs())
            .collect::<Vec<_>>();
        for run in kept {
            state.history.continue_after(run.number);
            let run = match waits(app, state, run) {
                Ok(begun) => {
                    begun.go(app, state);
                    continue;
                }
                Err(run) => *run,
            };
            let file = state
                .files
                .iter()
                .position(|file| file.canonical() == run.path);
            let page = state
                .keeper
                .store
                .as_ref()
                .map_or_else(String::new, |store| store.page(run.number));
            let outcome = if run.waits.is_some() {
                WAITS.to_owned()
            } else {
                run.outcome.clone()
            };
            state
                .history
                .add(Ended::of(KeptRun { outcome, ..run }, file, page, false));
        }
    });
}

/// `Err`: it does not wait, or cannot go on now.
fn waits(app: &Arc<App>, state: &State, run: KeptRun) -> Result<Begun, Box<KeptRun>> {
    let file = state
        .files
        .iter()
        .position(|file| file.canonical() == run.path);
    let loaded = file.and_then(|file| Some((file, state.files.get(file)?.loaded.clone()?)));
    let is_possible = app.options.can_run && state.run.is_none();
    let recording = run
        .waits
        .as_ref()
        .and_then(|waits| continued(&waits.recording).ok());
    let (Some((file, (graph, registry))), Some(recording), true, Some(waits)) =
        (loaded, recording, is_possible, run.waits.clone())
    else {
        return Err(Box::new(run));
    };
    // Of this server, too; one with a higher limit goes further.
    let requests = run.requests.min(app.options.requests);
    let left = requests.saturating_sub(waits.spent);
    let begun = registry
        .run(Arc::clone(&app.options.model))
        .with_limits(Limits::new().requests(left));
    let kept = KeptRun {
        spent: waits.spent,
        ..run
    };
    Ok(Begun {
        file,
        graph,
        registry,
        run: begun.with_state(waits.state),
        recording,
        kept,
        pause: Some(Pause {
            number: waits.pause,
            paused: waits.paused,
            problem: None,
            drafts: Default::default(),
        }),
    })
}
