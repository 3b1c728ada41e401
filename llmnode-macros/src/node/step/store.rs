//! `store = path.to.field`: the field of the state that takes the output.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::ParseStream;
use syn::{Error, Expr, ExprField, ExprLit, ExprPath, Lit, Member};

use crate::literals::unexpected;
use crate::macro_args::comma_or_end;
use crate::prompt::identifier;

const WANTED: &str = "`store` takes the path of a field of the state, such as `store = summary`; `post = path` names a function \
                      for anything else";

pub(crate) struct StatePath(Vec<Member>);

impl StatePath {
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
fn members(written: Expr) -> Option<Vec<Member>> {
    match written {
        Expr::Group(group) => members(*group.expr),
        Expr::Path(ExprPath {
            attrs,
            qself: None,
            path,
        }) if attrs.is_empty() => {
            let name = path.get_ident()?;
            identifier(&name.to_string(), name.span()).filter(|known| known == name)?;
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
