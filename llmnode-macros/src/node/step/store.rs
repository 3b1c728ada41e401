//! `store = path.to.field`: the field of the state that takes the output.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::ParseStream;
use syn::{Error, Expr, ExprField, ExprLit, ExprPath, Lit, Member};

use crate::literals::unexpected;
use crate::macro_args::comma_or_end;
use crate::prompt::identifier;

const WANTED: &str = "`store` takes the path of a field of the state, such as `store = summary`; \
                      `post = path` names a function for anything else";

/// The members behind `state`. Names and numbers of tuples, nothing else: an index
/// may be out of bounds, and a method may do anything.
pub(crate) struct StatePath(Vec<Member>);

impl StatePath {
    /// Read ahead as any expression, so that another one is refused as a whole.
    pub(crate) fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let ahead = input.fork();
        let steps = match ahead.parse::<Expr>() {
            Ok(written) if comma_or_end(&ahead, "argument").is_ok() => members(written),
            _ => None,
        };
        let Some(steps) = steps else {
            return Err(unexpected(input, WANTED));
        };
        let written: Expr = input.parse()?;
        match &steps[..] {
            // `store = state.summary`, as in a prompt.
            [Member::Named(first), rest @ ..] if first == "state" && !rest.is_empty() => {
                let path = quote!(#(#rest).*).to_string().replace(' ', "");
                let message =
                    format!("the path of `store` starts inside the state; write `store = {path}`");
                Err(Error::new_spanned(written, message))
            }
            _ => Ok(Self(steps)),
        }
    }

    pub(crate) fn emit(&self) -> TokenStream {
        let steps = &self.0;
        quote!(#(.#steps)*)
    }

    pub(crate) fn steps(&self) -> &[Member] {
        &self.0
    }
}

/// `a.0.b`; `None` for any other expression.
/// A number is a field at the beginning only: behind a name, syn has read it
/// already.
fn members(written: Expr) -> Option<Vec<Member>> {
    match written {
        Expr::Group(group) => members(*group.expr),
        Expr::Path(ExprPath {
            attrs,
            qself: None,
            path,
        }) if attrs.is_empty() => {
            let name = path.get_ident()?;
            identifier(&name.to_string(), name.span()).filter(|parsed| parsed == name)?;
            Some(vec![Member::Named(name.clone())])
        }
        Expr::Lit(ExprLit {
            lit: Lit::Int(number),
            ..
        }) if number.suffix().is_empty() => Some(vec![Member::Unnamed(
            syn::parse_str(number.base10_digits()).ok()?,
        )]),
        Expr::Field(ExprField {
            attrs,
            base,
            member,
            ..
        }) if attrs.is_empty() => {
            let mut steps = members(*base)?;
            steps.push(member);
            Some(steps)
        }
        _ => None,
    }
}
