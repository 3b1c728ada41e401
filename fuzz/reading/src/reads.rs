//! The reader, and how often it ran on this thread.

use std::cell::Cell;

use llmnode_reader::{ReadError, Reader, Reading};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

thread_local! {
    static RUNS: Cell<u64> = const { Cell::new(0) };
}

pub(crate) fn runs() -> u64 {
    RUNS.get()
}

/// Reads a value of any kind.
pub(crate) fn read_any(reader: Reader, text: &str) -> Result<Reading<Value>, ReadError> {
    RUNS.set(RUNS.get() + 1);
    reader.value(text)
}

/// Reads a value of a type.
pub(crate) fn read_as<T: DeserializeOwned + JsonSchema + 'static>(
    reader: Reader,
    text: &str,
) -> Result<Reading<T>, ReadError> {
    RUNS.set(RUNS.get() + 1);
    reader.read(text)
}
