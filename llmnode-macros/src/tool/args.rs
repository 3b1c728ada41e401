//! The arguments of `#[tool(…)]`.

use syn::parse::ParseStream;
use syn::{Ident, LitStr, Path};

use super::name::check_tool_name;
use crate::choices::{self, Choice};
use crate::crate_path;
use crate::literals::{IDEMPOTENT, bool_literal, integer, non_empty, text};
use crate::macro_args::{Slot, fill, fill_readable};
use crate::time::{Time, Wait};

/// In the order of messages. Flags and lists are in `tool.rs`.
pub(super) const VALUES: [&str; 6] = [
    "name",
    "attempts",
    "wait",
    "deadline",
    "idempotent",
    "crate",
];

/// What stands in the attribute.
#[derive(Default)]
pub(super) struct ToolArgs {
    pub(super) name: Slot<LitStr>,
    pub(super) attempts: Slot<u32>,
    pub(super) wait: Slot<Wait>,
    pub(super) deadline: Slot<Time>,
    pub(super) idempotent: Slot<bool>,
    pub(super) alone: Slot<()>,
    pub(super) require_approval: Slot<()>,
    pub(super) choices: Slot<Vec<Choice>>,
    pub(super) krate: Slot<Path>,
}

impl ToolArgs {
    pub(super) fn argument(&mut self, key: Ident, input: ParseStream<'_>) -> syn::Result<()> {
        match key.to_string().as_str() {
            "name" => {
                let name = non_empty(text(input, &key, ""), &key);
                fill(&mut self.name, key, name.and_then(check_tool_name))
            }
            "attempts" => fill(&mut self.attempts, key.clone(), integer(input, &key, 1)),
            "wait" => fill(&mut self.wait, key, Wait::parse(input)),
            "deadline" => fill(
                &mut self.deadline,
                key.clone(),
                Time::parse_above_zero(input, &key),
            ),
            "idempotent" => fill(&mut self.idempotent, key, bool_literal(input, IDEMPOTENT)),
            "choices" => fill_readable(&mut self.choices, key, choices::parse(input)),
            "alone" => fill(&mut self.alone, key, Ok(())),
            "require_approval" => fill(&mut self.require_approval, key, Ok(())),
            _ => crate_path::parse(input, key, &mut self.krate),
        }
    }
}

pub(super) fn hint(name: &str) -> Option<String> {
    let remedy = match name {
        "retries" | "max_retries" | "max_attempts" | "tries" => "`attempts = 2`",
        "timeout" | "time" | "time_limit" => "`deadline = 10s`",
        "approval" | "approve" | "confirm" | "needs_approval" | "ask" => "`require_approval`",
        "backoff" | "delay" => "`wait = 1s`",
        "description" | "desc" | "doc" => {
            "a doc comment above the function, which is the description"
        }
        _ => return None,
    };
    Some(format!(
        "`{name}` is not an argument of a tool; write {remedy}"
    ))
}
