//! How the answers of a node are read: from a text, as a value in the place that
//! the caller holds for it.
//!
//! An [`OutputSpec`] is made by generated code, once for each node. It joins three
//! things: how an answer is *written* (as it is, as JSON of a type, or in a form of
//! its own), which *place* takes the value, and which function *collects* the
//! checks of the value. Reading goes from the text through the reader
//! (`llmnode_reader`) into the place; `run/` then runs the checks.
//!
//! Two things shape the code:
//!
//! - It is compiled for each output type, and a program has hundreds. So all that
//!   does not need the type is in `Source`, which hands the value over through a
//!   [`Destination`]: a `dyn Slot` or a `dyn Any`. Whoever adds something here
//!   should add it there.
//! - A schema is built on first use, and may be given from outside (a list that a
//!   correction has narrowed). So a source is asked with the schema that was
//!   *sent*, and builds its own only where none was.
//!
//! The room knows nothing of models, attempts or records.

pub(crate) mod parts;

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use llmnode_reader::ask::unanswerable;
use llmnode_reader::ext::{CheckJson, Parsed, ReadResult, Slot, check_by, read, read_slot};
use llmnode_reader::internal::{Uncovered, repair};
use llmnode_reader::text::one_line;
use llmnode_reader::{Flag, OutputSchema, Reader, Repair, Violation};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::validate::{Checks, Coverage, uncovered};

/// A type that a model can answer with: anything that deserializes and has a JSON schema.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of a node",
    label = "lacks `Deserialize` or `JsonSchema`",
    note = "put `#[llm_output]` on its definition, or derive `serde::Deserialize` and \
            `schemars::JsonSchema`, of schemars 1",
    note = "for dates, money and ids of other crates, llmnode has the features `chrono04`, \
            `jiff02`, `rust_decimal1`, `uuid1`, `url2`",
    note = "where nothing names the type, write it: `run.extract::<Invoice>(text)`"
)]
pub trait LlmOutput: DeserializeOwned + JsonSchema + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> LlmOutput for T {}

/// What [`LlmOutput`] says of reading, for a node: that its output can be shared is said of [`Node::Output`](crate::Node::Output).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of a node",
    label = "lacks `Deserialize` or `JsonSchema`",
    note = "put `#[llm_output]` on its definition, or derive `serde::Deserialize` and \
            `schemars::JsonSchema`, of schemars 1",
    note = "for dates, money and ids of other crates, llmnode has the features `chrono04`, \
            `jiff02`, `rust_decimal1`, `uuid1`, `url2`"
)]
pub trait ReadOutput: DeserializeOwned + JsonSchema + 'static {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + 'static> ReadOutput for T {}

/// The innermost argument of a type that a model can answer with. The bound is on it,
/// so that the compiler underlines it.
#[diagnostic::on_unimplemented(
    message = "`{T}` cannot be the output of a node",
    label = "`{Self}`, or a type around it, lacks `Deserialize` or `JsonSchema`",
    note = "put `#[llm_output]` on the definition of `{Self}` and of what it stands in, or derive \
            `serde::Deserialize` and `schemars::JsonSchema`, of schemars 1",
    note = "for dates, money and ids of other crates, llmnode has the features `chrono04`, \
            `jiff02`, `rust_decimal1`, `uuid1`, `url2`"
)]
pub trait PartOf<T> {
    /// How answers are read.
    fn spec<S: ?Sized>(coverage: fn(&mut Coverage), collect: Collect<T, S>) -> OutputSpec<T, S>;
}

#[diagnostic::do_not_recommend]
impl<Part: ?Sized, T: ReadOutput> PartOf<T> for Part {
    fn spec<S: ?Sized>(coverage: fn(&mut Coverage), collect: Collect<T, S>) -> OutputSpec<T, S> {
        OutputSpec::json(coverage, collect)
    }
}

/// How the answers of a node are read and checked. It is compiled for every node,
/// so whatever does not need the type is in its `Source`.
pub struct OutputSpec<T, S: ?Sized> {
    pub(crate) source: Source,
    /// Lends the caller's place for the value in the form that the source can fill.
    pub(crate) place: fn(&mut Option<T>) -> Destination<'_>,
    /// Collects the checks of a value. `None`: it has no validators.
    pub(crate) collect: Option<Collect<T, S>>,
}

