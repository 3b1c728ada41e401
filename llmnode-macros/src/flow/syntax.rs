//! What `flow!` is given, part by part.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Attribute, Expr, Ident, LitStr, Member, Pat, Path, Type, Visibility};

use crate::keyed::Slot;

/// A flow as it is written, as far as it could be read.
#[derive(Clone)]
pub(crate) struct Flow {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) ident: Ident,
    /// Absent if it had a fault.
    pub(crate) state: Option<Type>,
    /// What it ends with; `()` if absent.
    pub(crate) action: Option<Type>,
    /// Absent: a flow without parameters.
    pub(crate) parameters: Option<Vec<Parameter>>,
    pub(crate) steps: Slot<u32>,
    pub(crate) name: Slot<LitStr>,
    pub(crate) krate: Slot<Path>,
    /// The options as they are written.
    pub(crate) options: TokenStream,
    pub(crate) stops: Vec<Stop>,
}

/// `file: PathBuf => state.current`
#[derive(Clone)]
pub(crate) struct Parameter {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) vis: Visibility,
    pub(crate) ident: Ident,
    pub(crate) ty: Type,
    /// Where in the state it is written to, if not to the field of its name.
    pub(crate) to: Option<Place>,
}

/// `state.path.to.it`
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) root: Ident,
    pub(crate) members: Vec<Member>,
}

/// `Step as Label in state.part => exit`
#[derive(Clone)]
pub(crate) struct Stop {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) ty: Type,
    /// What stands in the braces behind the type.
    pub(crate) values: Option<TokenStream>,
    pub(crate) part: Option<Place>,
    /// The label, written or the last name of the type; absent if there is none.
    pub(crate) label: Option<Ident>,
    /// All before the arrow, as it is written.
    pub(crate) head: TokenStream,
    pub(crate) exit: Exit,
}

/// What follows a step.
#[derive(Clone)]
pub(crate) enum Exit {
    /// `=> target`
    Arrow(Target),
    /// `=> match { … }`
    Match(Vec<Arm>),
}

/// `pattern => target`
#[derive(Clone)]
pub(crate) struct Arm {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) pattern: Pat,
    pub(crate) target: Target,
}

/// Where an edge leads.
#[derive(Clone)]
pub(crate) enum Target {
    Step(Ident),
    /// `end`, with the flow's action, if one is written.
    End(Ident, Option<Box<Expr>>),
    Todo(TokenStream),
}

impl Exit {
    pub(crate) fn targets(&self) -> Vec<&Target> {
        match self {
            Exit::Arrow(target) => vec![target],
            Exit::Match(arms) => arms.iter().map(|arm| &arm.target).collect(),
        }
    }
}

// As it was written, for the branches of conditions.

impl ToTokens for Flow {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { attrs, vis, ident, state, options, stops, .. } = self;
        let action = self.action.iter();
        let parameters = self.parameters.iter().map(|parameters| quote!(#(#parameters,)*));
        tokens.extend(quote! {
            #(#attrs)* #vis #ident (#state) #(-> #action)* #({ #parameters })* #options : #(#stops,)*
        });
    }
}

impl ToTokens for Parameter {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { attrs, vis, ident, ty, to } = self;
        let to = to.iter();
        tokens.extend(quote!(#(#attrs)* #vis #ident: #ty #(=> #to)*));
    }
}

impl ToTokens for Place {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { root, members } = self;
        tokens.extend(quote!(#root #(.#members)*));
    }
}

impl ToTokens for Stop {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { attrs, head, exit, .. } = self;
        tokens.extend(match exit {
            Exit::Arrow(target) => quote!(#(#attrs)* #head => #target),
            Exit::Match(arms) => quote!(#(#attrs)* #head => match { #(#arms,)* }),
        });
    }
}

impl ToTokens for Arm {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let Self { attrs, pattern, target } = self;
        tokens.extend(quote!(#(#attrs)* #pattern => #target));
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
