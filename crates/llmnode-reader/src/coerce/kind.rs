//! The kinds of changes, as they are in flags and records. A new one is new to
//! whoever reads records.

/// A choice got the letters that the type has for it: `red` for `Red`.
pub(super) const CHOICE: &str = "choice";
/// A number was in quotation marks.
pub(super) const NUMBER: &str = "number_from_text";
/// A text was written as a number.
pub(super) const TEXT: &str = "text_from_number";
/// An integer was written as a fraction: `3.0`.
pub(super) const INTEGER: &str = "integer";
/// `"true"` or `"false"`.
pub(super) const BOOLEAN: &str = "boolean";
/// `"null"`, `"n/a"` or an empty text.
pub(super) const NULL: &str = "null";
/// One item stood in place of a list.
pub(super) const LIST: &str = "list";
/// A list of one item stood in place of the item.
pub(super) const SINGLE: &str = "single";
/// A member's name was in other letters: `firstName` for `first_name`.
pub(super) const NAME: &str = "name";
