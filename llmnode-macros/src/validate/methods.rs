//! `#[validate]` on an impl block: each method becomes a validator.
//!
//! The block stays as it is, and gets three things beside it: a marker, of which a
//! type can have one (two blocks are an error of the compiler), the impl with its
//! validators, and for a block of some arguments alone (`impl Page<Book>`) a check
//! that the definition sees it.
//!
//! `checks` first goes through the fields and then adds the type's own validators,
//! so that a value's parts are known to be valid when it is judged as a whole.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, Generics, ImplItemFn, ItemImpl, Path, ReturnType, Type, parse_quote};

use super::args::BlockArgs;
use super::signature::{Parameter, State, Validator, is_future};
use super::texts;
use crate::crate_path;
use crate::diagnostics::Errors;
use crate::generics::{
    bare, end_spans, fresh, fresh_lifetime, last_name, respanned, type_arguments,
    with_named_lifetimes,
};

/// Methods that are no validators are all reported; the rest of the block is left
/// as it is.
pub(crate) fn expand(arguments: TokenStream, block: &ItemImpl) -> TokenStream {
    let mut errors = Errors::default();
    let args = BlockArgs::parse(arguments, &mut errors);
    if let Some((path, _)) = &block.trait_ {
        let message = "`#[validate]` goes on an inherent impl block, `impl T { … }`; this one \
                       implements a trait";
        errors.push(Error::new_spanned(path, message));
        return quote!(#block #errors);
    }
    let mended = texts::mend(block, &args, &mut errors);
    let block = &mended;
    let mut validators = vec![];
    for method in &block.items {
        if let syn::ImplItem::Fn(method) = method {
            match Validator::read(method, block) {
                Ok(validator) => validators.push(validator),
                Err(error) => errors.push(error),
            }
        }
    }
    let state = common_state(&validators, &mut errors);
    let stateless =
        errors.is_empty() && validators.iter().all(|validator| validator.state.is_none());
    if let Some(at) = args.state.filter(|_| stateless) {
        let message = "no validator of the block takes a state; write `#[validate]`, or add the \
                       parameter `state: &State`";
        errors.push(Error::new(at, message));
    }
    // A faulty block gets its impls, so that uses of the type compile.
    if !errors.is_empty() {
        validators.clear();
    }
    let krate = crate_path::resolve(&args.krate);
    let impls = impls(block, &krate, &validators, state);
    quote!(#block #impls #errors)
}

/// Generic validators only add bounds.
/// One state for a block, since the block is one impl. Types are compared as they
/// are written.
fn common_state<'a>(validators: &[Validator<'a>], errors: &mut Errors) -> Option<&'a Type> {
    let mut named: Option<&'a Type> = None;
    for validator in validators {
        let Some(State::Named(ty)) = validator.state else {
            continue;
        };
        match named {
            None => named = Some(ty),
            Some(first)
                if first.to_token_stream().to_string() != ty.to_token_stream().to_string() =>
            {
                let message = format!(
                    "another validator of this block takes the state `{}`; all validators of a \
                     block take the same state",
                    first.to_token_stream()
                );
                errors.push(Error::new_spanned(ty, message));
            }
            Some(_) => {}
        }
    }
    named
}

