//! How the answers of a node are read and checked: the reader, with the node's validators.

use std::fmt;
use std::sync::Arc;

use llmnode_reader::internal::{
    Answer, CheckJson, ReadResult, Uncovered, check_by, note, one_line, read, read_into, unanswerable,
};
use llmnode_reader::{Flag, OutputSchema, Reader, Violation};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::validate::{Checks, Coverage, uncovered};

/// A type that a model can answer with: anything that deserializes and has a JSON schema.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of a node",
    label = "lacks `Deserialize` or `JsonSchema`",
    note = "put `#[llm_output]` on its definition, or derive `serde::Deserialize` and `schemars::JsonSchema`, of schemars 1",
    note = "for dates, money and ids of other crates, llmnode has the features `chrono04`, `jiff02`, `rust_decimal1`, `uuid1`, `url2`",
    note = "where nothing names the type, write it: `run.extract::<Invoice>(text)`"
)]
pub trait LlmOutput: DeserializeOwned + JsonSchema + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> LlmOutput for T {}

/// How the answers of a node are read and checked.
pub struct OutputSpec<T, S: ?Sized>(Kind<T, S>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerKind {
    RawText,
    CheckedText,
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

enum Kind<T, S: ?Sized> {
    Text(fn(&str) -> T, Option<Collect<T, S>>),
    Json(Json<T, S>),
    Untyped(Untyped, fn(Value) -> T),
    Arguments(Arguments<T, S>),
    CustomForm(CustomForm<T, S>),
}

/// A value that a model writes as an argument of a tool.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a tool",
    label = "lacks `Deserialize` or `JsonSchema`",
    note = "put `#[llm_output]` on its definition, or derive `serde::Deserialize` and `schemars::JsonSchema`",
    note = "for dates, money and ids of other crates, llmnode has the features `chrono04`, `jiff02`, `rust_decimal1`, `uuid1`, `url2`",
    note = "what the program gives to a `#[tool]` is borrowed: `state: &World`, `cx: &Cx<'_, World>`"
)]
pub trait Argument: DeserializeOwned + JsonSchema + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + Sync + 'static> Argument for T {}

/// A type that can be read. Generated code creates it in a function that requires [`Argument`] of each parameter.
pub struct TypeReader<A> {
    schema: fn() -> Arc<OutputSchema>,
    read: fn(&str, &OutputSchema, Reader) -> ReadResult<A>,
    build: fn(&str) -> Option<A>,
}

impl<A: LlmOutput> TypeReader<A> {
    /// Creates it.
    #[expect(clippy::new_without_default, reason = "generated code calls it")]
    pub fn new() -> Self {
        let build = |text: &str| serde_json::from_str(text).ok();
        TypeReader { schema: OutputSchema::of::<A>, read: read::<A>, build }
    }
}

struct Arguments<T, S: ?Sized> {
    schema: fn() -> Arc<OutputSchema>,
    read: Box<Convert<T>>,
    /// Checks the type only, not the bounds of its schema.
    build: Box<Build<T>>,
    coverage: fn(&mut Coverage),
    collect: Collect<T, S>,
}

type Build<T> = dyn Fn(&str) -> Option<T> + Send + Sync;
type Convert<T> = dyn Fn(&str, &OutputSchema, Reader) -> ReadResult<T> + Send + Sync;

const MAX_FLAGGED: usize = 16;

#[derive(Clone)]
pub(crate) struct Untyped {
    pub(crate) schema: Arc<OutputSchema>,
    pub(crate) check: Arc<CheckJson>,
}

impl Untyped {
    /// Unknown keywords are not checked.
    pub(crate) fn by_schema(name: &str, schema: Value) -> Self {
        let check = check_by(&schema);
        Untyped { schema: Arc::new(OutputSchema::from_value(name, schema)), check }
    }

    pub(crate) fn flagging(self, is_left_out: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        let check = move |answer: &str, sent: &OutputSchema, reader: Reader| {
            let mut read = (self.check)(answer, sent, reader)?;
            let members = read.value.as_object().into_iter().flat_map(|members| members.keys());
            let left_out = members.filter(|member| is_left_out(member)).take(MAX_FLAGGED);
            let flag = |member: &String| Flag::NotWritten(one_line(member, 80).into());
            read.notes.extend(left_out.map(|member| note(flag(member))));
            Ok(read)
        };
        Untyped { schema: self.schema, check: Arc::new(check) }
    }

