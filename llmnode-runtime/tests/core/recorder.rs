//! A subscriber that remembers spans and events, for one thread.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{DefaultGuard, Interest};
use tracing::{Dispatch, Event, Metadata, Subscriber};

type Fields = BTreeMap<&'static str, String>;

#[derive(Clone, Debug)]
pub(crate) struct Span {
    pub(crate) target: &'static str,
    /// The place of the parent among all spans.
    pub(crate) parent: Option<usize>,
    pub(crate) fields: Fields,
    pub(crate) closed: bool,
    handles: usize,
}

impl Span {
    /// The field's value; empty if it has none.
    pub(crate) fn get(&self, field: &str) -> &str {
        self.fields.get(field).map_or("", String::as_str)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) target: &'static str,
    /// The span around it.
    pub(crate) span: Option<usize>,
    pub(crate) fields: Fields,
}

#[derive(Debug, Default)]
struct Memory {
    spans: Vec<Span>,
    events: Vec<Told>,
    entered: Vec<usize>,
}

/// Remembers all that is traced on this thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorder(Arc<Mutex<Memory>>);

impl Recorder {
    pub(crate) fn start() -> (Recorder, DefaultGuard) {
        static LISTENERS: OnceLock<[Dispatch; 2]> = OnceLock::new();
        LISTENERS.get_or_init(|| [Dispatch::new(Undecided), Dispatch::new(Undecided)]);
        let recorder = Recorder::default();
        let guard = tracing::subscriber::set_default(recorder.clone());
        (recorder, guard)
    }

    /// The spans of a target, in the order of their start.
    pub(crate) fn spans(&self, target: &str) -> Vec<Span> {
        self.lock()
            .spans
            .iter()
            .filter(|span| span.target == target)
            .cloned()
            .collect()
    }

    /// The span that is another one's parent.
    pub(crate) fn parent(&self, span: &Span) -> Option<Span> {
        span.parent.map(|parent| self.lock().spans[parent].clone())
    }

    pub(crate) fn events(&self, target: &str) -> Vec<Told> {
        self.lock()
            .events
            .iter()
            .filter(|event| event.target == target)
            .cloned()
            .collect()
    }

    /// How many spans are entered now.
    pub(crate) fn entered(&self) -> usize {
        self.lock().entered.len()
    }

    /// Whether every span that was begun has ended.
    pub(crate) fn all_closed(&self) -> bool {
        self.lock().spans.iter().all(|span| span.closed)
    }

    /// Everything that was seen, as text.
    pub(crate) fn everything(&self) -> String {
        format!("{:?}", self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Leaves open for each span and event whether anybody listens, so that each thread asks its own subscriber.
///
/// `tracing` remembers the answer for all threads. As long as there is but one subscriber, it asks only the thread which comes by
/// first, and that one may have none: the recorder of another thread would then hear nothing. So two of these stay.
struct Undecided;

impl Subscriber for Undecided {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn enabled(&self, _: &Metadata<'_>) -> bool {
        false
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

struct Fill<'a>(&'a mut Fields);

impl Visit for Fill<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.to_owned());
    }
}

fn place(id: &Id) -> usize {
    usize::try_from(id.into_u64()).unwrap() - 1
}

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("llmnode")
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let metadata = attributes.metadata();
        let names: BTreeSet<_> = metadata.fields().iter().map(|field| field.name()).collect();
        assert_eq!(names.len(), metadata.fields().len(), "a field stands twice");
        let mut fields = Fields::new();
        attributes.record(&mut Fill(&mut fields));
        let mut memory = self.lock();
        let parent = attributes
            .parent()
            .map(place)
            .or_else(|| memory.entered.last().copied());
        memory.spans.push(Span {
            target: metadata.target(),
            parent,
            fields,
            closed: false,
            handles: 1,
        });
        Id::from_u64(memory.spans.len() as u64)
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        let span = &mut self.lock().spans[place(id)];
        assert!(!span.closed);
        values.record(&mut Fill(&mut span.fields));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::new();
        event.record(&mut Fill(&mut fields));
        let mut memory = self.lock();
        let span = memory.entered.last().copied();
        memory.events.push(Told {
            target: event.metadata().target(),
            span,
            fields,
        });
    }

    fn enter(&self, id: &Id) {
        self.lock().entered.push(place(id));
    }

    fn exit(&self, id: &Id) {
        assert_eq!(
            self.lock().entered.pop(),
            Some(place(id)),
            "spans are left in the order of their nesting"
        );
    }

    fn clone_span(&self, id: &Id) -> Id {
        self.lock().spans[place(id)].handles += 1;
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        let span = &mut self.lock().spans[place(&id)];
        span.handles -= 1;
        span.closed = span.handles == 0;
        span.closed
    }
}
