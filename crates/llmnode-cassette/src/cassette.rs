//! The model that records another one, and plays its answers back.

use std::ffi::OsStr;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use llmnode_model::ext::Redactor;
use llmnode_runtime::{
    BoxFuture, Category, ChatModel, Completion, ModelError, NodeError, Request, Sink,
};

use crate::entry::{Entry, RecordedCompletion, RecordedError};
use crate::file::{CassetteFile, Lookup, file_error};
use crate::mismatch::nearest_entry_diff;
use crate::request_key::RequestKey;
use crate::sink::{RecordingSink, replay};

const VARIABLE: &str = "LLMNODE_CASSETTE";

/// What a cassette does with requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum CassetteMode {
    /// Plays back what was recorded, and makes no request. A request without an
    /// entry is a `config_error`.
    #[default]
    Replay,
    /// Makes every request, and replaces the file.
    Record,
    /// Plays back what was recorded, and records what is missing.
    Auto,
}

/// A file that holds a model's answers.
///
/// Requests are compared by their messages, schema, model and settings. Entries of
/// the same request are played back in order, each once. Waits that a server asked
/// for are kept, so a run with a [`TestClock`](llmnode_runtime::TestClock) replays
/// them at once. A stream comes in the pieces that were recorded.
///
/// The file is JSON, sorted and indented, for reviews and diffs. It is written as a
/// whole after each recorded answer; beyond 64 entries, when it has grown by a
/// third and when the model is dropped. A test that is killed leaves a file that
/// can be read. Two cassettes of one file that record at the same time overwrite
/// each other: give each test a file of its own.
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
    redactor: Redactor,
}

impl Cassette {
    /// Names the file, such as `tests/chat.json`. It is read by [`around`](Self::around).
    pub fn open(path: impl Into<PathBuf>) -> Self {
        Cassette {
            path: path.into(),
            mode: CassetteMode::default(),
            redactor: Redactor::from_env(),
        }
    }

    /// Sets the mode, unless the variable `LLMNODE_CASSETTE` does. Default:
    /// [`CassetteMode::Replay`].
    pub fn mode(mut self, mode: CassetteMode) -> Self {
        self.mode = mode;
        self
    }

    /// Changes every text before it is written or compared: personal data, dates,
    /// whatever differs from run to run. Secrets are removed before: the values of
    /// environment variables whose names or values look like credentials, texts
    /// like `sk-…`, and what follows `Bearer`.
    pub fn redact(mut self, redact: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        self.redactor.redact(redact);
        self
    }

    /// Puts the cassette around a model, such as `OpenAi::from_env`. The function
    /// is called once: here in the mode
    /// [`CassetteMode::Record`], otherwise at the first request that has to be recorded.
    ///
    /// # Errors
    /// The error of the function, if it is called here. `config_error` if the file
    /// cannot be read, has a newer version, is missing in the mode
    /// [`CassetteMode::Replay`], or is no cassette in the mode
    /// [`CassetteMode::Record`], which would replace it; or if `LLMNODE_CASSETTE`
    /// names an unknown mode.
    pub fn around<M: ChatModel + 'static>(
        self,
        make: impl FnOnce() -> Result<M, ModelError> + Send + 'static,
    ) -> Result<Arc<dyn ChatModel>, NodeError> {
        let Cassette {
            path,
            mode,
            redactor,
        } = self;
        let mode = mode_from_env()?.unwrap_or(mode);
        let file = match mode {
            CassetteMode::Record => {
                CassetteFile::check_replaceable(&path)?;
                None
            }
            CassetteMode::Replay | CassetteMode::Auto => CassetteFile::open(&path)?,
        };
        if file.is_none() && mode == CassetteMode::Replay {
            let why = format!("there is no such file; record it with {VARIABLE}=record");
            return Err(file_error(&path, "cannot be read", &why));
        }
        let file = file.unwrap_or_default();
        let recorded_model = file.model.clone();
        let make: MakeModel = Box::new(move || Ok(Box::new(make()?) as Box<dyn ChatModel>));
        let recorder = Recorder {
            path,
            mode,
            redactor,
            file: Mutex::new(file),
            make: Mutex::new(Some(make)),
            recorded_model,
            model: OnceLock::new(),
        };
        if mode == CassetteMode::Record {
            recorder
                .model()
                .map_err(|(category, message)| NodeError::new(*category, message.clone()))?;
        }
        Ok(Arc::new(recorder))
    }
}

fn mode_from_env() -> Result<Option<CassetteMode>, NodeError> {
    parse_mode(std::env::var_os(VARIABLE).as_deref())
}

