//! The syntax tree of `flow!`.
//!
//! As it was written: labels are not resolved and types not looked at. `Option`s
//! are parts that may be missing, and those that had a fault.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, Expr, Ident, LitStr, Member, Pat, Path, Type, Visibility};

use crate::macro_args::Slot;

/// `pub Research(World) -> Found { file: PathBuf }, steps = 50: ..`
pub(crate) struct Flow {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) ident: Ident,
    pub(crate) state: Option<Type>,
    pub(crate) action: Option<Type>,
    pub(crate) parameters: Option<Vec<Parameter>>,
    pub(crate) steps: Slot<u32>,
    pub(crate) name: Slot<LitStr>,
    pub(crate) krate: Slot<Path>,
    pub(crate) step_list: Vec<FlowStep>,
}

/// `file: PathBuf => state.current`
pub(crate) struct Parameter {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    pub(crate) to: Option<StateField>,
}

/// `state.path.to.it`
pub(crate) struct StateField {
    pub(crate) root: Ident,
    pub(crate) members: Vec<Member>,
}

/// `Step as Label in state.part => exit`
pub(crate) struct FlowStep {
    pub(crate) ty: Type,
    pub(crate) values: Option<TokenStream>,
    pub(crate) part: Option<StateField>,
    pub(crate) label: Option<Ident>,
    pub(crate) exit: Exit,
}

/// `=> target`, or `=> match { .. }`.
pub(crate) enum Exit {
    Arrow(Target),
    Match(Vec<Arm>),
}

/// `pattern => target`
pub(crate) struct Arm {
    pub(crate) pattern: Pat,
    pub(crate) target: Target,
}

/// `Label`, `end` with its value, or `todo!(..)` as it is written. The identifier
/// of `end` is kept for its place.
pub(crate) enum Target {
    Step(Ident),
    End(Ident, Option<Box<Expr>>),
    Todo(TokenStream),
}

impl Exit {
    /// In the order in which they are written, which is that of the edges.
    pub(crate) fn targets(&self) -> Vec<&Target> {
        match self {
            Exit::Arrow(target) => vec![target],
            Exit::Match(arms) => arms.iter().map(|arm| &arm.target).collect(),
        }
    }
}

impl ToTokens for Target {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(match self {
            Target::Step(label) => label.to_token_stream(),
            Target::End(end, None) => end.to_token_stream(),
            Target::End(end, Some(action)) => quote!(#end(#action)),
            Target::Todo(todo) => todo.clone(),
        });
    }
}
