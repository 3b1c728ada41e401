//! A recording, as the program has it.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard};

use llmnode_model::ext::Redactor;
use llmnode_model::internal::lock;
use llmnode_runtime::FormatError;
use llmnode_runtime::ext::{RunEvent, RunRecorder, read_format};
use serde::Serialize;

use crate::collect::Collected;
use crate::document::{Document, FORMAT, VERSION};
use crate::page;
use crate::texts::Texts;

/// Records a run, and shows it as one page: what was asked and answered, what was rejected and why, which way a flow took,
/// where time and money went.
///
/// `record(&recording)` of a call, a map, a flow or an optimisation records it with all calls within, whatever comes of it. The
/// page can be made at any time, also while the run goes on, after it failed or was dropped. It is one file without a script,
/// which makes no request: it can be opened from a mail or a bug report.
///
/// By default it has figures only: times, tokens, costs, names, categories. Prompts, answers and the texts of errors are recorded
/// [if the program says so](Recording::with_content). Values of variables that look like keys are removed then, as
/// cassettes do, and [what else](Recording::redact) the program wants removed.
///
/// Clones are the same recording. It keeps the newest 10,000 steps and calls, within 64 MiB; the figures are of all. A
/// fault in it does not change the run.
///
/// ```
/// # mod llmnode { pub use llmnode_page::*; pub use llmnode_runtime::*; }
/// # use llmnode::{BoxError, Cx, Exec, Node, NodeError, Run, ScriptedModel};
/// # struct Double(u64);
/// # impl Node for Double { type Output = u64; const NAME: &'static str = "double"; }
/// # impl<S: ?Sized + Sync> Exec<S> for Double {
/// #     async fn exec(&self, _: &Cx<'_, S>) -> Result<u64, BoxError> { Ok(self.0 * 2) }
/// # }
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// use llmnode::Recording;
///
/// let run = Run::new(ScriptedModel::new());
/// let recording = Recording::new().with_content(true);
/// let outcome = run.call(&Double(4)).record(&recording).await;
/// let page = recording.page();
/// assert!(page.starts_with("<!DOCTYPE html>"));
/// # outcome.unwrap();
/// # });
/// ```
#[derive(Clone)]
pub struct Recording(Arc<Mutex<Collected>>);

impl Recording {
    /// Creates an empty recording, of figures only.
    #[must_use]
    pub fn new() -> Self {
        let texts = Texts::new(Redactor::from_env(), 0);
        Recording(Arc::new(Mutex::new(Collected::new(texts))))
    }

    /// Sets whether prompts, answers, arguments and results of tools, and the texts of errors are recorded. Who can read the
    /// page can read them then.
    #[must_use]
    pub fn with_content(self, content: bool) -> Self {
        self.lock().with_content = content;
        self
    }

    /// Sets a function that every text goes through before it is kept, after keys have been removed.
    ///
    /// ```
    /// # use llmnode_page::Recording;
    /// let recording = Recording::new().with_content(true).redact(|text| text.replace("Ada Lovelace", "[name]"));
    /// ```
    #[must_use]
    pub fn redact(self, redact: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        self.lock().texts.redact(redact);
        self
    }

    /// Sets how many steps and calls are kept at most; older ones go. Default 10,000.
    #[must_use]
    pub fn limit(self, entries: usize) -> Self {
        self.lock().limit = entries;
        self
    }

    /// Returns the page, as HTML. It shows the newest 256 steps and 256 calls.
    pub fn page(&self) -> String {
        let document = self.lock().document();
        page::page(&document)
    }

    /// Returns the recording as JSON. It begins with `"format": "llmnode/recording", "version": 1`. The command
    /// `llmnode-graph page run.json` makes the page from it.
    pub fn to_json(&self) -> String {
        #[derive(Serialize)]
        struct File {
            format: &'static str,
            version: u64,
            #[serde(flatten)]
            document: Document,
        }
        let document = self.lock().document();
        // Strings, numbers, lists and fields always serialize.
        serde_json::to_string(&File {
            format: FORMAT,
            version: VERSION,
            document,
        })
        .unwrap_or_default()
    }

    /// Reads a recording that this version of llmnode or an older one wrote.
    ///
    /// # Errors
    /// [`FormatError`]: it is something else, newer than this llmnode, or malformed.
    pub fn from_json(json: &str) -> Result<Self, FormatError> {
        let document: Document = read_format(json, FORMAT, VERSION)?;
        let texts = Texts::new(Redactor::default(), json.len());
        Ok(Recording(Arc::new(Mutex::new(Collected::of(
            document, texts,
        )))))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Collected> {
        lock(&self.0)
    }
}

impl Default for Recording {
    fn default() -> Self {
        Recording::new()
    }
}

impl RunRecorder for Recording {
    fn record(&self, event: &RunEvent<'_>) {
        self.lock().event(event);
    }
}

/// Shows no content.
impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recording")
            .field("with_content", &self.lock().with_content)
            .finish_non_exhaustive()
    }
}
