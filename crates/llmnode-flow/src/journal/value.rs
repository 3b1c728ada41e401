//! Writes and reads the program's values; errors and panics of their serde code
//! become a `NodeError`.

use llmnode_model::internal::catch_panic;
use llmnode_runtime::{BoxError, Category, NodeError};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::finite;
use super::record::Json;

pub(super) fn json<T: Serialize + ?Sized>(value: &T, what: &str) -> Result<Json, NodeError> {
    let written = catch_panic(|| written(value))
        .map_err(|panic| panicked(&format!("writing {what}"), &panic))?;
    written.map_err(|error| {
        let message = format!("{what} cannot be written to the journal as JSON: {error}");
        NodeError::new(Category::Aborted, message).with_source(error)
    })
}

fn written<T: Serialize + ?Sized>(value: &T) -> Result<Json, BoxError> {
    let json = Json::of(value)?;
    // serde_json writes a number that is not finite as `null`.
    if json.get().contains("null") {
        finite::check(value)?;
    }
    Ok(json)
}

pub(super) fn read_back<T: DeserializeOwned>(json: &Json, what: &str) -> Result<T, NodeError> {
    let read = catch_panic(|| serde_json::from_str(json.get()));
    read.map_err(|panic| panicked(&format!("reading {what}"), &panic))?
        .map_err(|error| {
            let message = format!(
                "{what} cannot be read as `{}`: {error}",
                std::any::type_name::<T>()
            );
            NodeError::new(Category::ConfigError, message).with_source(error)
        })
}

/// The program's `Serialize` and `Deserialize` may panic.
pub(super) fn panicked(what: &str, panic: &str) -> NodeError {
    NodeError::new(Category::Panic, format!("{what} panicked: {panic}"))
}

/// What cannot be read back would otherwise be noticed only after a crash.
pub(super) fn readable<T: Serialize + DeserializeOwned>(
    value: &T,
    what: &str,
) -> Result<Json, NodeError> {
    let json = json(value, what).and_then(|json| read_back::<T>(&json, what).map(|_| json));
    json.map_err(|error| {
        if error.category() == Category::Panic {
            return error;
        }
        let message = format!(
            "{}; the journal does not have this step, and `resume` executes it again",
            error.message()
        );
        NodeError::new(Category::Aborted, message).with_source(error)
    })
}
