//! The model that records another one, and plays it back.

use std::ffi::OsStr;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use llmnode_runtime::{
    BoxFuture, Category, ChatModel, Completion, ModelError, NodeError, Request, RetryBudget, Sink,
};

use crate::asked::Asked;
use crate::clean::Cleaner;
use crate::entry::{Answer, Entry, Failure};
use crate::nearest::nearest;
use crate::sink::{Keeping, tell};
use crate::tape::{Found, Tape, fault};

const VARIABLE: &str = "LLMNODE_CASSETTE";

/// What a cassette does with requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CassetteMode {
    /// Plays back what was recorded, and makes no request. A request without an entry is a `config_error`.
    #[default]
    Replay,
    /// Makes every request, and replaces the file.
    Record,
    /// Plays back what was recorded, and records what is missing.
    Auto,
}

/// A file that holds a model's answers.
///
/// Requests are compared by their messages, schema, model and settings. Entries of the same request are played back in order,
/// each once. Waits that a server asked for are kept, so a run with a [`TestClock`](llmnode_runtime::TestClock) replays them
/// at once. A stream comes in the pieces that were recorded.
///
/// The file is JSON, sorted and indented, for reviews and diffs. It is written as a whole after each recorded answer; beyond 64
/// entries, when it has grown by a third and when the model is dropped. A test that is killed leaves a file that can be read.
/// Two cassettes of one file that record at the same time overwrite each other: give each test a file of its own.
///
/// The variable `LLMNODE_CASSETTE` sets the mode for all cassettes: `replay`, `record` or `auto`.
///
/// ```
/// # mod llmnode { pub use llmnode_cassette::*; pub use llmnode_runtime::*; }
/// use llmnode::{Cassette, CassetteMode, Run, ScriptedModel};
///
/// # fn main() -> Result<(), llmnode_runtime::NodeError> {
/// # let path = std::env::temp_dir().join("llmnode-cassette-doc.json");
/// let model = Cassette::open(path)
///     .mode(CassetteMode::Auto)
///     .redact(|text| text.replace("Ada Lovelace", "[name]"))
///     // Made only if a request has to be recorded: with a real model, replay needs no key.
///     .around(|| Ok(ScriptedModel::new().reply("Hello!")))?;
/// let run = Run::new(model);
/// # let _ = run;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a cassette does nothing until it is put around a model"]
pub struct Cassette {
    path: PathBuf,
    mode: CassetteMode,
    cleaner: Cleaner,
}

impl Cassette {
    /// Names the file, such as `tests/chat.json`. It is read by [`around`](Self::around).
    pub fn open(path: impl Into<PathBuf>) -> Self {
        Cassette { path: path.into(), mode: CassetteMode::default(), cleaner: Cleaner::of_environment() }
    }

    /// Sets the mode, unless the variable `LLMNODE_CASSETTE` does. Default: [`CassetteMode::Replay`].
    pub fn mode(mut self, mode: CassetteMode) -> Self {
        self.mode = mode;
        self
    }

    /// Changes every text before it is written or compared: personal data, dates, whatever differs from run to run.
    /// Secrets are removed before: the values of environment variables whose names look like credentials, texts like
    /// `sk-…`, and what follows `Bearer`.
    pub fn redact(mut self, redact: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        self.cleaner.redact(redact);
        self
    }

