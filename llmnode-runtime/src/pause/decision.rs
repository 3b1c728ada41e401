//! What was decided about a call that waits.

use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Decision {
    Yes,
    No(String),
    Edit(Value),
    Result(Value),
}

impl Decision {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Decision::Yes => "Approval::yes",
            Decision::No(_) => "Approval::no",
            Decision::Edit(_) => "Approval::edit",
            Decision::Result(_) => "a result",
        }
    }
}
