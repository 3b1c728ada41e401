//! Errors whose underline is a variable *inside* the prompt's literal, on a stable compiler.
//!
//! A macro cannot span a part of a literal on stable: `Literal::subspan` answers
//! `None`. The compiler itself can, when `format_args!` captures a variable: it
//! underlines the name in the literal it was given. So for a variable that does not
//! exist the expansion holds a *probe*, a function that is never called and
//! captures that name. Probes are emitted only beside a fault that is already
//! known, never for a correct prompt.
//!
//! What experiments with rustc 1.95 and 1.97 (nightly) showed, and what follows:
//! * The literal must be the user's own token. Then the underline is exact in
//!   plain, raw and multi-line literals, through all escapes, on both.
//! * A `{state.path}` or an unknown spec such as `:list` in it is refused before
//!   any name is looked up. Such a literal is *masked*: a raw literal with the
//!   user's span in which all but the one variable is blank, laid out so that the
//!   variable keeps its byte of the source. 1.95 computes the underline from the
//!   position alone. 1.97 compares the source with the literal and, as they differ,
//!   underlines the whole literal; nothing worse.
//! * With the node's field of the nearest name bound beside it, rustc words the
//!   error and proposes a fix that can be applied. It must not where the underline
//!   may be the whole literal, since the fix would replace the prompt; nor is there
//!   one if no name is near. There the error gets words of its own, with the
//!   position: the variable is bound to a value whose `Display` needs a trait that
//!   has `on_unimplemented`.
//! * A mistake of the grammar is underlined in the same way: the mask's variable
//!   lies where the mistake is.
//! * Constants, statics and `self` are visible whatever the hygiene, so a probe
//!   lives in a module of its own, without a prelude.
//! * rustdoc checks no bodies, so there the fault is an error of the macro, at the
//!   literal.
//! * A note that the error comes from a macro follows wherever a span of the error
//!   does. So the literal keeps its span, and the names that it captures, which
//!   have to be of the same hygiene, get it.

use std::ops::Range;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::LitStr;

use super::identifier;
use super::locate::excerpt;
use super::mask::{self, Mask, is_spanned};
use super::source::Source;
use crate::diagnostics::{list, suggest};

/// A variable that does not exist, with the bytes of its placeholder.
pub(crate) struct Unknown {
    pub(crate) name: String,
    pub(crate) range: Range<usize>,
}

/// What there is in its place.
pub(crate) struct NameCandidates<'a> {
    pub(crate) node: &'a str,
    pub(crate) fields: &'a [String],
    pub(crate) with: &'a [String],
    pub(crate) state: bool,
    /// rustc's notes about the probe point here.
    pub(crate) key: Span,
}

impl<'a> NameCandidates<'a> {
    /// The field or variable that was most likely meant.
    fn near(&self, name: &str) -> Option<&'a str> {
        suggest(
            name,
            self.fields.iter().chain(self.with).map(String::as_str),
        )
    }
}

/// These tokens do not compile. `plain`: `format_args!` accepts the literal.
/// `used`: the fields in the prompt. One probe for the whole literal if that can be
/// used; it shows all names in one picture. Otherwise one for each name.
pub(crate) fn unknown_variables(
    prompt: &Source,
    unknown: &[Unknown],
    candidates: &NameCandidates<'_>,
    plain: bool,
    used: &[String],
) -> TokenStream {
    let whole = prompt
        .only_literal()
        .filter(|literal| plain && is_spanned(literal))
        .and_then(|literal| {
            let names = unknown
                .iter()
                .map(|unknown| identifier(&unknown.name, literal.span()));
            Some(capture_from_literal(
                prompt,
                literal,
                unknown,
                &names.collect::<Option<Vec<_>>>()?,
                candidates,
                used,
            ))
        });
    whole.unwrap_or_else(|| {
        unknown
            .iter()
            .map(|unknown| variable_error(prompt, unknown, candidates))
            .collect()
    })
}

/// Underlined in a masked literal, or else at the whole literal, with an excerpt.
fn variable_error(
    prompt: &Source,
    unknown: &Unknown,
    candidates: &NameCandidates<'_>,
) -> TokenStream {
    let error_text = ErrorText::new(prompt, unknown, candidates);
    let here = mixed_site(candidates.key);
    let masked =
        Mask::of(prompt, &unknown.range, here).map(|mask| capture_masked(&mask, &error_text, here));
    masked.unwrap_or_else(|| error_text.at(prompt, &unknown.range))
}

/// Does not compile, and underlines that part of the prompt; `None` if a part of it cannot be underlined. rustc's notes
/// point to `key`.
pub(crate) fn misuse(
    prompt: &Source,
    range: &Range<usize>,
    message: &str,
    key: Span,
) -> Option<TokenStream> {
    let here = mixed_site(key);
    let mask = Mask::of(prompt, &mask::widened(prompt.text(), range), here)?;
    // Compilers from 1.97 on underline the whole prompt, so the line is shown where it has several.
    let note = prompt
        .text()
        .contains('\n')
        .then(|| format!("in the prompt:\n{}", excerpt(prompt.text(), range)));
    let error_text = ErrorText {
        message: message.to_owned(),
        label: "here".to_owned(),
        note,
    };
    Some(capture_masked(&mask, &error_text, here))
}