    /// Puts the cassette around a model, such as `OpenAi::from_env`. The function is called once: here in the mode
    /// [`CassetteMode::Record`], otherwise at the first request that has to be recorded.
    ///
    /// # Errors
    /// The error of the function, if it is called here. `config_error` if the file cannot be read, has a newer
    /// version, or is missing in the mode [`CassetteMode::Replay`], or if `LLMNODE_CASSETTE` names an unknown mode.
    pub fn around<M: ChatModel + 'static>(
        self,
        make: impl FnOnce() -> Result<M, NodeError> + Send + 'static,
    ) -> Result<Arc<dyn ChatModel>, NodeError> {
        let Cassette { path, mode, cleaner } = self;
        let mode = mode_of_environment()?.unwrap_or(mode);
        let tape = match mode {
            CassetteMode::Record => None,
            CassetteMode::Replay | CassetteMode::Auto => Tape::open(&path)?,
        };
        if tape.is_none() && mode == CassetteMode::Replay {
            let why = format!("there is no such file; record it with {VARIABLE}=record");
            return Err(fault(&path, "cannot be read", &why));
        }
        let tape = tape.unwrap_or_default();
        let recorded = tape.model.clone();
        let make: Make = Box::new(move || Ok(Box::new(make()?) as Box<dyn ChatModel>));
        let (tape, make) = (Mutex::new(tape), Mutex::new(Some(make)));
        let recorder = Recorder { path, mode, cleaner, tape, make, recorded, model: OnceLock::new() };
        if mode == CassetteMode::Record {
            recorder.model().map_err(|(category, message)| NodeError::new(*category, message.clone()))?;
        }
        Ok(Arc::new(recorder))
    }
}

fn mode_of_environment() -> Result<Option<CassetteMode>, NodeError> {
    mode_named(std::env::var_os(VARIABLE).as_deref())
}

fn mode_named(word: Option<&OsStr>) -> Result<Option<CassetteMode>, NodeError> {
    let Some(word) = word.filter(|word| !word.is_empty()) else { return Ok(None) };
    match word.to_str() {
        Some("replay") => Ok(Some(CassetteMode::Replay)),
        Some("record") => Ok(Some(CassetteMode::Record)),
        Some("auto") => Ok(Some(CassetteMode::Auto)),
        _ => {
            let message = format!("{VARIABLE} is {word:?}; write `replay`, `record` or `auto`");
            Err(NodeError::new(Category::ConfigError, message))
        }
    }
}

type Make = Box<dyn FnOnce() -> Result<Box<dyn ChatModel>, NodeError> + Send>;

/// The model with its cassette.
struct Recorder {
    path: PathBuf,
    mode: CassetteMode,
    cleaner: Cleaner,
    tape: Mutex<Tape>,
    /// The model's id, as the file has it.
    recorded: Option<String>,
    /// What makes the model; none once it has.
    make: Mutex<Option<Make>>,
    model: OnceLock<Result<Box<dyn ChatModel>, (Category, String)>>,
}

impl Recorder {
    async fn complete(&self, request: &Request, sink: &mut dyn Sink) -> Result<Completion, ModelError> {
        let asked = Asked::new(request, &self.cleaner)
            .map_err(|error| unsent(format!("the request cannot be written as JSON: {error}")))?;
        let (found, place) = lock(&self.tape).next(&asked);
        match found {
            Found::Entry(entry) => give(*entry, sink).await,
            Found::Missing(given) if self.mode == CassetteMode::Replay => {
                Err(unsent(self.missing(&asked, given)))
            }
            Found::Missing(_) => self.record(asked, place, request, sink).await,
        }
    }

    async fn record(
        &self,
        asked: Asked,
        place: usize,
        request: &Request,
        sink: &mut dyn Sink,
    ) -> Result<Completion, ModelError> {
        let model = self.model().map_err(|(category, message)| ModelError::unsent(*category, message))?;
        let mut keeping = Keeping::new(sink);
        let outcome = model.complete(request, &mut keeping).await;
        let (answer, failure) = match &outcome {
            Ok(completion) => (Some(Answer::new(completion, &self.cleaner)), None),
            Err(error) => (None, Some(Failure::new(error, &self.cleaner))),
        };
        let written = answer.as_ref().map(|answer| answer.text.as_str());
        let said = outcome.as_ref().ok().map(|completion| completion.text.as_str());
        let (told, stream) = keeping.kept(said.zip(written), &self.cleaner);
        let request = asked.as_value().clone();
        let entry = Entry { request, completion: answer, failure, told, stream };
        let mut tape = lock(&self.tape);
        tape.model = model.model().map(|id| self.cleaner.text(id));
        tape.keep(asked, place, entry);
        let saved = if tape.is_due() { tape.save(&self.path) } else { Ok(()) };
        drop(tape);
        match saved {
            Ok(()) => outcome,
            Err(error) => {
                let mut failure = ModelError::new(Category::ConfigError, error.message());
                failure.usage = outcome.map_or_else(|error| error.usage, |completion| completion.usage);
                Err(failure)
            }
        }
    }