/// How answers are read, whatever their type is.
pub(crate) struct Source {
    written: Written,
    /// Which validators the traversal of the output reaches, to be compared with
    /// those that its schema shows.
    coverage: fn(&mut Coverage),
    /// Whether an answer can be refused. Nothing can be wrong with a text as it is.
    is_checked: bool,
}

/// How the model writes an answer.
enum Written {
    /// The answer itself is the value.
    Text,
    /// JSON of a type, by the type's schema.
    Json(fn() -> Arc<OutputSchema>),
    /// Anything else: arguments of a tool, JSON without a type, a form of another crate.
    Form(Box<dyn ErasedForm>),
}

/// Where a value goes once it is read.
pub(crate) enum Destination<'a> {
    Text(&'a mut Option<String>),
    Json(&'a mut dyn Slot),
    Any(&'a mut dyn Any),
}

/// A form of answers that knows its type, and is told the place for it as an `Option<T>`.
trait ErasedForm: Send + Sync {
    fn schema(&self) -> Arc<OutputSchema>;

    /// The schema that the request has. `None`: the prompt describes the output in words.
    fn sent(&self) -> Option<Arc<OutputSchema>> {
        Some(self.schema())
    }

    /// Reads an answer to the schema that was sent, if another one than its own was.
    fn read(
        &self,
        answer: &str,
        schema: Option<&OutputSchema>,
        reader: Reader,
        to: &mut dyn Any,
    ) -> ReadResult<()>;

    /// Builds a value of what was refused, if its type fits.
    fn build(&self, text: &str, to: &mut dyn Any) {
        let _ = (text, to);
    }
}

/// Fills the place. It is one for a `T`, as the spec that made it was: else nothing
/// could be done about it, and nothing is.
fn put<T: 'static>(value: T, to: &mut dyn Any) {
    if let Some(to) = to.downcast_mut::<Option<T>>() {
        *to = Some(value);
    }
}

fn put_answer<T: 'static>(answer: Parsed<T>, to: &mut dyn Any) -> Parsed<()> {
    put(answer.value, to);
    Parsed {
        value: (),
        repairs: answer.repairs,
        wrapped: answer.wrapped,
    }
}

/// What can go wrong with an answer, which decides what recovery makes sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerKind {
    /// Nothing: any text is an answer.
    RawText,
    /// Validators may refuse a text.
    CheckedText,
    /// It may be no JSON, not of the type, or refused by validators.
    Json,
}

type Collect<T, S> = for<'a> fn(&'a T, &mut Checks<'a, S>);

/// A form in which a model writes the output of a node, other than JSON alone.
pub trait AnswerForm<T>: Send + Sync {
    /// The schema of the type.
    fn schema(&self) -> Arc<OutputSchema>;

    /// The schema to send. `None` if the prompt describes the output.
    fn sent(&self) -> Option<Arc<OutputSchema>>;

    /// Reads an answer, or returns everything that is wrong with it.
    fn read(&self, answer: &str, reader: Reader) -> ReadResult<T>;
}

/// A value that a model writes as an argument of a tool.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a tool",
    label = "lacks `Deserialize` or `JsonSchema`",
    note = "put `#[llm_output]` on its definition, or derive `serde::Deserialize` and \
            `schemars::JsonSchema`",
    note = "for dates, money and ids of other crates, llmnode has the features `chrono04`, \
            `jiff02`, `rust_decimal1`, `uuid1`, `url2`",
    note = "what the program gives to a `#[tool]` is borrowed: `state: &World`, `cx: &Cx<'_, \
            World>`"
)]
pub trait Argument: DeserializeOwned + JsonSchema + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> Argument for T {}

/// A type that can be read. Generated code creates it in a function that requires
/// [`Argument`] of each parameter.
pub struct TypeReader<A> {
    schema: fn() -> Arc<OutputSchema>,
    read: fn(&str, &OutputSchema, Reader) -> ReadResult<A>,
    build: fn(&str) -> Option<A>,
}

impl<A: LlmOutput> TypeReader<A> {
    /// Creates it.
    #[expect(clippy::new_without_default, reason = "generated code calls it")]
    pub fn new() -> Self {
        TypeReader {
            schema: OutputSchema::of::<A>,
            read: read::<A>,
            build: |text| serde_json::from_str(text).ok(),
        }
    }
}

/// The arguments of a call, which become the tool that is called.
struct Arguments<A, T> {
    reader: TypeReader<A>,
    /// Makes the tool of its arguments.
    node: fn(A) -> T,
}