fn parse_mode(word: Option<&OsStr>) -> Result<Option<CassetteMode>, NodeError> {
    let Some(word) = word.filter(|word| !word.is_empty()) else {
        return Ok(None);
    };
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

type MakeModel = Box<dyn FnOnce() -> Result<Box<dyn ChatModel>, ModelError> + Send>;

struct Recorder {
    path: PathBuf,
    mode: CassetteMode,
    redactor: Redactor,
    file: Mutex<CassetteFile>,
    /// From the file, or the model's id until the model is created.
    recorded_model: Option<String>,
    make: Mutex<Option<MakeModel>>,
    model: OnceLock<Result<Box<dyn ChatModel>, (Category, String)>>,
}

impl Recorder {
    async fn complete(
        &self,
        request: &Request,
        sink: &mut dyn Sink,
    ) -> Result<Completion, ModelError> {
        let request_key = RequestKey::new(request, &self.redactor)
            .map_err(|error| unsent(format!("the request cannot be written as JSON: {error}")))?;
        let (found, occurrence) = lock(&self.file).next(&request_key);
        match found {
            Lookup::Entry(entry) => play_back(*entry, sink).await,
            Lookup::Missing(recorded) if self.mode == CassetteMode::Replay => {
                Err(unsent(self.missing_entry_message(&request_key, recorded)))
            }
            Lookup::Missing(_) => self.record(request_key, occurrence, request, sink).await,
        }
    }

    async fn record(
        &self,
        request_key: RequestKey,
        occurrence: usize,
        request: &Request,
        sink: &mut dyn Sink,
    ) -> Result<Completion, ModelError> {
        let model = self
            .model()
            .map_err(|(category, message)| ModelError::unsent(*category, message))?;
        let mut recording = RecordingSink::new(sink);
        let outcome = model.complete(request, &mut recording).await;
        let (answer, failure) = match &outcome {
            Ok(completion) => (
                Some(RecordedCompletion::new(completion, &self.redactor)),
                None,
            ),
            Err(error) => (None, Some(RecordedError::new(error, &self.redactor))),
        };
        let written = answer.as_ref().map(|answer| answer.text.as_str());
        let original_text = outcome
            .as_ref()
            .ok()
            .map(|completion| completion.text.as_str());
        let (metadata, stream) = recording.finish(original_text.zip(written), &self.redactor);
        let request = request_key.as_value().clone();
        let entry = Entry {
            request,
            completion: answer,
            failure,
            metadata,
            stream,
        };
        let mut file = lock(&self.file);
        file.model = model.model().map(|id| self.redactor.text(id));
        file.keep(request_key, occurrence, entry);
        let saved = if file.should_save() {
            file.save(&self.path)
        } else {
            Ok(())
        };
        drop(file);
        match saved {
            Ok(()) => outcome,
            Err(error) => {
                let mut failure = ModelError::new(Category::ConfigError, error.message());
                failure.usage = outcome.map_or_else(
                    |error| error.usage,
                    |completion| completion.usage.map(Box::new),
                );
                Err(failure)
            }
        }
    }

    fn model(&self) -> Result<&dyn ChatModel, &(Category, String)> {
        let opened_model = self.model.get_or_init(|| match lock(&self.make).take() {
            Some(make) => make().map_err(|error| (error.category, error.message)),
            None => Err((Category::ConfigError, "the model is being made".to_owned())),
        });
        opened_model.as_deref()
    }

    fn opened_model(&self) -> Option<&dyn ChatModel> {
        self.model.get()?.as_deref().ok()
    }

    fn missing_entry_message(&self, request_key: &RequestKey, recorded: usize) -> String {
        let path = self.path.display();
        if recorded > 0 {
            return format!(
                "the cassette {path} has {recorded} entries for this request, and all were given; \
                 record it again with {VARIABLE}=record"
            );
        }
        let advice = format!("record it with {VARIABLE}=auto");
        match nearest_entry_diff(request_key, lock(&self.file).distinct_requests()) {
            Some(diff) => format!(
                "the cassette {path} has no entry for this request; {advice}. The nearest entry \
                 differs (- recorded, + asked):\n{diff}"
            ),
            None => format!("the cassette {path} has no entries; {advice}"),
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        let file = self.file.get_mut().unwrap_or_else(PoisonError::into_inner);
        if !file.is_saved()
            && let Err(error) = file.save(&self.path)
        {
            tracing::error!(target: "llmnode::cassette", "{}", error.message());
        }
    }
}

async fn play_back(entry: Entry, sink: &mut dyn Sink) -> Result<Completion, ModelError> {
    let Entry {
        completion,
        failure,
        metadata,
        stream,
        ..
    } = entry;
    let text = completion
        .as_ref()
        .map(|answer| answer.text.as_str())
        .unwrap_or_default();
    replay(&metadata, stream.as_ref(), text, sink).await;
    match (completion, failure) {
        (Some(answer), _) => Ok(answer.completion()),
        (None, Some(failure)) => Err(failure.error()),
        (None, None) => Err(unsent(
            "the entry of the cassette has neither `completion` nor `failure`",
        )),
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

    fn inner(&self) -> Option<&dyn ChatModel> {
        self.opened_model()
    }

    fn model(&self) -> Option<&str> {
        self.opened_model()
            .map_or(self.recorded_model.as_deref(), ChatModel::model)
    }

    fn provider(&self) -> &str {
        self.opened_model().map_or("cassette", ChatModel::provider)
    }

    // When the answers are played back there is no provider that could search.
    fn searches_tools(&self, _: &Request) -> bool {
        false
    }
}

fn unsent(message: impl Into<String>) -> ModelError {
    ModelError::unsent(Category::ConfigError, message)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Only the program's functions can panic under a lock, and they change nothing.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cassette")
            .field("path", &self.path)
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_names_a_mode() {
        let of = |word: &str| parse_mode(Some(OsStr::new(word)));
        assert_eq!(of("record").ok(), Some(Some(CassetteMode::Record)));
        assert_eq!(of("auto").ok(), Some(Some(CassetteMode::Auto)));
        assert_eq!(of("").ok(), Some(None));
        assert_eq!(
            of("rec").err().map(|error| error.category()),
            Some(Category::ConfigError)
        );
    }
}
