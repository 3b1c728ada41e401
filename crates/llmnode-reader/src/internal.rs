//! What the crates of llmnode need from inside the reader. Not part of the public interface: it may change in any release.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::sync::Arc;

use serde_json::value::RawValue;

pub use crate::answer::{CheckJson, Parsed, ReadResult, check_by, read, read_json_of, read_slot};
pub use crate::calls::{InText, Shown, WrittenCall, attempted, written_calls};
pub use crate::check::target;
pub use crate::find::{Spoken, Thoughts, without_thoughts};
pub use crate::many_values::{has_many_values, small_tree};
pub use crate::marks::{MARK, marks_of, schema_with_marks};
pub use crate::renamer::{Names, Renamer};
pub use crate::schema::choices::ChoicesError;
pub use crate::schema::{Profile, Uncovered, fault_of_parameters};
pub use crate::target::Slot;
pub use crate::text::{
    bounded_regex, floor_char_boundary, is_hidden, is_unseen, misspelling_of, nearest, one_line,
    one_line_shortened, plural, same_letters, same_name, visible, write_joined,
};
pub use crate::tree::{WRAPPER, is_annotation};
pub use crate::violation::ChoiceList;

use crate::check;
use crate::schema::choices::{self, Lists};
use crate::{Flag, OutputSchema, Repair, StrictError, Violation};

const REPEATED_FORM: &str = "repeats the form instead of filling it in";

/// Why no answer can ever be of this type.
pub fn unanswerable(schema: &OutputSchema) -> Option<&str> {
    schema.unanswerable.as_deref()
}

/// The first marked type in the schema that a traversal misses. `traversal`, the address of its function, is the key under
/// which the result is kept.
pub fn uncovered(
    schema: &OutputSchema,
    traversal: usize,
    find: impl FnOnce(&[String]) -> Option<Uncovered>,
) -> Option<Arc<Uncovered>> {
    schema.uncovered(traversal, find)
}

/// Replaces each name of the path that the schema does not have by the one with the same letters, if there is only one.
/// `wrapped`: the path begins with the member that wraps the value.
pub fn in_json_names(path: String, schema: &OutputSchema, wrapped: bool) -> String {
    check::in_json_names(path, &schema.rules, wrapped)
}

/// Whether the value of the members with these names can be a list.
pub fn has_list_at(schema: &OutputSchema, path: &[String]) -> bool {
    schema.has_list_at(path)
}

/// The schema as an API takes it that does not enforce it.
pub fn sent(schema: &OutputSchema, profile: Profile) -> &RawValue {
    schema.sent(profile)
}

/// Why a schema cannot be written for models, with the place. `None`: each API takes what is written of it.
pub fn fault(schema: &OutputSchema) -> Option<&str> {
    schema.fault()
}

/// Checks the schema only; serde may still refuse the value.
pub fn is_met_by(schema: &OutputSchema, text: &str) -> bool {
    schema.is_met_by(text)
}

/// A copy of the schema that allows only these values at their places.
///
/// # Errors
/// A place that the schema does not have once, or values that do not fit it.
pub fn with_choices(
    schema: &Arc<OutputSchema>,
    lists: Vec<ChoiceList>,
) -> Result<Arc<OutputSchema>, ChoicesError> {
    let lists = lists.into_iter().map(|list| (list, true)).collect();
    OutputSchema::with_choices(schema, lists).map(Arc::new)
}

/// A copy of the schema that allows only the list's values at its place. `None`: the schema allows no others already, or
/// cannot say so.
pub fn narrowed(schema: &Arc<OutputSchema>, list: &ChoiceList) -> Option<Arc<OutputSchema>> {
    OutputSchema::narrowed(schema, list).map(Arc::new)
}

/// Closes the list of allowed values: a correction's schema may have it.
pub fn allow_only(violation: &mut Violation) {
    violation.allow_only();
}

/// As [`allow_only`], with the list of a place that may be in items.
pub fn close(violation: &mut Violation, list: &ChoiceList) {
    if choices::fits_in_schema(list) {
        violation.closed = Some(Box::new(list.clone()));
    }
}

