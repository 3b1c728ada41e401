//! Checks the variables of a node's prompts against its fields and its state.
//!
//! In: the texts of the prompts, the struct, the arguments. Out: for each prompt
//! its parts, and all that is wrong with it. A prompt is checked in this order, and
//! each check is independent of the others:
//!
//! 1. Faults of the grammar, which `prompt/template.rs` found, with a hint where
//!    the fields and the state make a better one.
//! 2. Names that are no field and no variable. These become *probes*: code in which
//!    the compiler reports the name, underlined within the literal.
//! 3. Names that exist and are used in a way that is surely wrong
//!    (`placeholder_hints.rs`).
//! 4. At the end of all prompts, fields that none of them uses.
//!
//! A message about a place in a prompt has its line and column, and the line with
//! carets below it: the compiler may only be able to underline the whole literal.

use std::ops::Range;

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::{Error, Field, Index, ItemStruct, Member, Type};

use super::args::NodeArgs;
use super::faults::Faults;
use super::field::{Mark, Role};
use super::model::{Part, PathStep, ValueOrigin};
use super::with::{self, WithVariable};
use super::without_display::{holds_messages, placeholder_for};
use crate::choices::Choice;
use crate::generics::last_name;
use crate::macro_args::{KeyValue, items, value};
use crate::prompt::identifier;
use crate::prompt::locate::excerpt;
use crate::prompt::probe::{NameCandidates, Unknown, misuse, unknown_variables};
use crate::prompt::source::Source;
use crate::prompt::template::{Format, Piece, Segment, Template, Variable, parse};

mod placeholder_hints;

/// Further faults in a prompt mostly have the same cause, and each costs a scan.
const MAX_FAULTS: usize = 10;

/// What the prompts of one node may name, and what was found out while they were
/// read.
pub(crate) struct Variables<'a> {
    item: &'a ItemStruct,
    // The struct's name, for messages.
    node: String,
    // All fields but the history, which is no variable.
    fields: Vec<String>,
    history: Option<String>,
    with: &'a [WithVariable],
    choices: &'a [Choice],
    has_state: bool,
    state: Option<&'a Type>,
    // By any of the prompts.
    used: Vec<String>,
    /// An unknown name may be one of a `with` that could not be parsed.
    with_unreadable: bool,
    /// All prompts were parsed, so unused fields are certain.
    complete: bool,
    // In the prompt that is being read.
    fault_count: usize,
    /// The argument whose prompt is read.
    key: Span,
    faults: &'a mut Faults,
}

impl<'a> Variables<'a> {
    /// Reports variables of `with` that cannot be, before any prompt is read.
    pub(crate) fn new(
        item: &'a ItemStruct,
        args: &'a NodeArgs,
        history: Option<&Field>,
        faults: &'a mut Faults,
    ) -> Self {
        let history = history.and_then(name);
        let with = items(&args.with);
        // An unknown key may be a misspelt `state`.
        let has_state = args.state.is_some() || args.has_unknown_keys;
        let with_unreadable = args.with.is_some() && value(&args.with).is_none();
        check_with(item, with, has_state, faults);
        let fields = item.fields.iter().filter_map(name);
        let fields = fields
            .filter(|name| name != "state" && history.as_ref() != Some(name))
            .collect();
        Self {
            item,
            node: item.ident.unraw().to_string(),
            fields,
            history,
            with,
            choices: items(&args.choices),
            has_state,
            state: value(&args.state),
            used: vec![],
            with_unreadable,
            complete: !with_unreadable,
            fault_count: 0,
            key: Span::call_site(),
            faults,
        }
    }

    /// One prompt. `None` if there is nothing to send; faults in it leave its
    /// parts, since the other prompt is still to be checked.
    pub(crate) fn read(&mut self, argument: &KeyValue<Source>) -> Option<Vec<Part>> {
        let Some(prompt) = &argument.value else {
            self.complete = false;
            return None;
        };
        if prompt.text().trim().is_empty() {
            let name = prompt
                .file()
                .map_or_else(|| argument.key.to_string(), syn::LitStr::value);
            self.faults
                .push(Error::new(prompt.span(0), format!("`{name}` is empty")));
            self.complete = false;
            return None;
        }
        let template = parse(prompt.text());
        self.fault_count = 0;
        self.key = argument.key.span();
        for fault in &template.faults {
            let hint = self
                .field_access_hint(prompt, fault)
                .or_else(|| self.filter_hint(prompt, fault));
            let message = hint.unwrap_or_else(|| fault.kind.to_string());
            self.fault(prompt, &fault.range, &message);
        }
        self.unknown(argument.key.span(), prompt, &template);
        self.history_inserted(prompt, &template);
        self.without_display(prompt, &template);
        self.mustache(prompt, &template);
        self.dollars(prompt, &template);
        self.stateless(prompt, &template);
        if let Some(state) = self.state {
            self.locked(state, &template);
        }
        if argument.key == "system" {
            self.attachments(prompt, &template);
        }
        // A prompt in another template language has hundreds of faults, all of one
        // cause.
        if let more @ 1.. = self.fault_count.saturating_sub(MAX_FAULTS) {
            let message = format!("and {more} more in this prompt");
            self.faults.push(Error::new(prompt.span(0), message));
        }
        Some(
            template
                .segments
                .into_iter()
                .filter_map(|segment| self.part(prompt, segment, argument.key.span()))
                .collect(),
        )
    }

