//! The traversal of a definition's fields: `ValidatedFields` and `ValidateFields`.
//!
//! Two impls. `ValidatedFields` answers *which types may have validators* below
//! this one: a call walks them once, before the first request, and finds a type
//! whose block would never run (`coverage`). `ValidateFields<State>` walks *a
//! value*: from each field to what is in it, with the step that leads there in the
//! JSON, so that a complaint names the place in the answer.
//!
//! For a concrete type a probe asks the compiler whether it has validators; a
//! generic one gets bounds. Fields of plain types (numbers, texts and lists of
//! them) are left out by their tokens, which keeps most expansions empty.
//!
//! Expansions of definitions meet those of `#[validate]` blocks only in the
//! runtime. So that a block without its definition is noticed, the definition
//! leaves a *mark* in the schema (`x-llmnode-validated`), under a name of its own.

mod as_argument;

pub(crate) use as_argument::alike;

use std::collections::HashSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{
    Attribute, DeriveInput, Error, Generics, Index, Lifetime, Path, Token, Type, WherePredicate,
    parse_quote,
};

use super::fields::{DefinitionModel, FieldModel, JsonStep, Shape, is_plain, read};
use super::tagged;
use crate::crate_path;
use crate::diagnostics::{Errors, attribute_span};
use crate::generics::{bare, fresh_lifetime, mentions, mentions_parameter, with_named_lifetimes};

