//! A node after all checks.
//!
//! What `check.rs` makes and `emit.rs` reads. Whoever has a `NodeModel` need not
//! look for faults any more: each `Option` is a part that the node does not have,
//! and none is one that was wrong.

use proc_macro2::{Ident, Span, TokenStream};
use syn::{Field, ItemStruct, LitStr, Member, Path, Type};

use super::args::NodeArgs;
use super::step::Preparation;
use crate::prompt::locate::Position;
use crate::prompt::template::Format;

/// The item, its arguments as they were written, and what was found out from both.
pub(crate) struct NodeModel<'a> {
    pub(crate) item: &'a ItemStruct,
    pub(crate) args: &'a NodeArgs,
    pub(crate) krate: Path,
    // The parts of the two texts, in the order in which they are sent.
    pub(crate) system: Vec<Part>,
    pub(crate) prompt: Vec<Part>,
    // The prompt files, as they are named in the attribute.
    pub(crate) files: Vec<&'a LitStr>,
    // The fields with a role of their own; see `field.rs`.
    pub(crate) history: Option<&'a Field>,
    pub(crate) held_model: Option<&'a Field>,
    pub(crate) toolset: Option<&'a Field>,
    // Without an output, the answer is raw text; without a state, the node runs
    // with any.
    pub(crate) output: Option<&'a Type>,
    pub(crate) state: Option<&'a Type>,
    // How a flow makes the node, if it is a step.
    pub(crate) preparation: Option<Preparation<'a>>,
}

/// A piece of a prompt: fixed text, or a value with its format.
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

/// Where a value comes from when the prompt is rendered: a field, a variable of
/// `with`, or a path into the state.
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

/// One `.name` of a path into the state, with its place in the prompt: the
/// compiler's message about it names line and column, as it cannot underline within
/// a file.
pub(crate) struct PathStep {
    pub(crate) member: Member,
    pub(crate) at: Position,
}

impl Part {
    /// The type that is named after a prompt file.
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
