//! What the server knows, and what the pages that are open are sent.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, broadcast};

use crate::file::GraphFile;
use crate::history::History;
use crate::key::Key;
use crate::options::Options;
use crate::panels;
use crate::running::Running;
use crate::state::State;

/// Between two looks at the files.
const LOOK: Duration = Duration::from_millis(500);
/// A slow page that is further behind is sent everything again.
const BEHIND: usize = 128;
/// Browsers open six connections to a server, and each page keeps one.
const PAGES: usize = 5;

pub(crate) struct App {
    pub(crate) options: Options,
    pub(crate) key: Key,
    hosts: [String; 2],
    inner: Mutex<Inner>,
    events: broadcast::Sender<Arc<str>>,
    pub(crate) pages: Arc<Semaphore>,
}

struct Inner {
    state: State,
    /// By panel: the last event sent to the pages.
    shown: BTreeMap<String, String>,
}

impl App {
    pub(crate) fn new(options: Options, key: Key, port: u16) -> io::Result<Self> {
        let files = options.files.iter().map(|file| GraphFile::new(Path::new(file)));
        let mut state =
            State { files: files.collect::<io::Result<_>>()?, run: None, history: History::default() };
        for file in &mut state.files {
            file.look(&options.registries);
        }
        let app = App {
            options,
            key,
            hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")],
            inner: Mutex::new(Inner { state, shown: BTreeMap::new() }),
            events: broadcast::Sender::new(BEHIND),
            pages: Arc::new(Semaphore::new(PAGES)),
        };
        app.change(|_| ());
        Ok(app)
    }

    pub(crate) fn is_host(&self, host: &str) -> bool {
        self.hosts.iter().any(|own| own == host)
    }

    /// A panic elsewhere leaves the state as it was.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn read<T>(&self, read: impl FnOnce(&State) -> T) -> T {
        read(&self.lock().state)
    }

    /// Changes the state, and sends the panels that this changes.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let Inner { state, shown } = &mut *self.lock();
        let changed = change(state);
        for (panel, event) in panels::all(state, &self.options) {
            if shown.get(&panel) != Some(&event) {
                self.send(event.clone());
                shown.insert(panel, event);
            }
        }
        changed
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
        let panels = panels::all(state, &self.options).into_iter().map(|(_, event)| event);
        let texts = state.run.iter().flat_map(|run| &run.texts);
        let texts = texts.map(|text| panels::append(text.index, &text.text));
        (panels.chain(texts).map(Arc::from).collect(), self.events.subscribe())
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
            let Some(mut file) = self.read(|state| state.files.get(index).cloned()) else { continue };
            if file.look(&self.options.registries) {
                self.change(|state| {
                    if let Some(old) = state.files.get_mut(index) {
                        *old = file;
                    }
                });
            }
        }
    }

    pub(crate) fn stop(&self) {
        self.change(|state| state.run.as_mut().map(Running::stop));
    }
}
