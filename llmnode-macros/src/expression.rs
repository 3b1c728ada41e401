//! Expressions of the user in an attribute: what they may contain, what they name, and how generated code resolves them.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Error, Expr};

use crate::generics::regrouped;

/// `rest`: of the message about a token, behind "cannot be used in".
pub(crate) fn reject_control_flow(
    expression: &Expr,
    rest: impl Fn(&str) -> &'static str,
) -> syn::Result<()> {
    let Some(token) = control_flow(expression.to_token_stream()) else {
        return Ok(());
    };
    let name = token.to_string();
    let shown = if name == "await" { ".await" } else { &name };
    Err(Error::new(
        token.span(),
        format!("`{shown}` cannot be used in {}", rest(shown)),
    ))
}

/// The first token that leaves the expression or awaits in it, outside of closures and `async` blocks.
fn control_flow(tokens: TokenStream) -> Option<TokenTree> {
    for token in tokens {
        match &token {
            TokenTree::Group(group) => {
                if let Some(found) = control_flow(group.stream()) {
                    return Some(found);
                }
            }
            TokenTree::Punct(punct) if punct.as_char() == '|' => return None,
            TokenTree::Ident(ident) if ident == "async" => return None,
            TokenTree::Punct(punct) if punct.as_char() == '?' => return Some(token),
            TokenTree::Ident(ident) if ident == "await" || ident == "return" => return Some(token),
            _ => {}
        }
    }
    None
}

/// As a value, not at the start of a path.
pub(crate) fn find_self(tokens: TokenStream) -> Option<Span> {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is_path =
            matches!(tokens.peek(), Some(TokenTree::Punct(next)) if next.as_char() == ':');
        match token {
            TokenTree::Ident(ident) if ident == "self" && !is_path => return Some(ident.span()),
            TokenTree::Group(group) => {
                if let Some(found) = find_self(group.stream()) {
                    return Some(found);
                }
            }
            _ => {}
        }
    }
    None
}

/// `self` and `state` become those of the generated function, also in the tokens of other macros.
pub(crate) fn resolve_names(tokens: TokenStream) -> TokenStream {
    resolve_names_at(tokens, Span::mixed_site())
}

pub(crate) fn resolve_names_at(tokens: TokenStream, at: Span) -> TokenStream {
    let token = |token| match token {
        TokenTree::Ident(mut ident) if ident == "self" || ident == "state" => {
            ident.set_span(ident.span().resolved_at(at));
            TokenTree::Ident(ident)
        }
        TokenTree::Group(group) => regrouped(&group, resolve_names_at(group.stream(), at)).into(),
        other => other,
    };
    tokens.into_iter().map(token).collect()
}

pub(crate) fn state(tokens: TokenStream) -> Option<Span> {
    let state = names(tokens)
        .into_iter()
        .find(|name| name.ident == "state" && name.before != Some('.') && !name.is_part);
    state.map(|name| name.ident.span())
}

pub(crate) struct Name {
    pub(crate) ident: Ident,
    before: Option<char>,
    /// In a path or struct expression, where it is not a variable.
    is_part: bool,
    pub(crate) field: Option<String>,
}

impl Name {
    pub(crate) fn is_variable(&self, name: &Ident) -> bool {
        self.ident == *name && self.before != Some('.') && !self.is_part
    }
}

pub(crate) fn names(tokens: TokenStream) -> Vec<Name> {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let punctuation = |at: usize| match tokens.get(at)? {
        TokenTree::Punct(punct) => Some(punct.as_char()),
        _ => None,
    };
    let mut names = vec![];
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(ident) => {
                let field = match tokens.get(at + 2) {
                    Some(TokenTree::Ident(field)) if punctuation(at + 1) == Some('.') => {
                        Some(field)
                    }
                    _ => None,
                };
                let before = |steps| at.checked_sub(steps).and_then(punctuation);
                let is_step = before(1) == Some(':') && before(2) == Some(':');
                names.push(Name {
                    ident: ident.clone(),
                    before: before(1),
                    is_part: is_step || punctuation(at + 1) == Some(':'),
                    field: field.map(|field| field.unraw().to_string()),
                });
            }
            TokenTree::Group(group) => names.extend(self::names(group.stream())),
            _ => {}
        }
    }
    names
}