impl<A: 'static, T: 'static> ErasedForm for Arguments<A, T> {
    fn schema(&self) -> Arc<OutputSchema> {
        (self.reader.schema)()
    }

    fn read(
        &self,
        answer: &str,
        schema: Option<&OutputSchema>,
        reader: Reader,
        to: &mut dyn Any,
    ) -> ReadResult<()> {
        let schema = schema.map_or_else(|| Schema::Built(self.schema()), Schema::Given);
        let arguments = (self.reader.read)(answer, schema.get(), reader)?;
        let tool = Parsed {
            value: (self.node)(arguments.value),
            repairs: arguments.repairs,
            wrapped: arguments.wrapped,
        };
        Ok(put_answer(tool, to))
    }

    /// Checks the type only, not the bounds of its schema.
    fn build(&self, text: &str, to: &mut dyn Any) {
        if let Some(value) = (self.reader.build)(text) {
            put((self.node)(value), to);
        }
    }
}

/// The schema that an answer is read by.
enum Schema<'a> {
    Given(&'a OutputSchema),
    Built(Arc<OutputSchema>),
}

impl Schema<'_> {
    fn get(&self) -> &OutputSchema {
        match self {
            Schema::Given(schema) => schema,
            Schema::Built(schema) => schema,
        }
    }
}

/// The most members of one answer that are flagged as not written: a model may make
/// up any number of them.
const MAX_FLAGGED: usize = 16;

/// JSON by a schema that is only known when the program runs.
#[derive(Clone)]
pub(crate) struct Untyped {
    pub(crate) schema: Arc<OutputSchema>,
    pub(crate) check: Arc<CheckJson>,
}

impl Untyped {
    /// Unknown keywords are not checked.
    pub(crate) fn by_schema(name: &str, schema: Value) -> Self {
        let check = check_by(&schema);
        Untyped {
            schema: Arc::new(OutputSchema::from_value(name, schema)),
            check,
        }
    }

    /// Flags the members of an answer that `is_left_out` names: the program does
    /// not write them, and its record says so.
    pub(crate) fn flagging(
        self,
        is_left_out: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Self {
        let check = move |answer: &str, sent: &OutputSchema, reader: Reader| {
            let mut read = (self.check)(answer, sent, reader)?;
            let Some(members) = read.value.as_object() else {
                return Ok(read);
            };
            let left_out = members.keys().filter(|member| is_left_out(member));
            let flags: Vec<Repair> = left_out
                .take(MAX_FLAGGED)
                .map(|member| repair(Flag::NotWritten(one_line(member, 80).into())))
                .collect();
            read.repairs.extend(flags);
            Ok(read)
        };
        Untyped {
            schema: self.schema,
            check: Arc::new(check),
        }
    }

    pub(crate) fn value(&self, text: &str) -> Result<Value, Vec<Violation>> {
        (self.check)(text, &self.schema, Reader::new()).map(|answer| answer.value)
    }

    /// The same for the arguments of a tool: `null` for one that may be left out, and takes no `null`, is as if it were left out.
    /// Models write it often, and tools of the program's own read it so.
    pub(crate) fn arguments(&self, text: &str) -> Result<Value, Vec<Violation>> {
        self.value(text).or_else(|violations| {
            let without = without_nulls(text, &violations);
            let read = without.and_then(|without| self.value(&without).ok());
            read.ok_or(violations)
        })
    }
}

/// An object without the members that are `null` and violate something. `None`: there
/// are none. The others stay as they were written, so that numbers keep their digits.
fn without_nulls(text: &str, violations: &[Violation]) -> Option<String> {
    let mut members: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
    let before = members.len();
    for violation in violations {
        if members
            .get(&violation.path)
            .is_some_and(|value| value.get() == "null")
        {
            members.remove(&violation.path);
        }
    }
    if members.len() == before {
        return None;
    }
    serde_json::to_string(&members).ok()
}

impl ErasedForm for Untyped {
    fn schema(&self) -> Arc<OutputSchema> {
        Arc::clone(&self.schema)
    }

    fn read(
        &self,
        answer: &str,
        _: Option<&OutputSchema>,
        reader: Reader,
        to: &mut dyn Any,
    ) -> ReadResult<()> {
        Ok(put_answer((self.check)(answer, &self.schema, reader)?, to))
    }
}

struct Custom<T>(Box<dyn AnswerForm<T>>);

impl<T: 'static> ErasedForm for Custom<T> {
    fn schema(&self) -> Arc<OutputSchema> {
        self.0.schema()
    }