/// If each unknown name has a near one, rustc suggests these. Otherwise each is
/// bound to a value without `Display`, since unbound names in the literal would
/// hide that error.
fn capture_from_literal(
    prompt: &Source,
    literal: &LitStr,
    unknown: &[Unknown],
    names: &[Ident],
    candidates: &NameCandidates<'_>,
    used: &[String],
) -> TokenStream {
    let here = mixed_site(candidates.key);
    let mut bound: Vec<&str> = used.iter().map(String::as_str).collect();
    let near: Option<Vec<&str>> = unknown
        .iter()
        .map(|unknown| candidates.near(&unknown.name))
        .collect();
    let mut items = TokenStream::new();
    let compile_error: TokenStream = unknown
        .iter()
        .map(|unknown| ErrorText::new(prompt, unknown, candidates).in_documentation(literal.span()))
        .collect();
    match near {
        Some(near) => bound.extend(near),
        None => {
            for (index, (unknown, name)) in unknown.iter().zip(names).enumerate() {
                if names[..index].contains(name) {
                    continue;
                }
                let kind = format_ident!("Variable{index}", span = here);
                items.extend(ErrorText::new(prompt, unknown, candidates).undisplayable(&kind));
                items.extend(quote_spanned!(here=> const #name: #kind<()> = #kind(());));
            }
        }
    }
    bound.sort_unstable();
    bound.dedup();
    let bound = bound
        .into_iter()
        .filter_map(|name| identifier(name, literal.span()));
    let token = literal.token();
    // A number has every trait that a format spec may need.
    let probe = probe(
        here,
        items,
        quote_spanned!(here=> #(let #bound = 0;)* let _ = ::core::format_args!(#token);),
    );
    quote!(#probe #compile_error)
}

/// The masked literal captures one name, bound to a value without a text.
fn capture_masked(
    Mask { literal, name }: &Mask,
    error_text: &ErrorText,
    here: Span,
) -> TokenStream {
    let kind = format_ident!("Variable", span = here);
    let probe = probe(
        here,
        error_text.undisplayable(&kind),
        quote_spanned!(here=> let #name = #kind(()); let _ = ::core::format_args!(#literal);),
    );
    let compile_error = error_text.in_documentation(literal.span());
    quote!(#probe #compile_error)
}

/// Constants of functions that are never called. `no_implicit_prelude`, since a
/// name such as `Some` would be found in it.
fn probe(here: Span, items: TokenStream, body: TokenStream) -> TokenStream {
    quote_spanned! {here=>
        const _: () = {
            #[allow(unused, non_upper_case_globals, non_snake_case)]
            mod prompt {
                #items
                #[no_implicit_prelude]
                mod variables {
                    use super::*;
                    fn capture() { #body }
                }
            }
        };
    }
}

fn mixed_site(at: Span) -> Span {
    Span::mixed_site().located_at(at)
}

/// The words of an error, for whichever way it is emitted.
struct ErrorText {
    message: String,
    label: String,
    note: Option<String>,
}

impl ErrorText {
    /// The label says what there is instead; a part of the state is proposed only
    /// if no field is near.
    fn new(prompt: &Source, unknown: &Unknown, candidates: &NameCandidates<'_>) -> Self {
        let NameCandidates {
            node,
            fields,
            with,
            state,
            ..
        } = candidates;
        let at = prompt.location(unknown.range.start + 1);
        let proposal = candidates
            .near(&unknown.name)
            .map(|near| format!("; did you mean `{near}`?"))
            .unwrap_or_default();
        let names = list(fields.iter().chain(*with).map(String::as_str));
        let mut label = match &fields[..] {
            _ if !with.is_empty() => format!("the prompt variables of `{node}` are {names}"),
            [] => format!("`{node}` has no fields"),
            [one] => format!("the field of `{node}` is `{one}`"),
            _ => format!("the fields of `{node}` are {names}"),
        };
        if *state && proposal.is_empty() {
            let written = prompt.text()[unknown.range.clone()].trim_start_matches('{');
            label += &format!("; a part of the state is written `{{state.{written}`");
        }
        Self {
            message: format!(
                "unknown prompt variable `{}` at {at}{proposal}",
                unknown.name
            ),
            label,
            note: None,
        }
    }

    /// A type whose formatting traits need a trait that it lacks. With all of them,
    /// as the placeholder may have any format.
    fn undisplayable(&self, kind: &Ident) -> TokenStream {
        let message = escaped(&self.message);
        let label = escaped(&self.label);
        let note = self.note.as_deref().map(escaped).into_iter();
        let here = kind.span();
        let bound_trait = format_ident!("Known{kind}", span = here);
        let formats = [
            "Display", "Debug", "LowerHex", "UpperHex", "Octal", "Binary", "LowerExp", "UpperExp",
        ]
        .map(|format| Ident::new(format, here));
        quote_spanned! {here=>
            #[diagnostic::on_unimplemented(message = #message, label = #label #(, note = #note)*)]
            trait #bound_trait {}
            struct #kind<T>(T);
            #(impl<T: #bound_trait> ::core::fmt::#formats for #kind<T> {
                fn fmt(&self, _: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    ::core::result::Result::Ok(())
                }
            })*
        }
    }

    /// rustdoc checks no bodies, so a probe says nothing to it.
    fn in_documentation(&self, at: Span) -> TokenStream {
        let Self { message, label, .. } = self;
        let message = match label.as_str() {
            "here" => message.clone(),
            label => format!("{message}; {label}"),
        };
        quote_spanned!(at=> #[cfg(doc)] ::core::compile_error!(#message);)
    }

    /// As an error of ours, where nothing can be underlined.
    fn at(&self, prompt: &Source, range: &Range<usize>) -> TokenStream {
        let Self { message, label, .. } = self;
        let excerpt = excerpt(prompt.text(), range);
        syn::Error::new(
            prompt.span(range.start),
            format!("{message}\n{excerpt}\n{label}"),
        )
        .to_compile_error()
        .into_token_stream()
    }
}

/// The attribute `on_unimplemented` parses braces as a format string does.
fn escaped(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}
