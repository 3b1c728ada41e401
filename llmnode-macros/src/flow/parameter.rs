//! The parameters of a flow, and the fields of the state that they are written to.

use proc_macro2::Span;
use syn::parse::{Parse, ParseStream};
use syn::{Error, Ident, Token};

use super::parse_util::unconditional;
use super::syntax::{Parameter, StateField};

/// Also for someone who puts the steps into braces, as other languages of flows do;
/// these are then taken for parameters.
fn expected(at: Span) -> Error {
    Error::new(
        at,
        "a parameter is written `name: Type`, or `name: Type => state.field`; the steps of a flow \
         follow a `:`, without braces",
    )
}

impl Parse for Parameter {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = unconditional(input)?;
        let vis = input.parse()?;
        let at = input.span();
        let ident: Ident = input.parse().map_err(|_| expected(at))?;
        // `a::b` begins like `a: Type`, and is no parameter.
        if !input.peek(Token![:]) || input.peek(Token![::]) {
            return Err(expected(ident.span()));
        }
        input.parse::<Token![:]>()?;
        let ty = input.parse().map_err(|_| expected(ident.span()))?;
        let to = match input.parse::<Option<Token![=>]>>()? {
            Some(_) => Some(input.parse()?),
            None => None,
        };
        Ok(Self {
            attrs,
            vis,
            ident,
            ty,
            to,
        })
    }
}

impl Parse for StateField {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let at = input.span();
        let read = input
            // Read as an expression, since that is what a path of fields is to syn;
            // numbers of tuples are read right only so.
            .call(syn::Expr::parse_without_eager_brace)
            .ok()
            .and_then(|state_field| Self::of(&state_field));
        read.ok_or_else(|| {
            Error::new(
                at,
                "a place in the state is a path of fields, such as `state.part`",
            )
        })
    }
}

impl StateField {
    /// From the outside in: the last member is the outermost expression.
    fn of(expr: &syn::Expr) -> Option<Self> {
        match expr {
            syn::Expr::Field(field) => {
                let mut state_field = match &*field.base {
                    syn::Expr::Path(root) if root.path.is_ident("state") => Self {
                        root: root.path.get_ident()?.clone(),
                        members: vec![],
                    },
                    base => Self::of(base)?,
                };
                state_field.members.push(field.member.clone());
                Some(state_field)
            }
            syn::Expr::Group(group) => Self::of(&group.expr),
            _ => None,
        }
    }
}