    /// Silent if a fault hides what is used. Also reports skipped fields that are used.
    /// A field that no prompt uses is most likely forgotten, and the model would
    /// never see it. Whoever means it writes `skip`.
    pub(crate) fn unused(mut self, marks: &[Mark]) {
        let silent = self.unused_with();
        // Lists of `choices` use fields, too.
        let of_lists = self
            .item
            .fields
            .iter()
            .filter_map(|field| field.ident.as_ref());
        let of_lists =
            of_lists.filter(|field| self.choices.iter().any(|choice| choice.names(field)));
        self.used
            .extend(of_lists.map(|field| field.unraw().to_string()));
        for (field, mark) in self.item.fields.iter().zip(marks) {
            let Some((ident, name)) = field.ident.as_ref().zip(name(field)) else {
                continue;
            };
            let used = self.used.contains(&name);
            if let Some(attribute) = mark.span(Role::Skip).filter(|_| used) {
                let message = format!("the prompt uses the field `{name}`; drop `#[node(skip)]`");
                self.faults.push(Error::new(attribute, message));
            }
            // `PhantomData` has nothing to insert.
            let silent = silent
                || used
                || !matches!(mark, Mark::None)
                || name == "state"
                || last_name(&field.ty).is_some_and(|name| name == "PhantomData");
            if silent || !self.complete {
                continue;
            }
            // The remedy follows from the field's type.
            let message = if self.history.is_none() && holds_messages(&field.ty) {
                format!(
                    "no prompt uses the field `{name}`; mark it `#[node(history)]` if it holds the \
                     earlier messages of the conversation, else `#[node(skip)]`"
                )
            } else if last_name(&field.ty).is_some_and(|name| name == "Toolset") {
                format!(
                    "no prompt uses the field `{name}`; mark it `#[node(tools)]`, so that the \
                     model may call them"
                )
            } else {
                let inserted = placeholder_for(&name, &field.ty);
                format!(
                    "no prompt uses the field `{name}`; insert `{inserted}`, or mark the field \
                     `#[node(skip)]`"
                )
            };
            self.faults.push(Error::new(ident.span(), message));
        }
    }

    /// Whether an expression of `with` may use any field, as it passes `self` on.
    fn unused_with(&mut self) -> bool {
        let mut all = false;
        for with in self.with {
            let name = with.text();
            if self.complete && !with.has_fault() && !self.used.contains(&name) {
                let message =
                    format!("no prompt uses `{name}`; insert `{{{name}}}`, or drop it from `with`");
                self.faults.push(Error::new(with.name.span(), message));
            }
            match with.fields(&self.fields) {
                Some(mut fields) => self.used.append(&mut fields),
                None => all = true,
            }
        }
        all
    }

    /// All that may stand in a placeholder without `state.`.
    fn names(&self) -> impl Iterator<Item = String> {
        self.fields
            .iter()
            .cloned()
            .chain(self.with.iter().map(WithVariable::text))
    }

    /// A fault that may hide a use: fields are then not reported as unused.
    fn fault(&mut self, prompt: &Source, range: &Range<usize>, message: &str) {
        self.complete = false;
        self.misuse(prompt, range, message);
    }

    /// A fault that hides nothing.
    fn misuse(&mut self, prompt: &Source, range: &Range<usize>, message: &str) {
        if self.count_fault() {
            let message = format!("{message} (at {})", prompt.location(range.start));
            match misuse(prompt, range, &message, self.key) {
                Some(tokens) => self.faults.probe(tokens),
                None => self.whole_prompt(prompt, range, &message),
            }
        }
    }

    /// A prompt from a file, or of another macro: no part of it can be underlined, so it is shown.
    fn whole_prompt(&mut self, prompt: &Source, range: &Range<usize>, message: &str) {
        let excerpt = excerpt(prompt.text(), range);
        let message = format!("{message}\n{excerpt}");
        self.faults
            .push(Error::new(prompt.span(range.start), message));
    }

