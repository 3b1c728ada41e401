//! The answer of a call while it is written.

use std::fmt;
use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use llmnode_reader::IncrementalParser;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::call::{Call, CallReport, CallResult};
use super::event::Event;
use super::listener::Listener;
use crate::error::NodeError;

impl<'r, T> Call<'r, T> {
    /// Streams the answer: its text while it is written, its JSON so far, and the
    /// output at the end.
    ///
    /// Call the setters before it. If a model cannot stream or refuses to, its
    /// answer is one event; a node without a model has no events. Retries and
    /// corrections are as without a stream, and validators run only on the whole
    /// answer.
    ///
    /// ```
    /// # use llmnode_runtime as llmnode;
    /// # use llmnode::{Event, DynNode, Reply, Run, ScriptedModel};
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    /// # runtime.block_on(async {
    /// let run = Run::new(ScriptedModel::new().reply(Reply::pieces(["{\"city\": ", "\"Oslo\"}"])));
    /// let schema = serde_json::json!({"type": "object", "properties": {"city": {"type": "string"}}});
    /// let extract = DynNode::builder("extract").output_schema(schema).build()?;
    /// let question = extract.ask("Greetings from Oslo!");
    /// let mut answer = run.call(&question).stream();
    /// while let Some(event) = answer.next().await {
    ///     match event {
    ///         Event::Text(text) => print!("{text}"),
    ///         Event::Restarted { category, .. } => println!("\n{category}: the model starts again"),
    ///         _ => {}
    ///     }
    /// }
    /// assert_eq!(answer.finish().await?["city"], "Oslo");
    /// # Ok::<(), llmnode::NodeError>(()) }).unwrap();
    /// ```
    pub fn stream(self) -> CallStream<'r, T> {
        CallStream::new(self)
    }
}

/// The answer of a call while it is written. It is made by
/// [`Call::stream`](crate::Call::stream).
///
/// It is a [`Stream`](futures_core::Stream) of [`Event`]s, and it is the call
/// itself: it starts at the first poll, reads nothing while it is not polled, and
/// is cancelled when it is dropped. An event holds all that one poll brought.
#[must_use = "a stream does nothing until its events are asked for"]
pub struct CallStream<'r, T> {
    call: Call<'r, T>,
    listener: Arc<Listener<'r>>,
    /// Set once the call has ended.
    outcome: Option<CallResult<T>>,
    /// The JSON of the answer, as far as somebody has looked at it.
    growing: IncrementalParser,
    /// What came since.
    unread: String,
}

impl<'r, T> CallStream<'r, T> {
    pub(super) fn new(mut call: Call<'r, T>) -> Self {
        let listener = Arc::new(Listener::default());
        call.options.listener = Some(Arc::clone(&listener));
        CallStream {
            call,
            listener,
            outcome: None,
            growing: IncrementalParser::default(),
            unread: String::new(),
        }
    }

    /// Returns the next event, or `None` when the call has ended.
    pub async fn next(&mut self) -> Option<Event> {
        poll_fn(|cx| self.poll(cx)).await
    }

    /// Returns the answer's JSON as far as it is written, or `None` if there is
    /// none yet. For text it is always `None`.
    ///
    /// The value only grows: strings get longer, lists get more items, and a number
    /// appears when it is complete. After [`Event::Restarted`] it begins anew. It
    /// is not validated, and the output may differ from it: the whole answer is
    /// read and corrected only at the end.
    pub fn partial(&mut self) -> Option<&Value> {
        self.read();
        let path = self.listener.json()?;
        let whole = self.growing.value()?;
        match path {
            [member] if whole.is_object() => whole.get(member),
            _ => Some(whole),
        }
    }

