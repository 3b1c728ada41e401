//! Expressions of the user in an attribute: what they may contain, what they name,
//! and how generated code resolves them.
//!
//! Attributes such as `with(..)`, `choices(..)` and `#[prep(..)]` hold expressions
//! that are evaluated in a generated function. Two things follow:
//!
//! - *What they may contain.* The function is not the user's: `return`, `?` and
//!   `.await` would leave or suspend it. They are refused here, since the
//!   compiler's message would speak of a function that nobody sees.
//! - *What they name.* `self` and `state` are written by the user and declared by
//!   the macro, so they get its hygiene. All other tokens keep theirs, and see
//!   nothing of the generated function.
//!
//! All of this looks at tokens and not at syn's tree: names stand in the tokens of
//! other macros, too (`format!("{}", state.name)`), which a tree does not show.

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

/// The first token that leaves the expression or awaits in it, outside of closures
/// and `async` blocks. A `|` begins a closure, `async` a block; behind it `return`
/// and `?` are at home. The rest of the group is not looked at: a mistake behind a
/// closure is then the compiler's to report, while a false refusal could not be
/// worked around.
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
/// `self::name` is a path into the module, and has nothing to do with the value.
pub(crate) fn find_self(tokens: TokenStream) -> Option<Span> {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        // A single `:` would do for a struct's field, but a field cannot be called
        // `self`.
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

/// `at` decides where they resolve; their places stay, so that the compiler
/// underlines the user's token.
pub(crate) fn resolve_names_at(tokens: TokenStream, at: Span) -> TokenStream {
    let tokens = tokens.into_iter();
    tokens.map(|token| resolve_name(token, at)).collect()
}

fn resolve_name(token: TokenTree, at: Span) -> TokenTree {
    match token {
        TokenTree::Ident(mut ident) if ident == "self" || ident == "state" => {
            ident.set_span(ident.span().resolved_at(at));
            TokenTree::Ident(ident)
        }
        TokenTree::Group(group) => regrouped(&group, resolve_names_at(group.stream(), at)).into(),
        other => other,
    }
}

/// Where the expression reads the state. A field `x.state` or a path `state::x`
/// does not.
pub(crate) fn state(tokens: TokenStream) -> Option<Span> {
    let state = names(tokens)
        .into_iter()
        .find(|name| name.ident == "state" && name.before != Some('.') && !name.is_part);
    state.map(|name| name.ident.span())
}

/// A name in an expression, with what stands before it and behind: enough to tell a
/// variable from a field or a path.
pub(crate) struct Name {
    pub(crate) ident: Ident,
    // The punctuation mark before it; `.` for a field or a method.
    before: Option<char>,
    /// In a path or struct expression, where it is not a variable.
    is_part: bool,
    // The field that is read of it, as `goal` of `self.goal`.
    pub(crate) field: Option<String>,
}

impl Name {
    /// A method, a field and a part of a path may have the name of a variable.
    pub(crate) fn is_variable(&self, name: &Ident) -> bool {
        self.ident == *name && self.before != Some('.') && !self.is_part
    }
}

fn punctuation(tokens: &[TokenTree], at: Option<usize>) -> Option<char> {
    match tokens.get(at?)? {
        TokenTree::Punct(punct) => Some(punct.as_char()),
        _ => None,
    }
}

/// In the order in which they stand, those in brackets and in the tokens of macros
/// included.
pub(crate) fn names(tokens: TokenStream) -> Vec<Name> {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let mut names = vec![];
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(ident) => {
                let next = punctuation(&tokens, Some(at + 1));
                let before = punctuation(&tokens, at.checked_sub(1));
                let before_that = punctuation(&tokens, at.checked_sub(2));
                let field = match tokens.get(at + 2) {
                    Some(TokenTree::Ident(field)) if next == Some('.') => Some(field),
                    _ => None,
                };
                // Behind `::`, or before a `:`, which is a path or the field of a
                // struct expression.
                let is_step = before == Some(':') && before_that == Some(':');
                names.push(Name {
                    ident: ident.clone(),
                    before,
                    is_part: is_step || next == Some(':'),
                    field: field.map(|field| field.unraw().to_string()),
                });
            }
            TokenTree::Group(group) => names.extend(self::names(group.stream())),
            _ => {}
        }
    }
    names
}