    /// Whether it is still reported.
    fn count_fault(&mut self) -> bool {
        self.fault_count += 1;
        self.fault_count <= MAX_FAULTS
    }

    /// Sorts the names of the prompt into those that exist and those that do not.
    /// While `with` could not be read, none is unknown.
    fn unknown(&mut self, key: Span, prompt: &Source, template: &Template) {
        let mut unknown = vec![];
        let mut used = vec![];
        for segment in &template.segments {
            let Piece::Variable {
                variable: Variable::Field(name),
                ..
            } = &segment.kind
            else {
                continue;
            };
            if self.names().any(|existing| existing == *name) || self.history.as_ref() == Some(name)
            {
                used.push(name.clone());
            } else if name != "state" && !self.with_unreadable && self.count_fault() {
                unknown.push(Unknown {
                    name: name.clone(),
                    range: segment.range.clone(),
                });
            }
        }
        if !unknown.is_empty() {
            let with: Vec<_> = self.with.iter().map(WithVariable::text).collect();
            let fields = &self.fields;
            let state = self.has_state;
            let candidates = NameCandidates {
                node: &self.node,
                fields,
                with: &with,
                state,
                key,
            };
            let tokens = unknown_variables(
                prompt,
                &unknown,
                &candidates,
                is_format_string(template),
                &used,
            );
            self.faults.probe(tokens);
            self.complete = false;
        }
        self.used.append(&mut used);
    }

    /// A segment with its origin resolved. `None` if the name is no identifier,
    /// which the grammar has reported.
    fn part(&self, prompt: &Source, segment: Segment, key: Span) -> Option<Part> {
        let (variable, format) = match segment.kind {
            Piece::Text(text) => return Some(Part::Text(text)),
            Piece::Variable { variable, format } => (variable, format),
        };
        // Resolved at the macro, so that rustc never suggests to replace the prompt.
        let span = prompt
            .span(segment.range.start)
            .resolved_at(Span::mixed_site());
        if let (Variable::Field(name), Format::Plain) = (&variable, &format)
            && let Some(check) = self.display_check(prompt, &segment.range, name, key)
        {
            return Some(Part::Checked {
                field: identifier(name, span)?,
                check,
            });
        }
        let origin = match variable {
            Variable::Field(name) => match self.with.iter().find(|with| with.name == name) {
                Some(with) => ValueOrigin::WithVariable(with.binding(), with.end_spans()),
                None => ValueOrigin::Field(identifier(&name, span)?),
            },
            Variable::State(path) => {
                // Each step has its own place, as the compiler may stop at any of
                // them.
                let mut at = segment.range.start + "{state.".len();
                let steps = path.iter().map(|name| {
                    let span_of_prompt = prompt.span(segment.range.start);
                    let step = PathStep {
                        member: member(name, span_of_prompt)?,
                        at: prompt.position(at),
                    };
                    at += name.len() + 1;
                    Some(step)
                });
                ValueOrigin::State {
                    steps: steps.collect::<Option<_>>()?,
                    file: prompt.file_type(),
                    span,
                }
            }
        };
        Some(Part::Value { origin, format })
    }
}

/// A variable of a field's name would be ambiguous.
fn check_with(item: &ItemStruct, with: &[WithVariable], has_state: bool, faults: &mut Faults) {
    for with in with {
        let is_field = item
            .fields
            .iter()
            .filter_map(name)
            .any(|field| with.name == field);
        if is_field {
            let message = format!(
                "`{}` is a field of the node; give the variable another name",
                with.name
            );
            faults.push(Error::new(with.name.span(), message));
        }
    }
    if let Some(at) = with::state(with).filter(|_| !has_state) {
        faults.push(Error::new(
            at,
            "`state` is the program's state; name its type with `state = …`",
        ));
    }
}

/// By grammar only; the names are not resolved.
/// Whether `format_args!` accepts the prompt as it is, so that a probe may use the
/// user's own literal.
fn is_format_string(template: &Template) -> bool {
    template.faults.is_empty()
        && template.segments.iter().all(|segment| match &segment.kind {
            Piece::Text(_) => true,
            Piece::Variable {
                variable: Variable::State(_),
                ..
            } => false,
            Piece::Variable { format, .. } => matches!(format, Format::Plain | Format::Spec(_)),
        })
}

/// Without `r#`, as prompts write it.
fn name(field: &Field) -> Option<String> {
    field.ident.as_ref().map(|ident| ident.unraw().to_string())
}

/// A name or the number of a tuple.
fn member(step: &str, span: Span) -> Option<Member> {
    if step.starts_with(|first: char| first.is_ascii_digit()) {
        return Some(Member::Unnamed(Index {
            index: step.parse().ok()?,
            span,
        }));
    }
    identifier(step, span).map(Member::Named)
}
