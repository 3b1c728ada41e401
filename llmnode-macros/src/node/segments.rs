//! The messages of a prompt, as the calls that write them.
//!
//! A message is one call, `__to.user(&[..])`, with its segments in an array on the
//! stack: texts as literals, values as references with their format. Nothing is
//! formatted here; the runtime writes all segments into one buffer, and knows which
//! bytes are the program's text and which are values.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote_spanned;
use syn::ext::IdentExt;

use super::bounds::field_type;
use super::model::{NodeModel, Part, PathStep, ValueOrigin};
use crate::generics::{end_spans, respanned};

use crate::prompt::identifier;
use crate::prompt::template::Format;

pub(crate) fn message(
    role: &str,
    parts: &[Part],
    model: &NodeModel<'_>,
    private: &Ident,
) -> TokenStream {
    let here = Span::mixed_site();
    let role = Ident::new(role, here);
    let segments = parts.iter().map(|part| segment(part, model, private));
    // Said to the runtime beside the message, so that it can tell the developer
    // once: a long fixed text behind a value is never read from a provider's cache.
    let early = early_value(parts).filter(|_| role == "user");
    let early = early.map(|name| generated!(__to.varies_early(#name);));
    generated!(#early __to.#role(&[#(#segments),*]);)
}

/// A variable before so long a fixed text that the text would be worth keeping in a
/// provider's cache. By length alone, as an estimate: a token has some four bytes.
fn early_value(parts: &[Part]) -> Option<String> {
    /// The least that providers keep, at four bytes a token.
    // 1,024 tokens, the smallest prefix that OpenAI keeps; others need as much or
    // more.
    const LEAST_BYTES: usize = 4 * 1_024;
    let first = parts
        .iter()
        .position(|part| !matches!(part, Part::Text(_)))?;
    let fixed = parts[first..].iter().map(|part| match part {
        Part::Text(text) => text.len(),
        _ => 0,
    });
    if fixed.sum::<usize>() < LEAST_BYTES {
        return None;
    }
    let name = match &parts[first] {
        Part::Checked { field, .. } => field.unraw().to_string(),
        Part::Value { origin, .. } => match origin {
            ValueOrigin::Field(field) => field.unraw().to_string(),
            ValueOrigin::WithVariable(variable, _) => variable.unraw().to_string(),
            ValueOrigin::State { .. } => "state".to_owned(),
        },
        Part::Text(_) => return None,
    };
    Some(name)
}

/// The messages of the field `#[node(history)]`, before the user message.
pub(crate) fn history(model: &NodeModel<'_>, private: &Ident) -> Option<TokenStream> {
    let history = model.history?.ident.as_ref()?;
    let field = identifier(&history.unraw().to_string(), history.span())?;
    let field = reference(&ValueOrigin::Field(field), model, private);
    Some(generated!(__to.history(#field);))
}

/// One value of the array. Each format is a constructor of its own, whose bound is
/// a trait with its own message.
pub(crate) fn segment(part: &Part, model: &NodeModel<'_>, private: &Ident) -> TokenStream {
    let segment = generated!(#private::Segment);
    let (origin, format) = match part {
        Part::Text(text) => return generated!(#segment::text(#text)),
        Part::Checked { field, check } => {
            // A field that may be an attachment is asked by a probe; `check`
            // reports it in the prompt if it has no text either.
            let field = generated!(#private::SegmentProbe(&self.#field));
            return generated!({ #check use #private::probes::*; (&&#field).__segment() });
        }
        Part::Value { origin, format } => (origin, format),
    };
    let by_reference = reference(origin, model, private);
    match format {
        Format::Plain => generated!(#segment::value(#by_reference)),
        Format::List => generated!(#segment::list(#by_reference)),
        Format::Json => generated!(#segment::json(#by_reference)),
        Format::Fence => generated!(#segment::fence(#by_reference)),
        Format::Attach => generated!(#segment::attach(#by_reference)),
        Format::Raw => generated!(#segment::raw(#by_reference)),
        Format::Or(absent) => generated!(#segment::or(#by_reference, #absent)),
        // A format spec of std is left to std.
        Format::Spec(spec) => {
            let spec = format!("{{:{spec}}}");
            generated!(#segment::format(&::core::format_args!(#spec, #by_reference)))
        }
    }
}

/// The compiler reports a missing trait at the field's type, or at the prompt's literal.
/// The value, borrowed. The tokens are spanned from the first to the last of what
/// should be underlined.
fn reference(origin: &ValueOrigin, model: &NodeModel<'_>, private: &Ident) -> TokenStream {
    match origin {
        ValueOrigin::Field(field) => {
            let (first, last) =
                field_type(model, field).map_or((field.span(), field.span()), end_spans);
            let field = respanned(field, last);
            let owner = Ident::new("self", first);
            let member = quote_spanned!(last=> .#field);
            quote_spanned!(first=> &#owner #member)
        }
        ValueOrigin::WithVariable(binding, (first, last)) => {
            let binding = respanned(binding, *last);
            let value = quote_spanned!(*last=> *#binding);
            quote_spanned!(*first=> &#value)
        }
        ValueOrigin::State { steps, file, span } => {
            let private = respanned(private, *span);
            let state = quote_spanned!(*span=> state);
            // Each step of the path goes through an identity function whose type
            // parameters are line and column (and the file's type): if the field
            // does not exist, the compiler prints the type, and so the place in the
            // prompt.
            steps.iter().fold(state, |read, PathStep { member, at }| {
                let line = Literal::usize_unsuffixed(at.line);
                let column = Literal::usize_unsuffixed(at.column);
                let at = match file {
                    Some(file) => {
                        quote_spanned!(*span=> prompt_file_at::<#file, #line, #column, _>)
                    }
                    None => quote_spanned!(*span=> prompt_at::<#line, #column, _>),
                };
                quote_spanned!(*span=> &#private::#at(#read).#member)
            })
        }
    }
}