/// The closed list of a violation, with a JSON pointer to the value that was refused.
pub fn take_closed(
    violation: &mut Violation,
    schema: &OutputSchema,
) -> Option<(String, ChoiceList)> {
    let mut list = violation.closed.take().filter(|_| !violation.warning)?;
    let path = violation.path.as_str();
    if list.path.is_empty() {
        // Items share one schema.
        if path.contains('[') {
            return None;
        }
        let own = path.strip_prefix(WRAPPER).filter(|_| schema.is_wrapped());
        list.path = own
            .map_or(path, |own| own.trim_start_matches('.'))
            .to_owned()
            .into();
        if list.path.is_empty() {
            list.path = "self".into();
        }
    }
    let steps = path.split(['.', '[']).filter(|step| !step.is_empty());
    let steps = steps.map(|step| {
        step.trim_end_matches(']')
            .replace('~', "~0")
            .replace('/', "~1")
    });
    Some((steps.map(|step| format!("/{step}")).collect(), *list))
}

/// The type's own schema, without what the state allows.
pub fn without_choices(schema: &OutputSchema) -> &OutputSchema {
    schema.without_choices()
}

/// Whether the schema has values from the state.
pub fn has_choices(schema: &OutputSchema) -> bool {
    schema.lists().is_some_and(Lists::are_in_schema)
}

/// The allowed values as text, as far as the request does not have them. `is_sent`: the schema is part of it.
pub fn choices_in_words(schema: &OutputSchema, is_sent: bool) -> Option<String> {
    schema.lists()?.in_words(is_sent)
}

/// Of a value that is not in its list.
pub fn not_listed(path: String, value: &str, values: &BTreeSet<String>) -> Violation {
    let mut violation = Violation::new(path, choices::not_listed(value, values));
    violation.list_allowed(values.iter().cloned());
    violation
}

/// Asks for JSON of the schema, by a form to fill in or, where a form cannot say it, by the schema.
pub fn instruction(schema: &OutputSchema) -> String {
    match schema.form() {
        Some(form) => format!(
            "Answer with one JSON object of this form. Fill in the values; write only the JSON.\n{}",
            form.text
        ),
        None => format!(
            "Answer with one JSON value that conforms to this JSON Schema, and with nothing else:\n{}",
            // Values of the state must not become instructions.
            schema.without_choices().plain().get()
        ),
    }
}

/// `None`: a form cannot say what the schema does.
pub fn form(schema: &OutputSchema) -> Option<&str> {
    schema.form().map(|form| form.text.as_str())
}

/// Names the members of the form, for the end of the question.
pub fn reminder(schema: &OutputSchema) -> Option<String> {
    schema.form()?.reminder()
}

/// Of an answer that repeats the form instead of filling it in.
pub fn repeated_form() -> Violation {
    Violation::new("", REPEATED_FORM)
}

/// Whether the answer repeats what the model was shown, the form or the schema.
pub fn is_repetition(violation: &Violation) -> bool {
    [REPEATED_FORM, check::REPEATED_SCHEMA].contains(&violation.message.as_str())
}

/// Whether an answer repeats what the form of the schema shows in place of a value.
pub fn repeats_form(schema: &OutputSchema, answer: &str) -> bool {
    schema
        .form()
        .is_some_and(|form| form.is_repeated_in(answer))
}

/// Why strict mode cannot express it, for a log; `None` from the second time on.
pub fn take_strict_error(schema: &OutputSchema) -> Option<&StrictError> {
    schema.take_strict_error()
}

/// The error with its remedy, for a response format that the program chose.
pub fn with_remedy(error: &StrictError) -> String {
    error.with_remedy()
}

/// What the model is asked to do about it; empty if that is obvious.
pub fn remedy(violation: &Violation) -> &str {
    &violation.remedy
}

/// The violation on one line of about a kilobyte.
pub fn shortened(violation: Violation) -> Violation {
    violation.shortened()
}

/// What was done once, to the whole answer.
pub fn repair(flag: Flag) -> Repair {
    Repair {
        flag,
        place: String::new(),
        times: 1,
    }
}

/// Lists the allowed values, the first hundred of them.
pub fn list_allowed(violation: &mut Violation, values: impl IntoIterator<Item = impl Display>) {
    violation.list_allowed(values.into_iter().map(|value| value.to_string()));
}