    fn sent(&self) -> Option<Arc<OutputSchema>> {
        self.0.sent()
    }

    fn read(
        &self,
        answer: &str,
        _: Option<&OutputSchema>,
        reader: Reader,
        to: &mut dyn Any,
    ) -> ReadResult<()> {
        Ok(put_answer(self.0.read(answer, reader)?, to))
    }
}

impl Source {
    fn text(is_checked: bool) -> Self {
        Source {
            written: Written::Text,
            coverage: |_| {},
            is_checked,
        }
    }

    fn json(schema: fn() -> Arc<OutputSchema>, coverage: fn(&mut Coverage)) -> Self {
        Source {
            written: Written::Json(schema),
            coverage,
            is_checked: true,
        }
    }

    fn of_form(form: impl ErasedForm + 'static, coverage: fn(&mut Coverage)) -> Self {
        Source {
            written: Written::Form(Box::new(form)),
            coverage,
            is_checked: true,
        }
    }

    pub(crate) fn answers(&self) -> AnswerKind {
        match self.written {
            Written::Text if self.is_checked => AnswerKind::CheckedText,
            Written::Text => AnswerKind::RawText,
            Written::Json(_) | Written::Form(_) => AnswerKind::Json,
        }
    }

    /// Fails if no answer could be of the type, or if a validator inside it would never run.
    pub(crate) fn schema(&self) -> Result<Option<Arc<OutputSchema>>, String> {
        match &self.written {
            Written::Text => Ok(None),
            Written::Json(schema) => require_coverage(schema(), self.coverage).map(Some),
            Written::Form(form) => {
                require_coverage(form.schema(), self.coverage).map(|_| form.sent())
            }
        }
    }

    pub(crate) fn read(
        &self,
        answer: &str,
        schema: Option<&OutputSchema>,
        reader: Reader,
        to: Destination<'_>,
    ) -> ReadResult<()> {
        // The place is of the kind that the spec's constructor chose for this way
        // of writing. The rest are texts for a node whose output is a `Value`, and
        // the case that cannot be.
        match (&self.written, to) {
            (Written::Json(built), Destination::Json(to)) => {
                let schema = schema.map_or_else(|| Schema::Built(built()), Schema::Given);
                read_slot(answer, schema.get(), reader, to)
            }
            (Written::Form(form), Destination::Any(to)) => form.read(answer, schema, reader, to),
            (_, Destination::Text(to)) => {
                *to = Some(answer.to_owned());
                Ok(Parsed::default())
            }
            (_, Destination::Any(to)) => {
                put(Value::String(answer.to_owned()), to);
                Ok(Parsed::default())
            }
            (_, Destination::Json(_)) => Err(vec![Violation::new("", "no value was read")]),
        }
    }
}

impl<S: ?Sized> OutputSpec<String, S> {
    /// The answer as it is; nothing is read or checked.
    pub fn text() -> Self {
        OutputSpec {
            source: Source::text(false),
            place: |to| Destination::Text(to),
            collect: None,
        }
    }

    /// The answer as it is, with the checks that `collect` adds.
    pub fn checked_text(collect: Collect<String, S>) -> Self {
        OutputSpec {
            source: Source::text(true),
            place: |to| Destination::Text(to),
            collect: Some(collect),
        }
    }
}

/// As a closure it would be compiled twice.
fn json_place<T: ReadOutput>(to: &mut Option<T>) -> Destination<'_> {
    Destination::Json(to)
}

impl<T: ReadOutput, S: ?Sized> OutputSpec<T, S> {
    /// JSON of a type. `coverage` records the types that `collect` can reach.
    pub fn json(coverage: fn(&mut Coverage), collect: Collect<T, S>) -> Self {
        let source = Source::json(OutputSchema::of::<T>, coverage);
        OutputSpec {
            source,
            place: json_place,
            collect: Some(collect),
        }
    }
}

impl<T, S: ?Sized> OutputSpec<T, S> {
    /// JSON of a type with arguments; `Part` is the innermost of them.
    pub fn json_of<Part: PartOf<T>>(coverage: fn(&mut Coverage), collect: Collect<T, S>) -> Self {
        Part::spec(coverage, collect)
    }
}

