//! The type that a field has if its own cannot be a part of an output.
//!
//! A call sends its output between threads. Of a type that cannot be sent, the
//! compiler would say so for each node, beside the one error that it is no part. So
//! such a field has another type then, which can be sent and is used in the same way.
//!
//! The question stands in the type of the field, so it may not lead to the definition
//! again: it is asked of trait objects, and of an `Rc` of plain values.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::{
    GenericArgument, PathArguments, Type, TypeParamBound, TypePath, TypeTraitObject, parse_quote,
};

use crate::validate::fields::is_plain;

/// The field's type: its own, if all that would be replaced is a part of an output.
/// `private`: a path. `None`: nothing would be replaced.
pub(super) fn sent(ty: &Type, private: &TokenStream) -> Option<Type> {
    let mut instead = ty.clone();
    let mut replaced = Replaced {
        private,
        kept_if: vec![],
    };
    replaced.within(&mut instead);
    let kept_if = replaced.kept_if;
    if kept_if.is_empty() {
        return None;
    }
    let all = quote! {
        #private::All<{
            #[allow(unused_imports)]
            use #private::probes::*;
            #(#kept_if)&&*
        }>
    };
    Some(parse_quote!(<#all as #private::Sent<#ty, #instead>>::Type))
}

struct Replaced<'a> {
    private: &'a TokenStream,
    kept_if: Vec<TokenStream>,
}

impl Replaced<'_> {
    fn within(&mut self, ty: &mut Type) {
        match ty {
            Type::Group(group) => self.within(&mut group.elem),
            Type::Paren(paren) => self.within(&mut paren.elem),
            Type::Array(array) => self.within(&mut array.elem),
            Type::Tuple(tuple) => tuple.elems.iter_mut().for_each(|ty| self.within(ty)),
            Type::TraitObject(object) => self.object(object),
            Type::Path(path) => match rc_of_plain(path) {
                Some(arc) => {
                    let private = self.private;
                    let is_read = quote! {
                        (!#private::StdProbe::<#path>::__IS_STD || #private::READS_SHARED)
                    };
                    self.kept_if.push(is_read);
                    *ty = arc;
                }
                None => self.arguments(path),
            },
            _ => {}
        }
    }

    fn arguments(&mut self, path: &mut TypePath) {
        let Some(PathArguments::AngleBracketed(arguments)) = path
            .path
            .segments
            .last_mut()
            .map(|last| &mut last.arguments)
        else {
            return;
        };
        for argument in &mut arguments.args {
            if let GenericArgument::Type(ty) = argument {
                self.within(ty);
            }
        }
    }

    /// Adds the bounds that are missing.
    fn object(&mut self, object: &mut TypeTraitObject) {
        let written = object.clone();
        let is_simple = object.bounds.iter().all(is_simple);
        let mut any = false;
        for name in ["Send", "Sync"] {
            if is_simple && !object.bounds.iter().any(|bound| is_named(bound, name)) {
                let name = Ident::new(name, Span::mixed_site());
                object.bounds.push(parse_quote!(::core::marker::#name));
                any = true;
            }
        }
        if any {
            let private = self.private;
            self.kept_if
                .push(quote!(#private::PartProbe::<#written>::__IS_PART));
        }
    }
}

/// The same with an `Arc`.
fn rc_of_plain(path: &TypePath) -> Option<Type> {
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    let is_of_plain = arguments
        .args
        .iter()
        .all(|argument| matches!(argument, GenericArgument::Type(ty) if is_plain(ty)));
    (last.ident == "Rc" && is_of_plain).then(|| parse_quote!(::std::sync::Arc #arguments))
}

/// A trait without arguments names no definition.
fn is_simple(bound: &TypeParamBound) -> bool {
    match bound {
        TypeParamBound::Trait(bound) => bound
            .path
            .segments
            .iter()
            .all(|segment| segment.arguments.is_empty()),
        TypeParamBound::Lifetime(_) => true,
        _ => false,
    }
}

fn is_named(bound: &TypeParamBound, name: &str) -> bool {
    match bound {
        TypeParamBound::Trait(bound) => bound
            .path
            .segments
            .last()
            .is_some_and(|last| last.ident == name),
        _ => false,
    }
}
