//! `#[llm_output]`: the derives that an answer's type needs, and the dive into its fields.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{Attribute, DeriveInput, Item, Path, parse_quote};

use crate::diagnostics::Errors;
use crate::keyed::value;
use crate::validate::args::DefinitionArgs;
use crate::validate::definition;
use crate::{configured, crate_path, item};

/// Expands `#[llm_output(arguments)] item`.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let parsed = match item::parse(item) {
        Ok(parsed) => parsed,
        Err(answer) => return answer,
    };
    let mut errors = Errors::default();
    let args = DefinitionArgs::parse(arguments.clone(), "llm_output", &mut errors);
    let krate = crate_path::resolve(value(&args.krate));
    if let Some(branches) = configured::branches(&parsed, &krate, "llm_output", &arguments) {
        return branches;
    }
    let mut input = match parsed {
        Item::Struct(item) => DeriveInput::from(item),
        Item::Enum(item) => DeriveInput::from(item),
        other => {
            let wanted = "`#[llm_output]` goes on the struct or enum that a model answers with";
            errors.push(item::misplaced(wanted, &other));
            let errors = errors.into_tokens();
            return quote!(#other #errors);
        }
    };
    let definition = definition::expand(&input, &krate, value(&args.state), &mut errors);
    // A derive comes before the attributes that help it, its own derives included.
    let derive = missing_derives(&input.attrs, &krate);
    input.attrs.splice(0..0, derive);
    input.attrs.extend(crates(&krate));
    input.attrs.push(definition::mark(&input, &krate));
    let errors = errors.into_tokens();
    quote!(#input #definition #errors)
}

/// The derives that an answer's type needs, and the crates they are of.
const NEEDED: [(&str, &str); 3] =
    [("serde", "Serialize"), ("serde", "Deserialize"), ("schemars", "JsonSchema")];

/// The derives that an answer's type needs, without those that the user wrote.
fn missing_derives(attributes: &[Attribute], krate: &Path) -> Option<Attribute> {
    let private = quote!(#krate::__private);
    let own: Vec<_> = definition::derives(attributes).collect();
    let missing = NEEDED.iter().filter(|(_, name)| !own.iter().any(|own| own == name));
    let missing: Vec<_> = missing
        .map(|(krate, name)| {
            let [krate, name] = [krate, name].map(|name| Ident::new(name, Span::call_site()));
            quote!(#private::#krate::#name)
        })
        .collect();
    (!missing.is_empty()).then(|| parse_quote!(#[derive(#(#missing),*)]))
}

/// Tells the derives to look for their crates behind llmnode.
fn crates(krate: &Path) -> [Attribute; 2] {
    let path = |name: &str| format!("{}::__private::{name}", krate.to_token_stream()).replace(' ', "");
    let (serde, schemars) = (path("serde"), path("schemars"));
    [parse_quote!(#[serde(crate = #serde)]), parse_quote!(#[schemars(crate = #schemars)])]
}