    pub(crate) fn value(&self, text: &str) -> Result<Value, Vec<Violation>> {
        (self.check)(text, &self.schema, Reader::new()).map(|answer| answer.value)
    }

    fn read(&self, answer: &str, reader: Reader, take: &mut dyn FnMut(Value)) -> ReadResult<()> {
        let Answer { value, notes, wrapped } = (self.check)(answer, &self.schema, reader)?;
        take(value);
        Ok(Answer { value: (), notes, wrapped })
    }
}

struct CustomForm<T, S: ?Sized> {
    form: Box<dyn AnswerForm<T>>,
    coverage: fn(&mut Coverage),
    collect: Option<Collect<T, S>>,
}

struct Json<T, S: ?Sized> {
    schema: fn() -> Arc<OutputSchema>,
    read: fn(&str, &OutputSchema, Reader, &mut Option<T>) -> ReadResult<()>,
    coverage: fn(&mut Coverage),
    collect: Collect<T, S>,
}

impl<S: ?Sized> OutputSpec<String, S> {
    /// The answer as it is; nothing is read or checked.
    pub fn text() -> Self {
        OutputSpec(Kind::Text(str::to_owned, None))
    }

    /// The answer as it is, with the checks that `collect` adds.
    pub fn checked_text(collect: Collect<String, S>) -> Self {
        OutputSpec(Kind::Text(str::to_owned, Some(collect)))
    }
}

impl<T: LlmOutput, S: ?Sized> OutputSpec<T, S> {
    /// JSON of a type. `coverage` records the types that `collect` can reach.
    pub fn json(coverage: fn(&mut Coverage), collect: Collect<T, S>) -> Self {
        OutputSpec(Kind::Json(Json { schema: OutputSchema::of::<T>, read: read_into, coverage, collect }))
    }
}

impl<T: 'static, S: ?Sized> OutputSpec<T, S> {
    /// The arguments of a tool, which `read` reads and `node` converts to the tool.
    pub fn arguments<A: 'static>(
        read: TypeReader<A>,
        node: fn(A) -> T,
        coverage: fn(&mut Coverage),
        collect: Collect<T, S>,
    ) -> Self {
        let TypeReader { schema, read, build } = read;
        let read = Box::new(move |text: &str, schema: &OutputSchema, reader: Reader| {
            let Answer { value, notes, wrapped } = read(text, schema, reader)?;
            Ok(Answer { value: node(value), notes, wrapped })
        });
        let build = Box::new(move |text: &str| build(text).map(node));
        OutputSpec(Kind::Arguments(Arguments { schema, read, build, coverage, collect }))
    }
}

impl<S: ?Sized> OutputSpec<Value, S> {
    pub(crate) fn untyped(json: Untyped) -> Self {
        OutputSpec(Kind::Untyped(json, |value| value))
    }

    pub(crate) fn raw() -> Self {
        OutputSpec(Kind::Text(|text| Value::String(text.to_owned()), None))
    }
}

impl<T, S: ?Sized> OutputSpec<T, S> {
    /// An output in its own form. `coverage` records the types that `collect` can reach.
    pub fn of_form(
        form: Box<dyn AnswerForm<T>>,
        coverage: fn(&mut Coverage),
        collect: Collect<T, S>,
    ) -> Self {
        OutputSpec(Kind::CustomForm(CustomForm { form, coverage, collect: Some(collect) }))
    }

    /// The same output, written in another form. Its validators stay.
    pub fn in_form(self, form: Box<dyn AnswerForm<T>>) -> Self {
        let (coverage, collect): (fn(&mut Coverage), _) = match self.0 {
            Kind::Text(_, collect) => (|_| {}, collect),
            Kind::Untyped(..) => (|_| {}, None),
            Kind::Json(Json { coverage, collect, .. }) => (coverage, Some(collect)),
            Kind::Arguments(Arguments { coverage, collect, .. }) => (coverage, Some(collect)),
            Kind::CustomForm(CustomForm { coverage, collect, .. }) => (coverage, collect),
        };
        OutputSpec(Kind::CustomForm(CustomForm { form, coverage, collect }))
    }