    /// The model, which is created at the first use.
    fn model(&self) -> Result<&dyn ChatModel, &(Category, String)> {
        let made = self.model.get_or_init(|| match lock(&self.make).take() {
            Some(make) => make().map_err(|error| (error.category(), error.message().to_owned())),
            None => Err((Category::ConfigError, "the model is being made".to_owned())),
        });
        made.as_deref()
    }

    fn made(&self) -> Option<&dyn ChatModel> {
        self.model.get()?.as_deref().ok()
    }

    fn missing(&self, asked: &Asked, given: usize) -> String {
        let path = self.path.display();
        if given > 0 {
            return format!(
                "the cassette {path} has {given} entries for this request, and all were given; record it again with \
                 {VARIABLE}=record"
            );
        }
        let advice = format!("record it with {VARIABLE}=auto");
        match nearest(asked, lock(&self.tape).asked()) {
            Some(diff) => format!(
                "the cassette {path} has no entry for this request; {advice}. The nearest entry differs (- recorded, + \
                 asked):\n{diff}"
            ),
            None => format!("the cassette {path} has no entries; {advice}"),
        }
    }
}

/// Writes what the file does not have yet.
impl Drop for Recorder {
    fn drop(&mut self) {
        let tape = self.tape.get_mut().unwrap_or_else(PoisonError::into_inner);
        if !tape.is_saved()
            && let Err(error) = tape.save(&self.path)
        {
            tracing::error!(target: "llmnode::cassette", "{}", error.message());
        }
    }
}

async fn give(entry: Entry, sink: &mut dyn Sink) -> Result<Completion, ModelError> {
    let Entry { completion, failure, told, stream, .. } = entry;
    let text = completion.as_ref().map(|answer| answer.text.as_str()).unwrap_or_default();
    tell(&told, stream.as_ref(), text, sink).await;
    match (completion, failure) {
        (Some(answer), _) => Ok(answer.completion()),
        (None, Some(failure)) => Err(failure.error()),
        (None, None) => Err(unsent("the entry of the cassette has neither `completion` nor `failure`")),
    }
}

impl ChatModel for Recorder {
    fn complete<'a>(
        &'a self,
        request: &'a Request,
        sink: &'a mut dyn Sink,
    ) -> BoxFuture<'a, Result<Completion, ModelError>> {
        Box::pin(self.complete(request, sink))
    }

    fn model(&self) -> Option<&str> {
        self.made().map_or(self.recorded.as_deref(), ChatModel::model)
    }

    fn provider(&self) -> &str {
        self.made().map_or("cassette", ChatModel::provider)
    }

    fn unenforced(&self, request: &Request) {
        if let Some(model) = self.made() {
            model.unenforced(request);
        }
    }

    fn retry_budget(&self) -> Option<&RetryBudget> {
        self.made()?.retry_budget()
    }

    fn server(&self) -> Option<(&str, u16)> {
        self.made()?.server()
    }
}

fn unsent(message: impl Into<String>) -> ModelError {
    ModelError::unsent(Category::ConfigError, message)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics while it holds a lock but the program's own functions, which change nothing.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cassette").field("path", &self.path).field("mode", &self.mode).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_names_a_mode() {
        let of = |word: &str| mode_named(Some(OsStr::new(word)));
        assert_eq!(of("record").ok(), Some(Some(CassetteMode::Record)));
        assert_eq!(of("auto").ok(), Some(Some(CassetteMode::Auto)));
        assert_eq!(of("").ok(), Some(None));
        assert_eq!(of("rec").err().map(|error| error.category()), Some(Category::ConfigError));
    }
}
