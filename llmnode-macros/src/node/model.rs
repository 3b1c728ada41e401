//! A node after all checks.

use proc_macro2::{Ident, Span, TokenStream};
use syn::{ExprPath, ItemStruct, LitStr, Member, Path, Type};

use super::args::NodeArgs;
use super::examples::Examples;
use super::smart::Smart;
use super::step::StepModel;
use super::with::WithVariable;
use crate::choices::Choice;
use crate::prompt::locate::Position;
use crate::prompt::template::Format;

pub(crate) struct NodeModel<'a> {
    pub(crate) item: &'a ItemStruct,
    pub(crate) krate: Path,
    pub(crate) name: Option<String>,
    pub(crate) system: Vec<Part>,
    pub(crate) examples: Option<&'a Examples>,
    pub(crate) smart: Option<Smart>,
    pub(crate) history: Option<Ident>,
    pub(crate) held_model: Option<Ident>,
    pub(crate) toolset: Option<Ident>,
    pub(crate) prompt: Vec<Part>,
    pub(crate) with: &'a [WithVariable],
    pub(crate) choices: &'a [Choice],
    pub(crate) files: Vec<LitStr>,
    pub(crate) output: Option<Type>,
    pub(crate) state: Option<Type>,
    pub(crate) validators: &'a [ExprPath],
    pub(crate) tools: &'a [Type],
    pub(crate) turns: Option<u32>,
    pub(crate) is_tool: bool,
    pub(crate) fallback: Option<ExprPath>,
    pub(crate) args: &'a NodeArgs,
    pub(crate) step: Option<StepModel<'a>>,
}

pub(crate) enum Part {
    Text(String),
    Value {
        origin: ValueOrigin,
        format: Format,
    },
    /// `check` does not compile if the field has no `Display`, and is underlined in the prompt.
    Checked {
        field: Ident,
        check: TokenStream,
    },
}

pub(crate) enum ValueOrigin {
    Field(Ident),
    WithVariable(Ident, (Span, Span)),
    /// `span`: of the prompt's literal. `file`: the type named after a prompt file.
    State {
        steps: Vec<PathStep>,
        file: Option<Ident>,
        span: Span,
    },
}

pub(crate) struct PathStep {
    pub(crate) member: Member,
    pub(crate) at: Position,
}

impl Part {
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
