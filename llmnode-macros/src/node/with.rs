//! `with(count = state.files.len())`: prompt variables by expressions.
//!
//! The expressions are the user's own tokens, so that the compiler underlines
//! exactly what is wrong in them. Of the names in generated code they see only
//! `self` and `state`, which are resolved as generated code is.
//!
//! Variables exist because a placeholder has no expressions: what is computed is
//! written in Rust, with its types, and has a name in the prompt. All are evaluated
//! once, before any message is rendered, and are borrowed from then on.

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::parse::discouraged::Speculative;
use syn::{Error, Expr, ExprReference, Token};

use crate::expression;
use crate::generics::{bare_value, end_spans};
use crate::macro_args::{comma_or_end, parse_list};
use crate::prompt::identifier;

pub(crate) const EXAMPLE: &str = "with(count = state.files.len())";

/// A name, and its expression if that could be read.
pub(crate) struct WithVariable {
    pub(crate) name: Ident,
    written: Option<Expr>,
}

/// `None`: a variable has no name, so it is unknown what prompts may use.
pub(crate) fn parse(input: ParseStream<'_>) -> (Option<Vec<WithVariable>>, syn::Result<()>) {
    let mut list = Vec::<WithVariable>::new();
    let mut all_named = true;
    let result = parse_list(input, |input| {
        variable(input, &mut list, &mut all_named)?;
        comma_or_end(input, "variable")
    });
    (all_named.then_some(list), result)
}

fn expected(at: Span) -> Error {
    Error::new(
        at,
        format!("`with` takes names and expressions, such as `{EXAMPLE}`"),
    )
}

/// The name is pushed before the expression is parsed: a prompt may use it although
/// its value is wrong.
fn variable(
    input: ParseStream<'_>,
    list: &mut Vec<WithVariable>,
    all_named: &mut bool,
) -> syn::Result<()> {
    let ahead = input.fork();
    let name = ahead.call(Ident::parse_any).map(|name| name.unraw());
    let (Ok(name), Ok(_)) = (name, ahead.parse::<Token![=]>()) else {
        *all_named = false;
        return Err(expected(input.span()));
    };
    input.advance_to(&ahead);
    // Checked behind the expression, so that the next variable is read from the
    // right place.
    let given_twice = list.iter().any(|other| other.name == name);
    list.push(WithVariable {
        name: name.clone(),
        written: None,
    });
    let start = if input.is_empty() || input.peek(Token![,]) {
        name.span()
    } else {
        input.span()
    };
    let written: Expr = input.parse().map_err(|_| expected(start))?;
    if given_twice {
        return Err(Error::new(
            name.span(),
            format!("`{name}` is given more than once"),
        ));
    }
    if name == "state" || identifier(&name.to_string(), name.span()).is_none() {
        let message = format!("`{name}` cannot be the name of a prompt variable; choose another");
        return Err(Error::new(name.span(), message));
    }
    expression::reject_control_flow(&written, |_| {
        "`with`, whose expressions are evaluated at once; compute the value before, and store it \
             in a field"
    })?;
    if let Some(with) = list.last_mut() {
        with.written = Some(written);
    }
    Ok(())
}

/// `messages`: what is evaluated with the variables bound.
pub(crate) fn with_bindings(with: &[WithVariable], messages: TokenStream) -> TokenStream {
    if with.is_empty() {
        return messages;
    }
    let values = with.iter().filter_map(WithVariable::value);
    let bindings = with.iter().map(WithVariable::binding);
    // Temporaries in the scrutinee of a `match` live until its end.
    generated!(match (#(#values,)*) { (#(#bindings,)*) => { #messages } })
}

pub(crate) fn state(with: &[WithVariable]) -> Option<Span> {
    with.iter().find_map(WithVariable::state)
}

impl WithVariable {
    pub(crate) fn text(&self) -> String {
        self.name.to_string()
    }

    pub(crate) fn has_fault(&self) -> bool {
        self.written.is_none()
    }

    /// A reference, whatever the expression is: a variable may be a place of the
    /// state that cannot be moved.
    pub(crate) fn value(&self) -> Option<TokenStream> {
        let written = bare_value(self.written.clone()?);
        let and_token = Token![&](end_spans(&written).0);
        let expr = Box::new(written);
        let reference = ExprReference {
            attrs: vec![],
            and_token,
            mutability: None,
            expr,
        };
        Some(expression::resolve_names(reference.to_token_stream()))
    }

    /// Prefixed, so that it cannot match a constant in scope.
    pub(crate) fn binding(&self) -> Ident {
        Ident::new(&format!("__llmnode_{}", self.name), Span::mixed_site())
    }

    pub(crate) fn end_spans(&self) -> (Span, Span) {
        end_spans(&self.written)
    }

    fn state(&self) -> Option<Span> {
        expression::state(self.written.to_token_stream())
    }

    /// `None` if it uses `self` itself, or could not be parsed.
    /// The node's fields that the expression reads, as `self.name`.
    pub(crate) fn fields(&self, fields: &[String]) -> Option<Vec<String>> {
        let names = expression::names(self.written.as_ref()?.to_token_stream());
        let owners = names.into_iter().filter(|name| name.ident == "self");
        owners
            .map(|name| name.field.filter(|field| fields.contains(field)))
            .collect()
    }
}