impl<T: 'static, S: ?Sized> OutputSpec<T, S> {
    /// The arguments of a tool, which `reader` reads and `node` converts to the tool.
    pub fn arguments<A: 'static>(
        reader: TypeReader<A>,
        node: fn(A) -> T,
        coverage: fn(&mut Coverage),
        collect: Collect<T, S>,
    ) -> Self {
        let source = Source::of_form(Arguments { reader, node }, coverage);
        OutputSpec {
            source,
            place: |to| Destination::Any(to),
            collect: Some(collect),
        }
    }

    /// An output in its own form. `coverage` records the types that `collect` can reach.
    pub fn of_form(
        form: Box<dyn AnswerForm<T>>,
        coverage: fn(&mut Coverage),
        collect: Collect<T, S>,
    ) -> Self {
        let source = Source::of_form(Custom(form), coverage);
        OutputSpec {
            source,
            place: |to| Destination::Any(to),
            collect: Some(collect),
        }
    }

    /// The same output, written in another form. Its validators stay.
    pub fn in_form(self, form: Box<dyn AnswerForm<T>>) -> Self {
        let source = Source::of_form(Custom(form), self.source.coverage);
        OutputSpec {
            source,
            place: |to| Destination::Any(to),
            collect: self.collect,
        }
    }
}

impl<S: ?Sized> OutputSpec<Value, S> {
    pub(crate) fn untyped(json: Untyped) -> Self {
        OutputSpec {
            source: Source::of_form(json, |_| {}),
            place: |to| Destination::Any(to),
            collect: None,
        }
    }

    pub(crate) fn raw() -> Self {
        OutputSpec {
            source: Source::text(false),
            place: |to| Destination::Any(to),
            collect: None,
        }
    }
}

impl<T, S: ?Sized> OutputSpec<T, S> {
    pub(crate) fn read(
        &self,
        answer: &str,
        schema: Option<&OutputSchema>,
        reader: Reader,
        to: &mut Option<T>,
    ) -> ReadResult<()> {
        self.source.read(answer, schema, reader, (self.place)(to))
    }

    /// For refused arguments: if they fit the type anyway, validators can report more.
    pub(crate) fn build(&self, text: &str, to: &mut Option<T>) {
        if let (Written::Form(form), Destination::Any(to)) =
            (&self.source.written, (self.place)(to))
        {
            form.build(text, to);
        }
    }
}

impl<T, S: ?Sized> fmt::Debug for OutputSpec<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.source.written {
            Written::Form(_) => "OutputSpec::of_form",
            Written::Text => "OutputSpec::text",
            Written::Json(_) => "OutputSpec::json",
        })
    }
}

/// Refuses a schema that no answer can satisfy, and one whose validators would not
/// all run: both are mistakes of the program, and are found at the first use of the
/// node in place of the first answer that happens to show them.
fn require_coverage(
    schema: Arc<OutputSchema>,
    coverage: fn(&mut Coverage),
) -> Result<Arc<OutputSchema>, String> {
    if let Some(fault) = unanswerable(&schema) {
        return Err(format!("the output `{}`: {fault}", schema.name()));
    }
    match uncovered(&schema, coverage).as_deref() {
        None => Ok(schema),
        Some(Uncovered { mark, .. }) if mark.rsplit("::").next() == Some(schema.name()) => {
            Err(format!(
                "the output `{0}` has validators, which only run in a node with this output: write \
                 one, with `#[llm_node(output = {0}, ..)]`",
                schema.name()
            ))
        }
        Some(Uncovered { mark, place }) => Err(format!(
            "the validators of `{mark}` would never run inside the output `{}`: {place}; put \
             `#[llm_output]` on every type between them that is your own, and use `Option`, `Box`, \
             `Arc`, `Vec`, `VecDeque`, `Result`, an array, a map or a tuple in place of other \
             containers; in a tuple within another container, either all types have validators \
             (`#[validate] impl T {{}}`) or none has",
            schema.name()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_beside_a_null_keeps_its_digits() {
        let text = r#"{"sum": 12345678901234567890.10, "note": null, "by": null}"#;
        let violations = [Violation::new("note", "is null")];
        let without = without_nulls(text, &violations);
        let expected = r#"{"by":null,"sum":12345678901234567890.10}"#;
        assert_eq!(without.as_deref(), Some(expected));
        assert_eq!(without_nulls(text, &[]), None);
        assert_eq!(without_nulls("[null]", &violations), None);
    }
}
