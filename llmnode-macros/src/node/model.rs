//! A node as it is after all checks: nothing in it is absent that has to be there.

use proc_macro2::{Ident, Span, TokenStream};
use syn::{ExprPath, ItemStruct, LitStr, Member, Path, Type};

use super::examples::Examples;
use super::limits::Limits;
use super::recover::Stack;
use super::smart::Smart;
use super::step::StepModel;
use super::time::{Time, Wait};
use super::with::WithVariable;
use crate::prompt::locate::Position;
use crate::prompt::template::Format;

pub(crate) struct NodeModel<'a> {
    /// The user's struct, without helper attributes.
    pub(crate) item: &'a ItemStruct,
    pub(crate) krate: Path,
    pub(crate) name: Option<String>,
    pub(crate) system: Vec<Part>,
    pub(crate) examples: Option<&'a Examples>,
    /// What it is to do, in place of a prompt.
    pub(crate) smart: Option<Smart>,
    /// The field whose messages stand before the user message.
    pub(crate) history: Option<Ident>,
    /// The field whose model is asked in place of the run's.
    pub(crate) held_model: Option<Ident>,
    /// The field with tools.
    pub(crate) toolset: Option<Ident>,
    pub(crate) prompt: Vec<Part>,
    /// The variables that are expressions.
    pub(crate) with: &'a [WithVariable],
    /// The names of the files that prompts were read from.
    pub(crate) files: Vec<LitStr>,
    pub(crate) output: Option<Type>,
    pub(crate) state: Option<Type>,
    /// The functions that check an answer.
    pub(crate) validators: &'a [ExprPath],
    /// The tools that the model may call, and how many responses there are at most.
    pub(crate) tools: &'a [Type],
    pub(crate) turns: Option<u32>,
    /// A model may call it.
    pub(crate) is_tool: bool,
    /// The function that gives the fallback value.
    pub(crate) fallback: Option<ExprPath>,
    pub(crate) settings: Settings<'a>,
    /// What makes it a step of flows, if it is one.
    pub(crate) step: Option<StepModel<'a>>,
}

/// The attributes that are defaults of a call.
#[derive(Default)]
pub(crate) struct Settings<'a> {
    pub(crate) retries: Option<u32>,
    pub(crate) transport_retries: Option<u32>,
    pub(crate) wait: Option<Wait>,
    pub(crate) max_wait: Option<Time>,
    pub(crate) deadline: Option<Time>,
    pub(crate) model: Option<String>,
    pub(crate) temperature: Option<f64>,
    pub(crate) max_tokens: Option<u32>,
    pub(crate) fallback_model: Option<String>,
    pub(crate) recover: &'a [Stack],
    pub(crate) limits: Option<&'a Limits>,
    pub(crate) exact: bool,
}

/// A piece of a prompt.
pub(crate) enum Part {
    Text(String),
    Value {
        origin: ValueOrigin,
        format: Format,
    },
    /// A field whose `Display`, if it has one, is checked by `check` where the prompt names it.
    Checked {
        field: Ident,
        check: TokenStream,
    },
}

/// Where a variable's value lives.
pub(crate) enum ValueOrigin {
    /// `self.field`
    Field(Ident),
    /// What an expression of `with` gave, which is called so, and the expression's first and last place.
    WithVariable(Ident, (Span, Span)),
    /// `state.step.step` in a prompt whose literal has `span`, which may name a file.
    State { steps: Vec<PathStep>, file: Option<Ident>, span: Span },
}

/// A step of a path, and where it stands in the prompt.
pub(crate) struct PathStep {
    pub(crate) member: Member,
    pub(crate) at: Position,
}

impl Part {
    /// The type that stands for its file, if it reads the state there.
    pub(crate) fn file(&self) -> Option<&Ident> {
        if let Self::Value { origin: ValueOrigin::State { file, .. }, .. } = self {
            file.as_ref()
        } else {
            None
        }
    }

    pub(crate) fn reads_state(&self) -> bool {
        matches!(self, Self::Value { origin: ValueOrigin::State { .. }, .. })
    }
}