    pub(crate) fn answers(&self) -> AnswerKind {
        match &self.0 {
            Kind::Text(_, None) => AnswerKind::RawText,
            Kind::Text(_, Some(_)) => AnswerKind::CheckedText,
            Kind::Json(_) | Kind::Untyped(..) | Kind::Arguments(_) | Kind::CustomForm(_) => AnswerKind::Json,
        }
    }

    /// Fails if no answer could be of the type, or if a validator inside it would never run.
    pub(crate) fn schema(&self) -> Result<Option<Arc<OutputSchema>>, String> {
        match &self.0 {
            Kind::Text(..) => Ok(None),
            Kind::Untyped(json, _) => Ok(Some(Arc::clone(&json.schema))),
            Kind::Json(json) => require_coverage((json.schema)(), json.coverage).map(Some),
            Kind::Arguments(of) => require_coverage((of.schema)(), of.coverage).map(Some),
            Kind::CustomForm(of) => require_coverage(of.form.schema(), of.coverage).map(|_| of.form.sent()),
        }
    }

    pub(crate) fn read(
        &self,
        answer: &str,
        schema: Option<&OutputSchema>,
        reader: Reader,
        to: &mut Option<T>,
    ) -> ReadResult<()> {
        match &self.0 {
            Kind::Text(read, _) => {
                *to = Some(read(answer));
                Ok(Answer::default())
            }
            Kind::Json(json) => {
                let built;
                let schema = match schema {
                    Some(schema) => schema,
                    None => {
                        built = (json.schema)();
                        &built
                    }
                };
                (json.read)(answer, schema, reader, to)
            }
            Kind::Arguments(of) => {
                let built;
                let schema = match schema {
                    Some(schema) => schema,
                    None => {
                        built = (of.schema)();
                        &built
                    }
                };
                let Answer { value, notes, wrapped } = (of.read)(answer, schema, reader)?;
                *to = Some(value);
                Ok(Answer { value: (), notes, wrapped })
            }
            Kind::Untyped(json, same) => json.read(answer, reader, &mut |value| *to = Some(same(value))),
            Kind::CustomForm(CustomForm { form, .. }) => {
                let Answer { value, notes, wrapped } = form.read(answer, reader)?;
                *to = Some(value);
                Ok(Answer { value: (), notes, wrapped })
            }
        }
    }

    /// For refused arguments: if they fit the type anyway, validators can report more.
    pub(crate) fn build(&self, text: &str) -> Option<T> {
        match &self.0 {
            Kind::Arguments(of) => (of.build)(text),
            _ => None,
        }
    }

    pub(crate) fn collect<'a>(&self, value: &'a T, to: &mut Checks<'a, S>) {
        match &self.0 {
            Kind::Json(Json { collect, .. })
            | Kind::Text(_, Some(collect))
            | Kind::CustomForm(CustomForm { collect: Some(collect), .. })
            | Kind::Arguments(Arguments { collect, .. }) => collect(value, to),
            Kind::Text(_, None) | Kind::Untyped(..) | Kind::CustomForm(_) => {}
        }
    }
}

impl<T, S: ?Sized> fmt::Debug for OutputSpec<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::CustomForm(_) => "OutputSpec::of_form",
            Kind::Text(..) => "OutputSpec::text",
            Kind::Json(_) | Kind::Untyped(..) => "OutputSpec::json",
            Kind::Arguments(_) => "OutputSpec::arguments",
        })
    }
}

fn require_coverage(
    schema: Arc<OutputSchema>,
    coverage: fn(&mut Coverage),
) -> Result<Arc<OutputSchema>, String> {
    if let Some(fault) = unanswerable(&schema) {
        return Err(format!("the output `{}`: {fault}", schema.name()));
    }
    match uncovered(&schema, coverage).as_deref() {
        None => Ok(schema),
        Some(Uncovered { mark, .. }) if mark.rsplit("::").next() == Some(schema.name()) => Err(format!(
            "the output `{0}` has validators, which only run in a node with this output: write one, with \
             `#[llm_node(output = {0}, ..)]`",
            schema.name()
        )),
        Some(Uncovered { mark, place }) => Err(format!(
            "the validators of `{mark}` would never run inside the output `{}`: {place}; put `#[llm_output]` on \
             every type between them that is your own, and use `Option`, `Box`, `Arc`, `Vec`, `VecDeque`, `Result`, \
             an array, a map or a tuple in place of other containers; in a tuple within another container, either all \
             types have validators (`#[validate] impl T {{}}`) or none has",
            schema.name()
        )),
    }
}
