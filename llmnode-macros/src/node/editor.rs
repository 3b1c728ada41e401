//! What an editor's expansion of a node also has, so that the variables of its
//! prompts lead to the fields.
//!
//! rust-analyzer knows the variables of `format_args!`, so the prompts stand in a
//! function that binds the fields, by their own identifiers. Where `format_args!`
//! would refuse a prompt, each of its variables stands in a literal that is else
//! blank. The compiler never sees this function.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::{Field, ItemStruct};

use super::args::NodeArgs;
use crate::macro_args::value;
use crate::prompt::identifier;
use crate::prompt::mask::named_mask;
use crate::prompt::source::Source;
use crate::prompt::template::{Piece, Segment, Variable, parse};

/// The fields are bound by a pattern, so that going to the definition of a variable
/// leads to the field.
pub(crate) fn prompts(args: &NodeArgs, item: &ItemStruct) -> TokenStream {
    let prompts = [value(&args.system), value(&args.prompt)];
    let literals = prompts.into_iter().flatten().flat_map(literals);
    let ident = &item.ident;
    let (impl_generics, ty_generics, where_clause) = item.generics.split_for_impl();
    let fields = item.fields.iter().filter_map(|field| field.ident.as_ref());
    quote! {
        const _: () = {
            #[allow(unused)]
            fn __prompts #impl_generics (__node: &#ident #ty_generics) #where_clause {
                let #ident { #(#fields,)* .. } = __node;
                #(let _ = ::core::format_args!(#literals);)*
            }
        };
    }
}

/// One for each variable.
/// Variables of the state are left out: `format_args!` takes no paths.
fn literals(prompt: &Source) -> Vec<TokenStream> {
    let template = parse(prompt.text());
    let mut masks = vec![];
    for segment in &template.segments {
        masks.extend(mask(prompt, segment));
    }
    masks
}

/// The literal of one variable, blank but for its name.
fn mask(prompt: &Source, segment: &Segment) -> Option<TokenStream> {
    let Piece::Variable { variable, .. } = &segment.kind else {
        return None;
    };
    let name = match variable {
        Variable::Field(name) => name.as_str(),
        Variable::State(_) => return None,
    };
    let (literal, range) = prompt.literal(&segment.range)?;
    let token = literal.token().to_string();
    let mut mask = named_mask(&token, &literal.value(), &range, name)?;
    mask.set_span(literal.span());
    Some(quote!(#mask))
}

/// The field's own identifier, where the compiler's expansion has one with the span
/// of the field's type.
pub(crate) fn own_identifier(item: &ItemStruct, name: &Ident) -> Option<Ident> {
    let ident = item
        .fields
        .iter()
        .find(|field: &&Field| {
            field
                .ident
                .as_ref()
                .is_some_and(|ident| ident.unraw() == name.unraw())
        })?
        .ident
        .as_ref()?;
    identifier(
        &ident.unraw().to_string(),
        ident.span().resolved_at(Span::mixed_site()),
    )
}
