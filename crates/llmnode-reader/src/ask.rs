//! How a model is asked for a value: by a form, by words, or by a schema, and what
//! a correction says.
//!
//! In comes the schema of a type ([`OutputSchema`]); out go the texts and schemas
//! of a request. For a program that calls a model itself and wants more than
//! [`OutputSchema::strict`]. What is asked depends on what the server does:
//!
//! 1. It enforces schemas: [`OutputSchema::strict`], or the dialect of its API.
//!    [`take_strict_error`] says why not.
//! 2. It takes a schema and does not enforce it: [`sent`], and [`reminder`] at the
//!    end of a long question.
//! 3. It has only text: [`instruction`], which shows a [`form`] where one can say
//!    what the schema does.
//!
//! Values that only the program's state knows are added by [`with_choices`], or
//! said by [`choices_in_words`]. After a wrong answer, a violation carries what the
//! model is asked to do ([`remedy`]) and the values that are allowed
//! ([`list_allowed`]);
//! [`narrowed`] puts them into the schema of the next request.
//!
//! The module changes with what providers accept, more often than the rest of the crate.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::sync::Arc;

use serde_json::value::RawValue;

pub use crate::renamer::{Names, Renamer};
pub use crate::schema::choices::ChoicesError;
pub use crate::schema::{Profile, fault_of_parameters};
pub use crate::violation::ChoiceList;

use crate::check;
use crate::schema::choices::{self, Lists};
use crate::tree::WRAPPER;
use crate::{OutputSchema, StrictError, Violation};

const REPEATED_FORM: &str = "repeats the form instead of filling it in";

/// The sentence that asks for JSON of the schema, by a form to fill in or, where a
/// form cannot say it, by the schema.
///
/// For a server that neither enforces a schema nor has tools: it stands at the end of the prompt.
///
/// ```
/// use llmnode_reader::{OutputSchema, ask};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Label { name: String }
///
/// let schema = OutputSchema::of::<Label>();
/// assert!(ask::instruction(&schema).starts_with("Answer with one JSON object of this form."));
/// assert!(ask::form(&schema).unwrap().contains("\"name\""));
/// ```
pub fn instruction(schema: &OutputSchema) -> String {
    match schema.form() {
        Some(form) => format!(
            "Answer with one JSON object of this form. Fill in the values; write only the \
             JSON.\n{}",
            form.text
        ),
        None => format!(
            "Answer with one JSON value that conforms to this JSON Schema, and with nothing \
             else:\n{}",
            // Values of the state must not become instructions.
            schema.without_choices().plain().get()
        ),
    }
}

/// The form alone: the object of the answer, with words in place of values. Small
/// models fill it in more reliably than they follow a schema. `None`: a form cannot
/// say what the schema does; send the schema.
pub fn form(schema: &OutputSchema) -> Option<&str> {
    schema.form().map(|form| form.text.as_str())
}

/// One sentence with the members of the form, for the end of a long question, where
/// small models have forgotten its beginning. `None`: there is no form, or nothing
/// to remind of.
pub fn reminder(schema: &OutputSchema) -> Option<String> {
    schema.form()?.reminder()
}

/// The schema as an API takes it that does not enforce it: what this API does not
/// know is left out, or said in a description.
pub fn sent(schema: &OutputSchema, profile: Profile) -> &RawValue {
    schema.sent(profile)
}

/// Why a schema that is known only at run time cannot be written for models, with
/// the place. `None`: each API takes what is written of it.
pub fn fault(schema: &OutputSchema) -> Option<&str> {
    schema.fault()
}

/// Why no answer can ever be of this type: it has no value, or contains itself
/// without an end. `None`: some answer can.
pub fn unanswerable(schema: &OutputSchema) -> Option<&str> {
    schema.unanswerable.as_deref()
}

/// Why strict mode cannot express the schema, for a log: a program says it once.
/// `None` from the second time on, and where strict mode can.
pub fn take_strict_error(schema: &OutputSchema) -> Option<&StrictError> {
    schema.take_strict_error()
}

/// The error with its remedy, for a response format that the program chose itself.
pub fn with_remedy(error: &StrictError) -> String {
    error.with_remedy()
}

/// A copy of the schema that allows only these values at their places, as a
/// program's state has them at the moment.
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

/// A copy of the schema that allows only the list's values at its place, for a
/// correction that must not repeat its mistake. `None`: the schema allows no others
/// already, or cannot say so.
pub fn narrowed(schema: &Arc<OutputSchema>, list: &ChoiceList) -> Option<Arc<OutputSchema>> {
    OutputSchema::narrowed(schema, list).map(Arc::new)
}

/// The type's own schema, without what the state allows. Values of the state must
/// not reach a text of instructions.
pub fn without_choices(schema: &OutputSchema) -> &OutputSchema {
    schema.without_choices()
}

/// Whether the schema has values from the state.
pub fn has_choices(schema: &OutputSchema) -> bool {
    schema.lists().is_some_and(Lists::are_in_schema)
}

/// The allowed values as text, as far as the request does not have them. `is_sent`:
/// the schema is part of the request, so that only the values are listed that it
/// could not take. `None`: there is nothing to list.
pub fn choices_in_words(schema: &OutputSchema, is_sent: bool) -> Option<String> {
    schema.lists()?.describe(is_sent)
}

/// The violation of a value that is not in its list: it names the nearest of the
/// values, and lists them.
pub fn not_listed(path: String, value: &str, values: &BTreeSet<String>) -> Violation {
    let mut violation = Violation::new(path, choices::not_listed(value, values));
    violation.list_allowed(values.iter().cloned());
    violation
}

/// The violation of an answer that repeats the form instead of filling it in.
pub fn repeated_form() -> Violation {
    Violation::new("", REPEATED_FORM)
}

/// Whether the violation is that the answer repeats what the model was shown, the
/// form or the schema. Such an answer says nothing of the question, so that asking
/// without the form helps more than a correction.
pub fn is_repetition(violation: &Violation) -> bool {
    [REPEATED_FORM, check::REPEATED_SCHEMA].contains(&violation.message.as_str())
}

/// Whether an answer repeats what the form of the schema shows in place of a value.
pub fn repeats_form(schema: &OutputSchema, answer: &str) -> bool {
    schema
        .form()
        .is_some_and(|form| form.is_repeated_in(answer))
}

/// What the model is asked to do about the violation; empty if that is obvious.
pub fn remedy(violation: &Violation) -> &str {
    &violation.remedy
}

/// The violation on one line of about a kilobyte, for a correction that quotes a long answer.
pub fn shortened(violation: Violation) -> Violation {
    violation.shortened()
}

/// Lists the allowed values in the violation, the first hundred of them.
pub fn list_allowed(violation: &mut Violation, values: impl IntoIterator<Item = impl Display>) {
    violation.list_allowed(values.into_iter().map(|value| value.to_string()));
}

/// Closes the list of allowed values: the schema of the correction may have it in
/// place of the type's own.
pub fn allow_only(violation: &mut Violation) {
    violation.allow_only();
}

/// As [`allow_only`], with the list of a place that may be in items.
pub fn close(violation: &mut Violation, list: &ChoiceList) {
    if choices::fits_in_schema(list) {
        violation.closed = Some(Box::new(list.clone()));
    }
}

/// Takes the closed list out of a violation, with a JSON pointer to the value that was refused.
///
/// `None`: no list was closed, the violation is a warning, or its place is within
/// items, which share one schema.
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
        let inner = path.strip_prefix(WRAPPER).filter(|_| schema.is_wrapped());
        list.path = inner
            .map_or(path, |inner| inner.trim_start_matches('.'))
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
