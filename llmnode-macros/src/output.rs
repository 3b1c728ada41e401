//! `#[llm_output]`: the derives of an answer's type, and the traversal of its fields.
//!
//! In comes a struct or an enum, out goes the same with three derives (`Serialize`,
//! `Deserialize`, `JsonSchema`; those that it has already are left to it), and the
//! impls by which a call finds the validators of its fields. In this order:
//!
//! 1. What other macros would report without a remedy is taken off and reported
//!    here: attributes that no derive has (`stray.rs`), misspelt keys of serde and
//!    schemars, fields that borrow (`borrowed.rs`), arrays of any length
//!    (`any_length.rs`).
//! 2. The traversal is written from the fields as they are then (`validate/definition.rs`).
//! 3. Last come the derives, since steps 1 and 2 decide what they may see: a type
//!    that borrows gets a stub for `Deserialize`.
//!
//! A field whose type lacks the derives would be several errors, one of each place
//! in serde's and schemars' code; `parts.rs` makes them one.

mod any_length;
mod borrowed;
mod parts;
mod stray;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::{Attribute, DeriveInput, Item, Path, parse_quote};

use crate::diagnostics::Errors;
use crate::macro_args::value;
use crate::validate::args::DefinitionArgs;
use crate::validate::{definition, serde_keys};
use crate::{cfg, crate_path, item};

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let parsed = match item::parse(item) {
        Ok(parsed) => parsed,
        Err(answer) => return answer,
    };
    if let Some(of_builds) = cfg::split("llm_output", &arguments, &parsed) {
        return of_builds;
    }
    let mut errors = Errors::default();
    let args = DefinitionArgs::parse(arguments, "llm_output", &mut errors);
    let krate = crate_path::resolve(&args.krate);
    let mut input = match parsed {
        Item::Struct(item) => DeriveInput::from(item),
        Item::Enum(item) => DeriveInput::from(item),
        other => {
            let expected = "`#[llm_output]` goes on the struct or enum that a model answers with";
            errors.push(item::wrong_item_kind(expected, &other));
            return quote!(#other #errors);
        }
    };
    let fault = "`#[llm_output]` stands above, and derives and traverses everything; keep it \
                 alone, with the arguments of both";
    if let Some(error) = item::take_doubled(&mut input.attrs, &["llm_output", "validate"], fault) {
        errors.push(error);
    }
    stray::take_stray(&mut input, &mut errors);
    serde_keys::check(&mut input, &mut errors);
    let borrows = borrowed::check(&mut input, &mut errors);
    any_length::check(&mut input, &krate, &mut errors);
    let definition = definition::expand(&input, &krate, value(&args.state), &mut errors);
    // Derives must come before their helper attributes.
    let mut missing = missing_derives(&input.attrs);
    let unread = borrows && missing.contains(&DESERIALIZE);
    missing.retain(|derive| !unread || *derive != DESERIALIZE);
    // An editor shows no errors of derived code.
    let parts = (!unread && !crate::ide::is_editor()).then(|| parts::check(&mut input, &krate));
    let unread = unread.then(|| stub_deserialize(&input, &krate));
    input.attrs.splice(0..0, derive(&missing, &krate));
    input.attrs.extend(crate_attributes(&krate));
    input.attrs.push(definition::mark(&input, &krate));
    quote!(#input #definition #parts #unread #errors)
}

/// The crate of a derive and its name.
type Derive = (&'static str, &'static str);

const DESERIALIZE: Derive = ("serde", "Deserialize");

const JSON_SCHEMA: Derive = ("schemars", "JsonSchema");

/// What an output is made of: it is read, written into conversations and journals,
/// and described to a model.
const NEEDED: [Derive; 3] = [("serde", "Serialize"), DESERIALIZE, JSON_SCHEMA];

/// Derives that the user wrote stay: they may have attributes that ours would not
/// know.
fn missing_derives(attributes: &[Attribute]) -> Vec<Derive> {
    let derived: Vec<_> = definition::derives(attributes).collect();
    NEEDED
        .into_iter()
        .filter(|(_, name)| !derived.iter().any(|one| one == name))
        .collect()
}

/// By paths into the crate's own `__private`, so that the program depends on
/// neither serde nor schemars.
fn derive(derives: &[Derive], krate: &Path) -> Option<Attribute> {
    let private = quote!(#krate::__private);
    let derives: Vec<_> = derives
        .iter()
        .map(|(krate, name)| {
            let [krate, name] = [krate, name].map(|name| Ident::new(name, Span::call_site()));
            quote!(#private::#krate::#name)
        })
        .collect();
    (!derives.is_empty()).then(|| parse_quote!(#[derive(#(#derives),*)]))
}

/// A type that borrows has no derived impl.
fn stub_deserialize(input: &DeriveInput, krate: &Path) -> TokenStream {
    let ident = &input.ident;
    let (_, ty_generics, where_clause) = input.generics.split_for_impl();
    let mut generics = input.generics.clone();
    generics.params.insert(0, parse_quote!('de));
    let impl_generics = generics.split_for_impl().0;
    let serde = quote!(#krate::__private::serde);
    generated! {
        #[automatically_derived]
        impl #impl_generics #serde::Deserialize<'de> for #ident #ty_generics #where_clause {
            fn deserialize<__D: #serde::Deserializer<'de>>(
                _: __D,
            ) -> ::core::result::Result<Self, __D::Error> {
                ::core::unreachable!()
            }
        }
    }
}

/// The user need not depend on the derives' crates.
fn crate_attributes(krate: &Path) -> [Attribute; 2] {
    let serde = crate_path::private_path(krate, "serde");
    let schemars = crate_path::private_path(krate, "schemars");
    [
        parse_quote!(#[serde(crate = #serde)]),
        parse_quote!(#[schemars(crate = #schemars)]),
    ]
}