/// `here` are spans without a place of the user's.
fn impls(
    block: &ItemImpl,
    krate: &Path,
    validators: &[Validator<'_>],
    state: Option<&Type>,
) -> TokenStream {
    let here = Span::mixed_site();
    let private = crate_path::private();
    let ty = &block.self_ty;
    let marker = marker_generics(block, &private);
    let names_state = state.is_some();
    let (state, generics) = state_generics(block, &private, validators, state);
    let checks = validators
        .iter()
        .map(|validator| check(validator, names_state));
    let inside = if generics.type_params().next().is_some() {
        generated!(<Self as #private::ValidateFields<#state>>::fields(self, __to);)
    } else {
        // A bound here would be a second error beside the marker's if the
        // definition lacks `#[validate]`.
        let at = here.located_at(ty.span());
        quote_spanned! {at=>
            use #private::probes::*;
            (&&#private::Traverse(self)).__walk::<#state>(__to);
        }
    };
    let for_all_arguments = for_all_arguments(block, &private);
    let lifetime = fresh_lifetime("'checked", &block.generics);
    let (marker_generics, _, marker_where) = marker.split_for_impl();
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let impls = generated! {
        #[automatically_derived]
        impl #marker_generics #private::AllValidatorsInOneBlock for #ty #marker_where {
            type Block = __Block;
        }
        pub enum __Block {}
        #[automatically_derived]
        impl #impl_generics #private::AllValidatorsInOneBlock<#state, __Block, ()> for #ty #where_clause {
            type Block = ();
            fn checks<#lifetime>(&#lifetime self, __to: &mut #private::Checks<#lifetime, #state>) {
                #inside
                #(#checks)*
            }
        }
    };
    crate_path::scope(krate, quote!(#impls #for_all_arguments))
}

/// A block of `Page<Book>` alone would not run where `Page<Book>` fills a
/// parameter: the definition looks for one of all `Page<T>`.
fn for_all_arguments(block: &ItemImpl, private: &Ident) -> Option<TokenStream> {
    let ty = &*block.self_ty;
    let Type::Path(path) = bare(ty) else {
        return None;
    };
    if type_arguments(&path.path).is_empty() || !block.generics.params.is_empty() {
        return None;
    }
    let message = format!(
        "validators are for all arguments of a type: write the block for a parameter, as `impl<T> \
         {0}<T>`, or give this one a struct of its own",
        last_name(ty).map(Ident::to_string).unwrap_or_default()
    );
    let (at, end) = end_spans(ty);
    let seen = quote_spanned!(at=> <#ty as #private::ValidatedFields>::SEES_BLOCK);
    Some(quote_spanned!(end=> const _: () = ::core::assert!(#seen, #message);))
}

/// Without `#[validate]` on its definition, the type has this one error, and no validators.
fn marker_generics(block: &ItemImpl, private: &Ident) -> Generics {
    let mut generics = block.generics.clone();
    let ty = &block.self_ty;
    let at = Span::mixed_site().located_at(end_spans(ty).0);
    let private = respanned(private, at);
    let defined = quote_spanned!(at=> #ty: #private::ValidatedFields);
    generics
        .make_where_clause()
        .predicates
        .push(parse_quote!(#defined));
    generics
}

/// The state by its name, or a parameter with the bounds of all validators that are
/// generic.
fn state_generics(
    block: &ItemImpl,
    private: &Ident,
    validators: &[Validator<'_>],
    state: Option<&Type>,
) -> (TokenStream, Generics) {
    let mut generics = block.generics.clone();
    let state = match state {
        Some(state) => with_named_lifetimes(state, &mut generics).into_token_stream(),
        None => {
            let any_state = fresh("AnyRunState", &generics);
            let bounded = validators
                .iter()
                .filter(|validator| !validator.takes_any_state());
            let bounds: Vec<_> = bounded.filter_map(Validator::bounds).flatten().collect();
            // The type parameter of a method is `Sized`, so its replacement is, too.
            let unsized_state = bounds.is_empty().then(|| quote!(?::core::marker::Sized+));
            generics
                .params
                .push(parse_quote!(#any_state: #unsized_state ::core::marker::Sync #(+ #bounds)*));
            any_state.into_token_stream()
        }
    };
    if generics.type_params().next().is_some() {
        let needed = parse_quote!(Self: #private::ValidateFields<#state> + ::core::marker::Sync);
        generics.make_where_clause().predicates.push(needed);
    }
    (state, generics)
}

/// One validator: its name, and a closure that calls it with what it takes.
fn check(validator: &Validator<'_>, names_state: bool) -> TokenStream {
    let here = Span::mixed_site();
    let Validator {
        method, parameters, ..
    } = validator;
    let ident = &method.sig.ident;
    let name = syn::ext::IdentExt::unraw(ident).to_string();
    let state = if parameters.contains(&Parameter::State) {
        generated!(__state)
    } else {
        generated!(_)
    };
    let attempt = if parameters.contains(&Parameter::Attempt) {
        generated!(__attempt)
    } else {
        generated!(_)
    };
    // The run's state may be unsized, and a reference to it is not.
    let lends_reference = validator.takes_any_state() && !names_state;
    let arguments = parameters.iter().map(|parameter| match parameter {
        Parameter::State if lends_reference => generated!(&__state),
        Parameter::State => generated!(__state),
        Parameter::Attempt => generated!(__attempt),
    });
    // The compiler reports a future that is not `Send` at the method's name.
    let at = here.located_at(ident.span());
    let kind = Ident::new(if is_async(method) { "future" } else { "sync" }, at);
    let call = call(method, generated!((self, #(#arguments),*)));
    // The future would borrow the reference that the closure made; a block of its
    // own holds it.
    let owns_reference = lends_reference && is_async(method);
    let call = if owns_reference {
        generated!(async move { #call.await })
    } else {
        call
    };
    generated! {
        __to.#kind(#name, move |#state, #attempt| #call);
    }
}

/// By `async`, or by a future that is returned.
fn is_async(method: &ImplItemFn) -> bool {
    let returns_future = matches!(&method.sig.output, ReturnType::Type(_, ty) if is_future(ty));
    method.sig.asyncness.is_some() || returns_future
}

/// The compiler reports a wrong return type at its span.
/// Spanned by the return type.
fn call(method: &ImplItemFn, arguments: TokenStream) -> TokenStream {
    let ident = &method.sig.ident;
    let at = match &method.sig.output {
        ReturnType::Type(_, ty) => end_spans(ty),
        ReturnType::Default => (ident.span(), ident.span()),
    };
    let owner = Ident::new("Self", at.0);
    let mut call = quote_spanned!(at.1=> #owner::#ident);
    call.extend(arguments.into_iter().map(|mut arguments| {
        arguments.set_span(at.1);
        arguments
    }));
    call
}
