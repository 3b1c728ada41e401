//! What an editor's expansion of a node also has, so that the variables of its
//! prompts lead to the fields.
//!
//! rust-analyzer knows the variables of `format_args!`, so the prompts stand in a
//! function that binds the fields, by their own identifiers. Where `format_args!`
//! would refuse a prompt, each of its variables stands in a literal that is else
//! blank. The compiler never sees this function.
//!
//! To rename a field, begin at a use of it: at its definition, rust-analyzer finds
//! the binding, too, and would rename that alone. The binding has a place in the
//! program, since a variable would otherwise lead to the attribute.

use proc_macro2::TokenStream;
use quote::quote;
use syn::ItemStruct;

use super::args::NodeArgs;
use crate::macro_args::value;
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

/// The whole literal while it has faults, then one for each variable.
/// Variables of the state are left out: `format_args!` takes no paths.
fn literals(prompt: &Source) -> Vec<TokenStream> {
    let template = parse(prompt.text());
    let mut masks = vec![];
    // In a prompt that is not written yet, braces are empty: they complete in the
    // literal as it stands.
    let unfinished = prompt
        .only_literal()
        .filter(|_| !template.faults.is_empty());
    masks.extend(unfinished.map(|literal| quote!(#literal)));
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
