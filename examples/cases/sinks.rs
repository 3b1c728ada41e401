//! Everything that a secret could get into.

use std::error::Error;
use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// How many of the texts hold one of the secrets.
pub(crate) fn leaks(texts: impl IntoIterator<Item = String>, secrets: &[&str]) -> usize {
    let holds_one = |text: &String| secrets.iter().any(|secret| text.contains(secret));
    texts.into_iter().filter(holds_one).count()
}

/// All that is logged, at every level: through `tracing`, and through `log`, which HTTP and TLS below us use.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<String>>);

impl Log {
    pub(crate) fn install() -> Result<Log, Box<dyn Error>> {
        let log = Log::default();
        tracing::subscriber::set_global_default(log.clone())?;
        log::set_boxed_logger(Box::new(log.clone()))?;
        log::set_max_level(log::LevelFilter::Trace);
        Ok(log)
    }

    pub(crate) fn clear(&self) {
        self.with(String::clear);
    }

    pub(crate) fn text(&self) -> String {
        self.with(|text| text.clone())
    }

    fn with<T>(&self, act: impl FnOnce(&mut String) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl log::Log for Log {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        // Writing to a `String` does not fail.
        let _ = self.with(|text| writeln!(text, "{}", record.args()));
    }

    fn flush(&self) {}
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.with(|text| span.record(&mut Fields(text)));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        self.with(|text| values.record(&mut Fields(text)));
    }

    fn event(&self, event: &Event<'_>) {
        self.with(|text| event.record(&mut Fields(text)));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Fields<'t>(&'t mut String);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        // Writing to a `String` does not fail.
        let _ = writeln!(self.0, "{field} = {value:?}");
    }
}