/// The path: faults of tags, the model of the fields, the impls.
pub(crate) fn expand(
    input: &DeriveInput,
    krate: &Path,
    state: Option<&Type>,
    errors: &mut Errors,
) -> TokenStream {
    tagged::check(input, errors);
    let model = read(input);
    let state = match state {
        Some(Type::Reference(reference)) => {
            let message = "`state` names the type itself; write it without `&`";
            errors.push(Error::new(reference.and_token.span(), message));
            Some(&*reference.elem)
        }
        state => state,
    };
    let private = crate_path::private();
    let validated_fields_impl = validated_fields_impl(input, &model, &private);
    let lifetime = fresh_lifetime("'checked", &input.generics);
    let fields = FieldsImpl {
        input,
        private: &private,
        lifetime,
        names_state: state.is_some(),
    };
    let fields = fields.emit(&model, state);
    let as_argument = as_argument::emit(input, &private, state);
    crate_path::scope(krate, quote!(#validated_fields_impl #fields #as_argument))
}

/// The mark is the type's full name, asked for by a probe: if the type has a block.
/// A generic type's name has its arguments and is only known when it is used.
pub(crate) fn mark(input: &DeriveInput, krate: &Path) -> Attribute {
    let ident = &input.ident;
    let mark = mark_of(input);
    let marked = if input.generics.type_params().next().is_some() {
        mark
    } else {
        let (_, ty_generics, _) = input.generics.split_for_impl();
        generated! { {
            use #krate::__private::probes::*;
            (&&#krate::__private::CoverageProbe::<#ident #ty_generics>::new()).__mark(#mark)
        }}
    };
    // In parentheses, because schemars reads a block as a JSON object, and a comma as the end.
    parse_quote!(#[schemars(extend("x-llmnode-validated" = (#marked)))])
}

/// `module_path!` is where the macro stands, so two types of one name are told
/// apart.
fn mark_of(input: &DeriveInput) -> TokenStream {
    let ident = &input.ident;
    if input.generics.type_params().next().is_some() {
        let (_, ty_generics, _) = input.generics.split_for_impl();
        return generated!(::core::any::type_name::<#ident #ty_generics>());
    }
    let name = format!("::{ident}");
    generated!(::core::concat!(::core::module_path!(), #name))
}

/// The last names of all derives that are written.
pub(crate) fn derives(attributes: &[Attribute]) -> impl Iterator<Item = Ident> {
    let derives = attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("derive"));
    let parse = Punctuated::<Path, Token![,]>::parse_terminated;
    let paths = derives
        .filter_map(move |attribute| attribute.parse_args_with(parse).ok())
        .flatten();
    paths.filter_map(|path| path.segments.last().map(|last| last.ident.clone()))
}

/// Each type once, however many fields have it. `enter` tells whether the type was
/// walked already: types may contain themselves.
fn validated_fields_impl(
    input: &DeriveInput,
    model: &DefinitionModel<'_>,
    private: &Ident,
) -> TokenStream {
    let ident = &input.ident;
    let mark = mark_of(input);
    let mut generics = input.generics.clone();
    let mut types = vec![];
    let mut seen = HashSet::new();
    let fields = model.shapes.iter().flat_map(|shape| {
        shape
            .fields
            .iter()
            .map(|field| (shape.field_name(field), field.ty))
    });
    for (field, ty) in fields.flat_map(|(field, ty)| {
        element_types(ty)
            .into_iter()
            .map(move |ty| (field.clone(), ty))
    }) {
        if !seen.insert(ty.to_token_stream().to_string()) {
            continue;
        }
        if is_generic(ty, &input.generics) {
            let bound = quote!(#private::ValidatedFields);
            generics
                .make_where_clause()
                .predicates
                .extend(bounds(ty, input, &bound));
            types.push(generated!(__to.validated::<#ty>();));
        } else {
            types.push(
                generated!((&&&&#private::CoverageProbe::<#ty>::of(#field)).__coverage(__to);),
            );
        }
    }
    let body = if types.is_empty() {
        generated!(__to.enter(#mark);)
    } else {
        generated! {
            use #private::probes::*;
            if __to.enter(#mark) { #(#types)* }
        }
    };
    let sees_block = as_argument::sees_block(input, private);
    let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
    generated! {
        #[automatically_derived]
        impl #impl_generics #private::ValidatedFields for #ident #ty_generics #where_clause {
            #sees_block
            fn coverage(__to: &mut #private::Coverage) { #body }
        }
    }
}

/// A tuple counts as its elements.
fn element_types(ty: &Type) -> Vec<&Type> {
    match bare(ty) {
        Type::Tuple(tuple) => tuple
            .elems
            .iter()
            .filter(|ty| !is_plain(ty))
            .flat_map(element_types)
            .collect(),
        ty => vec![ty],
    }
}

/// A trait object needs no bound, and `<dyn A + as B>` is not a path.
fn is_generic(ty: &Type, generics: &Generics) -> bool {
    !matches!(ty, Type::TraitObject(_)) && mentions_parameter(ty, generics)
}

/// That a field's type has the traits. Of a type that contains itself its
/// parameters have them, as the proof would not end.
fn bounds(ty: &Type, input: &DeriveInput, bound: &TokenStream) -> Vec<WherePredicate> {
    if !mentions_name(ty, &input.ident) {
        return vec![parse_quote!(#ty: #bound)];
    }
    let mut bounds = vec![];
    for parameter in input.generics.type_params() {
        let name = &parameter.ident;
        if mentions_name(ty, name) {
            bounds.push(parse_quote!(#name: #bound));
        }
    }
    // What a block of validators needs.
    bounds.push(parse_quote!(Self: ::core::marker::Sync));
    bounds
}

/// `Self` mentions the type and its parameters.
fn mentions_name(ty: &Type, name: &Ident) -> bool {
    mentions(ty.to_token_stream(), &|ident| {
        ident == name || ident == "Self"
    })
}

/// What the functions below have in common. `lifetime` is that of the value that is
/// checked.
struct FieldsImpl<'a> {
    input: &'a DeriveInput,
    private: &'a Ident,
    lifetime: Lifetime,
    names_state: bool,
}

impl FieldsImpl<'_> {
    /// The whole impl. Without fields to walk, the parameter has no name.
    fn emit(&self, model: &DefinitionModel<'_>, state: Option<&Type>) -> TokenStream {
        let Self {
            input,
            private,
            lifetime,
            ..
        } = self;
        let ident = &input.ident;
        // Where nothing is gone through, a block of another state is no mistake of the definition.
        let state = state.filter(|_| model.shapes.iter().any(|shape| !shape.fields.is_empty()));
        let (state, generics) = self.state_generics(model, state);
        let body = self.body(model, &state);
        let to = if body.is_empty() {
            generated!(_)
        } else {
            generated!(__to)
        };
        let (impl_generics, _, where_clause) = generics.split_for_impl();
        let (_, ty_generics, _) = input.generics.split_for_impl();
        generated! {
            #[automatically_derived]
            impl #impl_generics #private::ValidateFields<#state> for #ident #ty_generics #where_clause {
                fn fields<#lifetime>(
                    &#lifetime self,
                    #to: &mut #private::Checks<#lifetime, #state>
                ) {
                    #body
                }
            }
        }
    }

    /// The state, and the bounds of generic fields for it.
    fn state_generics(
        &self,
        model: &DefinitionModel<'_>,
        state: Option<&Type>,
    ) -> (TokenStream, Generics) {
        let private = self.private;
        let mut generics = self.input.generics.clone();
        let state = match state {
            Some(state) => with_named_lifetimes(state, &mut generics).into_token_stream(),
            None => as_argument::any_state(&mut generics),
        };
        for ty in model
            .shapes
            .iter()
            .flat_map(|shape| &shape.fields)
            .flat_map(|field| element_types(field.ty))
        {
            if is_generic(ty, &self.input.generics) {
                let bound = quote!(#private::ValidateAll<#state> + #private::ValidatedFields);
                generics
                    .make_where_clause()
                    .predicates
                    .extend(bounds(ty, self.input, &bound));
            }
        }
        (state, generics)
    }

    /// A `match` on the value, one arm for each variant that has something to walk.
    fn body(&self, model: &DefinitionModel<'_>, state: &TokenStream) -> TokenStream {
        let private = self.private;
        // For the type's own validators, which run after the traversal.
        let pairs = model
            .renamed
            .iter()
            .map(|(rust, json)| generated!((#rust, #json)));
        let names = (!model.renamed.is_empty()).then(|| generated!(__to.names(&[#(#pairs),*]);));
        if model.shapes.iter().all(|shape| shape.fields.is_empty()) {
            return names.unwrap_or_default();
        }
        let shapes = model
            .shapes
            .iter()
            .filter(|shape| !shape.fields.is_empty())
            .map(|shape| self.arm(shape, state));
        // Whether the arms cover the type; a `_` beside them would be a warning.
        let all = model
            .shapes
            .iter()
            .all(|shape| !shape.fields.is_empty() || shape.variant.is_none())
            && !self.has_skipped_variants(model);
        let rest = (!all).then(|| generated!(_ => {}));
        generated! {
            use #private::probes::*;
            match self { #(#shapes)* #rest }
            #names
        }
    }

    /// Variants that serde skips have no shape.
    fn has_skipped_variants(&self, model: &DefinitionModel<'_>) -> bool {
        match &self.input.data {
            syn::Data::Enum(data) => data.variants.len() > model.shapes.len(),
            _ => false,
        }
    }

    /// In JSON, the fields of a variant may stand below a key.
    fn arm(&self, shape: &Shape<'_>, state: &TokenStream) -> TokenStream {
        let variant = shape.variant.map(|variant| generated!(::#variant));
        let bound = shape.fields.iter().map(
            |FieldModel {
                 member, binding, ..
             }| generated!(#member: #binding),
        );
        let dives = shape.fields.iter().map(|field| self.field(field, state));
        let body = match &shape.wrapper_key {
            None => generated!(#(#dives)*),
            Some(name) => generated!(__to.field(#name, |__to| { #(#dives)* });),
        };
        generated!(Self #variant { #(#bound,)* .. } => { #body })
    }

    /// The step from the container to the field, if there is one: a flattened field
    /// has none.
    fn field(&self, field: &FieldModel<'_>, state: &TokenStream) -> TokenStream {
        let binding = &field.binding;
        let inside = self.value(binding, &[], field.ty, state);
        match &field.step {
            JsonStep::Key(name) => generated!(__to.field(#name, |__to| { #inside });),
            JsonStep::Index(index) => {
                let index = Index::from(*index);
                generated!(__to.index(#index, |__to| { #inside });)
            }
            JsonStep::None => inside,
        }
    }

    /// The compiler reports faults at the type.
    fn value(
        &self,
        binding: &Ident,
        elements: &[Index],
        ty: &Type,
        state: &TokenStream,
    ) -> TokenStream {
        let here = Span::mixed_site();
        let private = self.private;
        if let Type::Tuple(tuple) = bare(ty) {
            // A tuple is a list in JSON, whose elements are walked by index.
            let inside = tuple
                .elems
                .iter()
                .enumerate()
                .filter(|(_, ty)| !is_plain(ty))
                .map(|(index, ty)| {
                    let index = Index::from(index);
                    let path: Vec<_> = elements.iter().cloned().chain([index.clone()]).collect();
                    let inside = self.value(binding, &path, ty, state);
                    generated!(__to.index(#index, |__to| { #inside });)
                });
            return generated!(#(#inside)*);
        }
        let lent = (!elements.is_empty()).then(|| generated!(&));
        let reference = generated!(#lent #binding #(.#elements)*);
        let at = here.located_at(ty.span());
        if is_generic(ty, &self.input.generics) {
            return quote_spanned! {at=>
                <#ty as #private::ValidateAll<#state>>::all(#reference, __to);
            };
        }
        if self.names_state {
            return quote_spanned!(at=> (&&&#private::Traverse(#reference)).__walk::<#state>(__to););
        }
        // The compiler asks for a state at the attribute. Methods are found with any hygiene.
        let walk = Ident::new("__walk_without_state", attribute_span(&self.input.ident));
        quote_spanned!(at=> (&&&#private::Traverse(#reference)).#walk::<#state>(__to);)
    }
}
