//! Values that fit a strict schema.

use llmnode::OutputSchema;
use serde_json::Value;

use super::draw::Draw;

/// To be filled.
pub(crate) fn fits(_: &Value, _: &OutputSchema, _: &mut Draw<'_>) {}
