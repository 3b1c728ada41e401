//! `#[validate]`: on an impl block, its methods become validators; on a definition,
//! the traversal of its fields.
//!
//! The two are apart, since a macro sees one item: the block does not know the
//! fields, and the definition not the methods. They meet in the runtime, where a
//! call walks an answer and asks each value for its checks.
//!
//! - `methods.rs` takes a block. `signature.rs` decides by the tokens of a method
//!   what it is given (state, attempt), and what it returns; what is not certain is
//!   left to the compiler, in a place that underlines the method's own type.
//!   `texts.rs` sees errors that are texts.
//! - `definition.rs` takes the fields as `fields.rs` reads them, with the names
//!   that they have in JSON (`serde_names.rs`), since a complaint names the place
//!   in the answer. `#[llm_output]` uses it, too.
//! - `serde_keys.rs`, `schemars_keys.rs` and `tagged.rs` report what other derives
//!   would say without a remedy.

pub(crate) mod args;
pub(crate) mod definition;
pub(crate) mod fields;
mod methods;
mod schemars_keys;
pub(crate) mod serde_keys;
pub(crate) mod serde_names;
mod signature;
pub(crate) mod tagged;
mod texts;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Error, Item};

use crate::diagnostics::{Errors, attribute_span};
use crate::macro_args::value;
use crate::{cfg, crate_path, item};

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let parsed = match item::parse(item) {
        Ok(parsed) => parsed,
        Err(answer) => return answer,
    };
    if let Some(of_builds) = cfg::split("validate", &arguments, &parsed) {
        return of_builds;
    }
    match parsed {
        Item::Impl(mut block) => {
            let fault = "`#[validate]` stands above already; keep one";
            let doubled = item::take_doubled(&mut block.attrs, &["validate"], fault);
            let doubled = doubled.map(Error::into_compile_error);
            let block = methods::expand(arguments, &block);
            quote!(#block #doubled)
        }
        Item::Struct(item) => of_definition(arguments, item.into()),
        Item::Enum(item) => of_definition(arguments, item.into()),
        other => {
            let expected = "`#[validate]` goes on an impl block of validators, or on the \
                          definition of a struct or enum that derives `Deserialize` and \
                          `JsonSchema` itself";
            let error = item::wrong_item_kind(expected, &other).into_compile_error();
            quote!(#other #error)
        }
    }
}

/// Fields as `#[llm_output]` goes through them, for a type that has its derives
/// already.
fn of_definition(arguments: TokenStream, mut input: DeriveInput) -> TokenStream {
    let mut errors = Errors::default();
    let args = args::DefinitionArgs::parse(arguments, "validate", &mut errors);
    if item::is_doubled(&input.attrs, &["llm_output"]) {
        let message = "`#[llm_output]` goes through the fields itself; drop `#[validate]`, and \
                       give its `state` to `#[llm_output]`";
        errors.push(Error::new(attribute_span(&input.ident), message));
        return quote!(#input #errors);
    }
    serde_keys::check(&mut input, &mut errors);
    let krate = crate_path::resolve(&args.krate);
    let definition = definition::expand(&input, &krate, value(&args.state), &mut errors);
    if definition::derives(&input.attrs).any(|name| name == "JsonSchema") {
        input.attrs.push(definition::mark(&input, &krate));
    } else {
        let message = "`#[validate]` goes above `#[derive(JsonSchema)]`, because it marks the \
                       schema; move it up, or use `#[llm_output]`, which derives everything";
        errors.push(Error::new(attribute_span(&input.ident), message));
    }
    quote!(#input #definition #errors)
}
