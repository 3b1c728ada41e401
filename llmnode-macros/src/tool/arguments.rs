//! Arguments are read by a second struct beside the tool's own, with a type
//! parameter for each argument.
//!
//! The derives of serde and schemars then require their traits as bounds, and not
//! in five places of a body. The one place that names the types requires
//! `Argument`, so a type without a derive is one error in our own words.
//!
//! ```text
//! struct __Arguments<A0, A1> { query: A0, limit: A1 }      // derives Deserialize and JsonSchema
//! fn __read<A0: Argument, A1: Argument>() -> TypeReader<__Arguments<A0, A1>>
//! __read::<String, u32>()                                   // underlined at the first type
//! ```
//!
//! A field with attributes of serde or schemars keeps its type: `deserialize_with`
//! names a function for exactly this type, which a parameter is not.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Attribute, DeriveInput, Path, Type};

use crate::crate_path;
use crate::diagnostics::Errors;
use crate::generics::{end_spans, respanned};
use crate::validate::definition;

/// One argument, with the attributes that say how it is read and described.
pub(crate) struct Argument<'a> {
    pub(crate) name: &'a Ident,
    pub(crate) ty: &'a Type,
    pub(crate) attributes: Vec<&'a Attribute>,
}

/// All of a tool. `input` is the struct whose fields they are, for the validators.
pub(crate) struct Arguments<'a> {
    pub(crate) input: DeriveInput,
    pub(crate) list: Vec<Argument<'a>>,
    /// The compiler reports an output that a model cannot read at these spans.
    pub(crate) output: (Span, Span),
    pub(crate) krate: &'a Path,
}

impl Arguments<'_> {
    /// `state`: that of the tool, with which the validators of its arguments run.
    /// The arguments are validated like an answer, with the tool's state.
    pub(crate) fn validation(&self, state: Option<&Type>) -> TokenStream {
        // All faults were reported, or the derives report them.
        definition::expand(&self.input, self.krate, state, &mut Errors::default())
    }

    /// Expects `private` in scope. `header`: the tokens before the type. `items`:
    /// further ones of the impl.
    pub(crate) fn tool(
        &self,
        header: &impl ToTokens,
        state: &impl ToTokens,
        items: TokenStream,
        private: &Ident,
    ) -> TokenStream {
        let here = Span::mixed_site();
        let ident = &self.input.ident;
        let read = self.read(private);
        let names: Vec<_> = self.list.iter().map(|argument| argument.name).collect();
        // The same order and the same choice as in `read`.
        let types = self
            .list
            .iter()
            .filter(|argument| can_be_generic(argument))
            .map(|argument| argument.ty);
        let first = self.list.iter().find(|argument| can_be_generic(argument));
        // The compiler reports a type that is no `Argument` at the first type.
        let read_as = Ident::new(
            "__read",
            first.map_or(here, |argument| end_spans(argument.ty).0),
        );
        // The compiler reports validators of another state at the state.
        let at = end_spans(state).0;
        let walk = quote_spanned!(at=> (&&&#private::Traverse(__value)).__walk::<#state>(__to));
        let (from, to) = self.output;
        let output = Ident::new("__output", to);
        let output = quote_spanned!(from=> &*#output);
        generated! {
            #[automatically_derived]
            impl #header #private::Tool<#state> for #ident {
                #items
                fn arguments() -> #private::OutputSpec<Self, #state> {
                    use #private::probes::*;
                    #read
                    #private::OutputSpec::arguments(
                        #read_as::<#(#types),*>(),
                        |__Arguments { #(#names),* }| Self { #(#names),* },
                        |__to| (&&&&#private::CoverageProbe::<#ident>::new()).__coverage(__to),
                        |__value, __to| #walk,
                    )
                }
                fn reply(__output: &<Self as #private::Node>::Output) -> #private::Replied {
                    #private::reply(#output)
                }
            }
        }
    }

    /// The struct that is read, and the function that makes its reader. It has the
    /// tool's name in its schema.
    fn read(&self, private: &Ident) -> TokenStream {
        let here = Span::mixed_site();
        let serde = crate_path::private_path(self.krate, "serde");
        let schemars = crate_path::private_path(self.krate, "schemars");
        let ident = &self.input.ident;
        let name = ident.to_string();
        let docs = self
            .input
            .attrs
            .iter()
            .filter(|attribute| attribute.path().is_ident("doc"));
        let mark = definition::mark(&self.input, self.krate);
        let mut parameters = vec![];
        let mut fields = vec![];
        for (index, argument) in self.list.iter().enumerate() {
            let Argument {
                name,
                ty,
                attributes,
            } = argument;
            let ty = if can_be_generic(argument) {
                let parameter = format_ident!("A{index}", span = here);
                parameters.push(parameter.clone());
                parameter.into_token_stream()
            } else {
                ty.into_token_stream()
            };
            let name = without_lints(name);
            fields.push(quote!(#(#attributes)* #name: #ty));
        }
        generated! {
            // schemars' code calls methods of these traits.
            #[allow(unused_imports)]
            use ::core::convert::{From as _, Into as _};
            #(#docs)*
            #[derive(#private::serde::Deserialize, #private::schemars::JsonSchema)]
            #[serde(crate = #serde)]
            #[schemars(crate = #schemars, rename = #name)]
            #mark
            struct __Arguments<#(#parameters),*> { #(#fields),* }
            fn __read<#(#parameters: #private::Argument),*>()
            -> #private::TypeReader<__Arguments<#(#parameters),*>> {
                #private::TypeReader::new()
            }
        }
    }
}

/// For a field: the compiler has its say about the name at the parameter, where its lints are allowed.
pub(super) fn without_lints(name: &Ident) -> Ident {
    respanned(name, Span::mixed_site().located_at(name.span()))
}

/// Attributes may name functions for exactly this type.
fn can_be_generic(argument: &Argument<'_>) -> bool {
    argument
        .attributes
        .iter()
        .all(|attribute| attribute.path().is_ident("doc"))
}
