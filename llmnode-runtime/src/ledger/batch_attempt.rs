//! What the record of an attempt says of the batch that it was part of.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::milliseconds;

/// The batch that an attempt was part of: see [`Map::batch_api`](crate::Map::batch_api).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BatchAttempt {
    /// The provider's id of the batch. `None`: it was not created, or its result is not there yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<String>,
    /// When the batch was created. `None`: it is not known.
    #[serde(
        rename = "submitted_unix_ms",
        with = "milliseconds::unix::optional",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub submitted: Option<SystemTime>,
    /// When its results were read. `None`: they were not.
    #[serde(
        rename = "ended_unix_ms",
        with = "milliseconds::unix::optional",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub ended: Option<SystemTime>,
    /// The name by which llmnode finds the batch again.
    pub name: String,
    /// The id of the request in the batch (`custom_id`).
    pub line: String,
}

impl BatchAttempt {
    pub(crate) fn planned(name: String, line: String) -> Self {
        BatchAttempt {
            batch: None,
            submitted: None,
            ended: None,
            name,
            line,
        }
    }
}
