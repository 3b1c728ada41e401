//! The types of fields that may lack the derives of an output.
//!
//! The derives report such a type five times, and name no remedy. So the derived
//! impls get a bound that keeps them silent, and a constant has the one error. How
//! and why is in the runtime (`output/parts.rs`). A bound may not name parameters in
//! a constant, so a generic definition is asked with arguments filled in, about the
//! fields that have none of its parameters.

mod ask;
pub(super) mod collect;

use std::collections::HashSet;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Field, GenericParam, Generics, LitStr, Path, Type, parse_quote};

use crate::crate_path;
use crate::generics::mentions;
use crate::validate::definition;
use crate::validate::serde_names::SerdeAttributes;
use collect::Part;

/// Adds the attributes of the derives, and returns the impl that they need.
pub(crate) fn check(input: &mut DeriveInput, krate: &Path) -> TokenStream {
    let container = SerdeAttributes::read(&input.attrs);
    if container.custom || container.bound {
        return TokenStream::new();
    }
    // One list of arguments is enough: no field that is asked about has a parameter.
    let Some(arguments) = definition::alike(&input.generics).into_iter().next() else {
        return TokenStream::new();
    };
    let ident = input.ident.clone();
    let generics = input.generics.clone();
    let owner = Owner {
        ident: &ident,
        generics: &generics,
        ty: quote!(#ident #arguments),
        private: quote!(#krate::__private),
    };
    let mut checked = vec![];
    let mut seen = HashSet::new();
    for field in fields(&mut input.data) {
        let parts = owner.parts(field);
        let Some(at) = parts.first().map(|part| part.ty().span()) else {
            continue;
        };
        let ty = field.ty.clone();
        let described = LitStr::new(&owner.described(&ty).to_string(), at);
        field
            .attrs
            .push(parse_quote!(#[schemars(with = #described)]));
        if !seen.insert(ty.to_token_stream().to_string()) {
            continue;
        }
        let bound = LitStr::new(&owner.bound(checked.len(), &ty).to_string(), at);
        // Not in the pages of rustdoc, which checks no bodies.
        field.attrs.push(parse_quote! {
            #[cfg_attr(not(doc), serde(bound(serialize = #bound, deserialize = #bound)))]
        });
        checked.push(Checked { ty, at, parts });
    }
    if checked.is_empty() {
        return TokenStream::new();
    }
    crate_path::scope(krate, owner.parts_impl(&checked))
}

/// A field's type that is checked.
struct Checked {
    ty: Type,
    at: Span,
    /// What in it may be wrong.
    parts: Vec<Part>,
}

/// Those that are read and described as their types say.
pub(super) fn fields(data: &mut Data) -> Vec<&mut Field> {
    match data {
        Data::Struct(data) => data.fields.iter_mut().collect(),
        Data::Enum(data) => data
            .variants
            .iter_mut()
            .filter(|variant| {
                let attributes = SerdeAttributes::read(&variant.attrs);
                !attributes.skip && !attributes.custom
            })
            .flat_map(|variant| &mut variant.fields)
            .collect(),
        Data::Union(_) => vec![],
    }
}

/// The definition.
struct Owner<'a> {
    ident: &'a Ident,
    generics: &'a Generics,
    /// With arguments filled in.
    ty: TokenStream,
    private: TokenStream,
}

impl Owner<'_> {
    /// What in the field's type is not known by its tokens.
    fn parts(&self, field: &Field) -> Vec<Part> {
        let attributes = SerdeAttributes::read(&field.attrs);
        let is_special = attributes.custom
            || attributes.skip
            || attributes.hidden
            || attributes.flatten
            || attributes.bound;
        if is_special || !self.is_written(&field.ty) {
            return vec![];
        }
        collect::parts(&field.ty, self.ident).unwrap_or_default()
    }

    /// Whether the type is the same as a text: `$crate` of a macro is not, `Self` is another type there, and a parameter is
    /// another one for each that uses the definition.
    fn is_written(&self, ty: &Type) -> bool {
        !mentions(ty.to_token_stream(), &|ident| {
            let is_parameter = self
                .generics
                .params
                .iter()
                .any(|parameter| match parameter {
                    GenericParam::Type(parameter) => parameter.ident == *ident,
                    GenericParam::Const(parameter) => parameter.ident == *ident,
                    GenericParam::Lifetime(parameter) => parameter.lifetime.ident == *ident,
                });
            is_parameter || ident == "Self" || ident.to_string().starts_with('$')
        })
    }

    fn all(&self) -> TokenStream {
        let Self { ty, private, .. } = self;
        quote!(#private::All<{ <#ty as #private::Parts>::ALL }>)
    }

    fn described(&self, ty: &Type) -> TokenStream {
        let (private, all) = (&self.private, self.all());
        quote!(<#all as #private::Described<#ty>>::Type)
    }

    fn bound(&self, index: usize, ty: &Type) -> TokenStream {
        let Self {
            ty: owner, private, ..
        } = self;
        let all = self.all();
        let index = Literal::usize_unsuffixed(index);
        quote! {
            for<'__any> <#all as #private::DerivedBound<#ty, #index>>::Type:
                #private::Written<'__any, { <#owner as #private::Parts>::CHECKED }>
        }
    }

    /// The compiler reports what is wrong where it is written.
    fn parts_impl(&self, checked: &[Checked]) -> TokenStream {
        let private = crate_path::private();
        let ident = self.ident;
        let (impl_generics, ty_generics, where_clause) = self.generics.split_for_impl();
        let mut seen = HashSet::new();
        let parts: Vec<_> = checked
            .iter()
            .flat_map(|one| &one.parts)
            .map(|part| ask::Question::about(part, &private))
            .filter(|question| seen.insert(question.fails.to_string()))
            .collect();
        let answers = parts.iter().filter_map(|question| question.holds.as_ref());
        let fails = parts.iter().map(|question| &question.fails);
        let types = checked.iter().map(|one| &one.ty);
        let whole = checked.iter().map(|Checked { ty, at, .. }| {
            let message = ask::WHOLE;
            quote_spanned!(*at=> ::core::assert!(#private::PartProbe::<#ty>::__IS_PART, #message);)
        });
        generated! {
            #[automatically_derived]
            impl #impl_generics #private::Parts for #ident #ty_generics #where_clause {
                const ALL: #private::bool = {
                    use #private::probes::*;
                    #(#private::PartProbe::<#types>::__IS_PART)&&* #(&& #answers)*
                };
                const CHECKED: #private::bool = {
                    use #private::probes::*;
                    #(#fails)*
                    #(#whole)*
                    true
                };
            }
        }
    }
}