    /// Returns the items of one list of the answer, each as soon as it is complete.
    /// `path` has the names of the members that lead to the list, as in `"steps"`
    /// or `"plan.steps"`; it is empty if the answer itself is the list.
    ///
    /// # Errors
    /// If the type of the answer has no list there, the call fails with
    /// `config_error` before any request.
    ///
    /// ```
    /// # use llmnode_runtime as llmnode;
    /// # use llmnode::{DynNode, Run, ScriptedModel};
    /// # #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
    /// # struct Plan { steps: Vec<String> }
    /// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    /// # runtime.block_on(async {
    /// let model = ScriptedModel::new().reply(r#"{"steps": ["get the key", "open the door"]}"#);
    /// let run = Run::new(model);
    /// let plan = DynNode::builder("plan").output::<Plan>().build()?.ask("Plan it.");
    /// let mut steps = run.call(&plan).stream().items::<String>("steps");
    /// while let Some((index, step)) = steps.next().await {
    ///     println!("{index}: {step}");
    /// }
    /// let plan = steps.finish().await?;
    /// assert_eq!(plan["steps"][1], "open the door");
    /// # Ok::<(), llmnode::NodeError>(()) }).unwrap();
    /// ```
    pub fn items<I: DeserializeOwned>(self, path: &str) -> Items<'r, T, I> {
        let mut names = Vec::new();
        for name in path.split('.') {
            if !name.is_empty() {
                names.push(name.to_owned());
            }
        }
        self.listener.require_list(&names);
        Items {
            stream: self,
            path: names,
            taken: 0,
            item: PhantomData,
        }
    }

    /// Waits for the end of the call, and returns its output. Events that were not
    /// asked for are dropped.
    ///
    /// # Errors
    /// The errors of the call.
    pub async fn finish(self) -> Result<T, NodeError> {
        Ok(self.report().await?.value)
    }

    /// Waits for the end of the call like [`finish`](Self::finish), and returns its
    /// record beside the output.
    ///
    /// # Errors
    /// The errors of the call.
    pub async fn report(mut self) -> Result<CallReport<T>, NodeError> {
        loop {
            while self.listener.next().is_some() {}
            if let Some(outcome) = self.outcome.take() {
                return outcome;
            }
            self.next().await;
        }
    }

    /// Events come before the end of the call: what the last poll of the call has
    /// left is returned first, one by one. The call is polled only when nothing is
    /// left, so that it is not ahead of who reads it.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        loop {
            if let Some(event) = self.listener.next() {
                self.see(&event);
                return Poll::Ready(Some(event));
            }
            if self.outcome.is_some() {
                return Poll::Ready(None);
            }
            match self.call.poll_report(cx) {
                Poll::Ready(outcome) => self.outcome = Some(outcome),
                Poll::Pending if self.listener.is_empty() => return Poll::Pending,
                Poll::Pending => {}
            }
        }
    }

    /// What an event means for the JSON so far. Calls of tools void it: the answer
    /// comes in a later turn.
    fn see(&mut self, event: &Event) {
        match event {
            Event::Text(text) if self.listener.json().is_some() => self.unread.push_str(text),
            Event::Restarted { .. } | Event::ToolCalls(_) => {
                self.growing = IncrementalParser::default();
                self.unread.clear();
            }
            Event::Text(_) | Event::Reasoning(_) | Event::ToolResult { .. } => {}
        }
    }

    /// Parses only when the result is looked at.
    fn read(&mut self) {
        self.growing.push(&self.unread);
        self.unread.clear();
        if self.outcome.is_some() {
            self.growing.end();
        }
    }
}

impl<T> Unpin for CallStream<'_, T> {}

impl<T> Stream for CallStream<'_, T> {
    type Item = Event;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        self.poll(cx)
    }
}

impl<T> fmt::Debug for CallStream<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallStream")
            .field("call", &self.call)
            .finish_non_exhaustive()
    }
}

/// The items of one list of an answer, each as soon as it is complete: see
/// [`CallStream::items`].
///
/// It is a [`Stream`](futures_core::Stream) of each item with its index. If the
/// answer begins anew, because a request failed, the items do so, too: the index is
/// 0 again. An item that cannot be read as `I` is left out.
#[must_use = "a stream does nothing until its items are asked for"]
pub struct Items<'r, T, I> {
    stream: CallStream<'r, T>,
    path: Vec<String>,
    taken: usize,
    item: PhantomData<fn() -> I>,
}

impl<T, I: DeserializeOwned> Items<'_, T, I> {
    /// Returns the next item and its index, or `None` when the call has ended.
    pub async fn next(&mut self) -> Option<(usize, I)> {
        poll_fn(|cx| self.poll(cx)).await
    }

    /// Waits for the end of the call, and returns its output. Items that were not
    /// asked for are dropped.
    ///
    /// # Errors
    /// The errors of the call.
    pub async fn finish(self) -> Result<T, NodeError> {
        self.stream.finish().await
    }

    /// Waits for the end of the call like [`finish`](Self::finish), and returns its
    /// record beside the output.
    ///
    /// # Errors
    /// The errors of the call.
    pub async fn report(self) -> Result<CallReport<T>, NodeError> {
        self.stream.report().await
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<(usize, I)>> {
        loop {
            if let Some(item) = self.take() {
                return Poll::Ready(Some(item));
            }
            match self.stream.poll(cx) {
                Poll::Ready(Some(Event::Restarted { .. } | Event::ToolCalls(_))) => self.taken = 0,
                Poll::Ready(Some(_)) => {}
                Poll::Ready(None) => return Poll::Ready(self.take()),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    fn take(&mut self) -> Option<(usize, I)> {
        let wrapper = self.stream.listener.json()?;
        self.stream.read();
        // A model may have left out what wraps a list.
        let is_wrapped = self.stream.growing.value()?.is_object();
        let mut path: Vec<String> = Vec::new();
        if is_wrapped {
            path.extend(wrapper.iter().map(|name| (*name).to_owned()));
        }
        path.extend_from_slice(&self.path);
        let complete = self.stream.growing.items(&path);
        while let Some(item) = complete.get(self.taken) {
            let index = self.taken;
            self.taken += 1;
            if let Ok(item) = I::deserialize(item) {
                return Some((index, item));
            }
        }
        None
    }
}

impl<T, I> Unpin for Items<'_, T, I> {}

impl<T, I: DeserializeOwned> Stream for Items<'_, T, I> {
    type Item = (usize, I);

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<(usize, I)>> {
        self.poll(cx)
    }
}

impl<T, I> fmt::Debug for Items<'_, T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Items")
            .field("stream", &self.stream)
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}
