//! The kinds of changes, as they are in flags and records. A new one is new to whoever reads records.

pub(super) const CHOICE: &str = "choice";
pub(super) const NUMBER: &str = "number_from_text";
pub(super) const TEXT: &str = "text_from_number";
pub(super) const INTEGER: &str = "integer";
pub(super) const BOOLEAN: &str = "boolean";
pub(super) const NULL: &str = "null";
pub(super) const LIST: &str = "list";
pub(super) const SINGLE: &str = "single";
pub(super) const NAME: &str = "name";
