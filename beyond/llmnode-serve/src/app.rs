//! What the server knows, and what the pages that are open are sent.
//!
//! There is one state under one lock, and a page is a picture of it: each change draws the parts that it concerns and sends those
//! that differ from what was sent last. A page that is opened gets all parts and everything after them, under the same lock, so
//! that nothing is missed or sent twice. Texts of models are appended and not redrawn, and steps are drawn a few times a second at most:
//! a graph may take thousands of them.
//!
//! What takes long (reading and checking files) is done without the lock, on a copy.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, Semaphore, broadcast};

use crate::file::GraphFile;
use crate::history::History;
use crate::kept::Store;
use crate::key::Key;
use crate::options::Options;
use crate::panels::{self, Part};
use crate::running::Running;
use crate::state::{Keeper, State};

/// Between two looks at the files.
const LOOK: Duration = Duration::from_millis(500);
/// Between two drawings of a run that goes on: steps may take microseconds.
const DRAW: Duration = Duration::from_millis(100);
/// A slow page that is further behind is sent everything again.
const BEHIND: usize = 128;
/// Browsers open six connections to a server, and each page keeps one.
const PAGES: usize = 5;

pub(crate) struct App {
    pub(crate) options: Options,
    pub(crate) key: Key,
    hosts: Vec<String>,
    inner: Mutex<Inner>,
    events: broadcast::Sender<Arc<str>>,
    pub(crate) pages: Arc<Semaphore>,
    step_ended: Notify,
}

struct Inner {
    state: State,
    /// The last event of each part that was sent to the pages.
    shown: BTreeMap<String, String>,
}

impl App {
    pub(crate) fn new(options: Options, key: Key, port: u16) -> io::Result<Self> {
        let files = options
            .files
            .iter()
            .map(|file| GraphFile::new(Path::new(file)));
        let mut state = State {
            files: files.collect::<io::Result<_>>()?,
            run: None,
            history: History::default(),
            keeper: Keeper {
                store: None,
                not_kept: None,
            },
        };
        for file in &mut state.files {
            file.look(&options.registries);
        }
        match options.kept.as_deref().map(Store::open) {
            Some(Ok(store)) => state.keeper.store = Some(store),
            Some(Err(error)) => state.keeper.not_kept = Some(error.to_string()),
            None => {}
        }
        let app = App {
            options,
            key,
            hosts: hosts(port),
            inner: Mutex::new(Inner {
                state,
                shown: BTreeMap::new(),
            }),
            events: broadcast::Sender::new(BEHIND),
            pages: Arc::new(Semaphore::new(PAGES)),
            step_ended: Notify::new(),
        };
        Ok(app)
    }

    pub(crate) fn is_host(&self, host: &str) -> bool {
        self.hosts.iter().any(|allowed| allowed == host)
    }

    /// A panic elsewhere leaves the state as it was.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn read<T>(&self, read: impl FnOnce(&State) -> T) -> T {
        read(&self.lock().state)
    }

    /// Changes the state, and sends those of these parts that this changes.
    pub(crate) fn change<T>(&self, parts: &[Part], change: impl FnOnce(&mut State) -> T) -> T {
        let mut inner = self.lock();
        let changed = change(&mut inner.state);
        self.draw(&mut inner, parts);
        changed
    }

    /// Changes the run, and sends all parts that show it.
    pub(crate) fn change_run<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut inner = self.lock();
        let before = inner.state.run.as_ref().map(|run| run.file);
        let changed = change(&mut inner.state);
        let after = inner.state.run.as_ref().map(|run| run.file);
        let parts: Vec<Part> = before
            .into_iter()
            .chain(after)
            .flat_map(panels::of_run)
            .collect();
        self.draw(&mut inner, &parts);
        changed
    }

    fn draw(&self, inner: &mut Inner, parts: &[Part]) {
        let Inner { state, shown } = inner;
        for part in parts {
            let name = part.name();
            // A page that is opened later is sent all of it.
            if self.events.receiver_count() == 0 {
                shown.remove(&name);
                continue;
            }
            let event = part.event(state, &self.options);
            if shown.get(&name) != Some(&event) {
                self.send(event.clone());
                shown.insert(name, event);
            }
        }
    }

    /// A step began or ended: it is drawn soon.
    pub(crate) fn step_ended(&self) {
        self.step_ended.notify_one();
    }

    fn draw_step(&self) {
        let mut inner = self.lock();
        if let Some(file) = inner.state.run.as_ref().map(|run| run.file) {
            self.draw(&mut inner, &panels::of_step(file));
        }
    }

    pub(crate) async fn draw_steps(self: Arc<Self>) {
        loop {
            self.step_ended.notified().await;
            self.draw_step();
            tokio::time::sleep(DRAW).await;
        }
    }

    /// Does not redraw the panels.
    pub(crate) fn append(&self, write: impl FnOnce(&mut Running) -> Option<(usize, String)>) {
        let mut inner = self.lock();
        if let Some((index, text)) = inner.state.run.as_mut().and_then(write) {
            self.send(panels::append(index, &text));
        }
    }

    fn send(&self, event: String) {
        let _ = self.events.send(event.into());
    }

    /// All panels, and their changes from now on.
    pub(crate) fn follow(&self) -> (Vec<Arc<str>>, broadcast::Receiver<Arc<str>>) {
        let inner = self.lock();
        let state = &inner.state;
        let panels = panels::all(state)
            .into_iter()
            .map(|part| part.event(state, &self.options));
        let texts = state.run.iter().flat_map(|run| &run.texts);
        let texts = texts.map(|text| panels::append(text.index, &text.text));
        (
            panels.chain(texts).map(Arc::from).collect(),
            self.events.subscribe(),
        )
    }

    pub(crate) async fn watch_files(self: Arc<Self>) {
        loop {
            tokio::time::sleep(LOOK).await;
            let app = Arc::clone(&self);
            // Disks may be slow, and big graphs take a while to check.
            let looked = tokio::task::spawn_blocking(move || app.look()).await;
            if let Err(error) = looked {
                tracing::warn!(target: "llmnode::serve", %error, "the files could not be checked");
            }
        }
    }

    fn look(&self) {
        for index in 0..self.options.files.len() {
            // The check runs without the lock.
            let Some(mut file) = self.read(|state| state.files.get(index).cloned()) else {
                continue;
            };
            if file.look(&self.options.registries) {
                self.change(&[Part::Graph(index), Part::Form(index)], |state| {
                    if let Some(old) = state.files.get_mut(index) {
                        *old = file;
                    }
                });
            }
        }
    }

    /// A run that waits is kept as it is.
    pub(crate) fn close(&self) {
        let mut inner = self.lock();
        inner.state.keeper.store = None;
        inner.state.run.iter_mut().for_each(Running::stop);
    }

    pub(crate) fn stop(&self) {
        self.change_run(|state| state.run.as_mut().map(Running::stop));
    }
}

/// Browsers leave out the port that HTTP has by default.
fn hosts(port: u16) -> Vec<String> {
    let names = ["127.0.0.1", "localhost"];
    let bare = names
        .iter()
        .filter(|_| port == 80)
        .map(|name| (*name).to_owned());
    names
        .iter()
        .map(|name| format!("{name}:{port}"))
        .chain(bare)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::hosts;

    #[test]
    fn the_port_of_http_is_left_out_by_browsers() {
        assert_eq!(
            hosts(80),
            ["127.0.0.1:80", "localhost:80", "127.0.0.1", "localhost"]
        );
        assert_eq!(hosts(8080), ["127.0.0.1:8080", "localhost:8080"]);
    }
}
