//! The channel between a call and its stream. It holds the events of one poll of
//! the call, and no more.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard};
use std::task::Poll;

use llmnode_model::internal::lock;
use llmnode_model::{BoxFuture, Category, Delta, ModelError, ToolCall};
use llmnode_reader::OutputSchema;
use llmnode_reader::ext::{Spoken, has_list_at};
use llmnode_reader::internal::WRAPPER;
use llmnode_reader::text::one_line;

use super::event::{Event, FlowContext, Observer};
use crate::error::NodeError;
use crate::ledger::CallGuard;

/// Written by the attempt loop, read by the stream. An observer of a flow gets each
/// event at once instead.
///
/// Both are the same task: a stream polls its call, and takes what that poll has
/// left here. So the lock is never waited for. It is given back before an observer
/// is told, since an observer is code of the program and may look at the stream.
#[derive(Default)]
pub(crate) struct Listener<'r> {
    state: Mutex<ListenerState>,
    observer: Option<(&'r dyn Observer, &'r CallGuard<'r>)>,
}

#[derive(Debug, Default)]
struct ListenerState {
    events: VecDeque<Event>,
    /// The path to the value within the JSON of the answer. `None`: the answer is text.
    json: Option<&'static [&'static str]>,
    /// The path to the list whose items are asked for.
    list: Option<Vec<String>>,
    requests: u32,
    /// Reported with the next request, as `Restarted`.
    failed: Option<Category>,
    /// Of the request's answer, so far. Thoughts are no part of it.
    bytes: usize,
}

impl<'r> Listener<'r> {
    pub(super) fn observed(
        flow: Option<&'r FlowContext<'r>>,
        call: &'r CallGuard<'r>,
    ) -> Option<Box<Self>> {
        let observer = flow?.observer?;
        if !observer.listens() {
            return None;
        }
        Some(Box::new(Listener {
            state: Mutex::default(),
            observer: Some((observer, call)),
        }))
    }

    fn emit(&self, mut state: MutexGuard<'_, ListenerState>, event: Event) {
        let Some((observer, call)) = self.observer else {
            return state.events.push_back(event);
        };
        drop(state);
        observer.event(&call.observed_path(), &event);
    }

    pub(super) fn require_list(&self, path: &[String]) {
        self.lock().list = Some(path.to_vec());
    }

    pub(super) fn set_schema(&self, schema: Option<&OutputSchema>) -> Result<(), NodeError> {
        let mut state = self.lock();
        state.json = match schema {
            None => None,
            Some(schema) if schema.is_wrapped() => Some(&[WRAPPER]),
            Some(_) => Some(&[]),
        };
        let Some(path) = state.list.as_deref() else {
            return Ok(());
        };
        if let Some(schema) = schema
            && has_list_at(schema, path)
        {
            return Ok(());
        }
        let message = match (schema, path) {
            (None, _) => "`items` needs a typed answer; this one is text".to_owned(),
            (_, []) => "the answer is not a list; name the member that is one: `.items(\"steps\")`"
                .to_owned(),
            _ => {
                let path = one_line(path.join("."), 200);
                format!("the answer has no list at {path:?}")
            }
        };
        Err(NodeError::new(Category::ConfigError, message))
    }

    /// A request goes out. What was shown of the one before it is void: that is
    /// said now, and not when it failed, since only now it is known that the model
    /// begins again.
    pub(super) fn request_began(&self) {
        let mut state = self.lock();
        state.bytes = 0;
        let attempt = state.requests;
        state.requests = attempt.saturating_add(1);
        if let Some(category) = state.failed.take() {
            self.emit(state, Event::Restarted { category, attempt });
        }
    }

    pub(super) fn failed(&self, category: Category) {
        self.lock().failed = Some(category);
    }

    /// The answer begins anew in one request: what was shown of it is void.
    pub(super) fn restarted(&self, category: Category) {
        let mut state = self.lock();
        state.bytes = 0;
        let attempt = state.requests.saturating_sub(1);
        self.emit(state, Event::Restarted { category, attempt });
    }

    pub(super) fn delta(&self, delta: Delta<'_>) {
        let mut state = self.lock();
        if let Delta::Text(text) = delta {
            state.bytes = state.bytes.saturating_add(text.len());
        }
        match (delta, state.events.back_mut()) {
            (Delta::Text("") | Delta::Reasoning(""), _) => {}
            (Delta::Text(text), Some(Event::Text(last)))
            | (Delta::Reasoning(text), Some(Event::Reasoning(last))) => last.push_str(text),
            (Delta::Text(text), _) => self.emit(state, Event::Text(text.to_owned())),
            (Delta::Reasoning(text), _) => self.emit(state, Event::Reasoning(text.to_owned())),
            _ => {}
        }
    }

    /// A piece of a text in which thoughts may stand.
    pub(super) fn spoken(&self, piece: Spoken<'_>) {
        match piece {
            Spoken::Answer(text) => self.delta(Delta::Text(text)),
            Spoken::Thought(text) => self.delta(Delta::Reasoning(text)),
            // As where a turn ends without an answer: the text before was none.
            Spoken::Void => {
                self.lock().bytes = 0;
                self.emit_tool_calls(&[]);
            }
        }
    }

    /// Shows an answer of which nothing was streamed, such as one from the journal.
    pub(super) fn emit_unstreamed(&self, answer: &str) {
        if self.lock().bytes == 0 {
            self.delta(Delta::Text(answer));
        }
    }

    pub(super) async fn with_max_bytes<T>(
        &self,
        cap: usize,
        mut completion: BoxFuture<'_, Result<T, ModelError>>,
    ) -> Result<T, ModelError> {
        poll_fn(|cx| {
            let outcome = completion.as_mut().poll(cx);
            if outcome.is_pending() && self.lock().bytes > cap {
                let message = format!("the answer has more bytes than max_output_bytes ({cap})");
                return Poll::Ready(Err(ModelError::new(Category::TruncatedOutput, message)));
            }
            outcome
        })
        .await
    }

    pub(super) fn emit_tool_calls(&self, calls: &[ToolCall]) {
        self.emit(self.lock(), Event::ToolCalls(calls.to_vec()));
    }

    /// Waits until the stream has taken all events; otherwise a blocking tool would hold them back.
    pub(super) async fn drained(&self) {
        poll_fn(|cx| {
            if self.is_empty() {
                return Poll::Ready(());
            }
            cx.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }

    pub(super) fn tool_ended(&self, id: &str, outcome: Cow<'static, str>) {
        let id = id.to_owned();
        self.emit(self.lock(), Event::ToolResult { id, outcome });
    }

    pub(super) fn next(&self) -> Option<Event> {
        self.lock().events.pop_front()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().events.is_empty()
    }

    pub(super) fn json(&self) -> Option<&'static [&'static str]> {
        self.lock().json
    }

    fn lock(&self) -> MutexGuard<'_, ListenerState> {
        lock(&self.state)
    }
}
