//! A node after all checks.

use proc_macro2::{Ident, Span, TokenStream};
use syn::{Field, ItemStruct, LitStr, Member, Path, Type};

use super::args::NodeArgs;
use super::step::Preparation;
use crate::prompt::locate::Position;
use crate::prompt::template::Format;

pub(crate) struct NodeModel<'a> {
    pub(crate) item: &'a ItemStruct,
    pub(crate) args: &'a NodeArgs,
    pub(crate) krate: Path,
    pub(crate) system: Vec<Part>,
    pub(crate) prompt: Vec<Part>,
    pub(crate) files: Vec<&'a LitStr>,
    pub(crate) history: Option<&'a Field>,
    pub(crate) held_model: Option<&'a Field>,
    pub(crate) toolset: Option<&'a Field>,
    pub(crate) output: Option<&'a Type>,
    pub(crate) state: Option<&'a Type>,
    pub(crate) preparation: Option<Preparation<'a>>,
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
        if let Self::Value {
            origin: ValueOrigin::State { file, .. },
            ..
        } = self
        {
            file.as_ref()
        } else {
            None
        }
    }

    pub(crate) fn reads_state(&self) -> bool {
        matches!(
            self,
            Self::Value {
                origin: ValueOrigin::State { .. },
                ..
            }
        )
    }
}
