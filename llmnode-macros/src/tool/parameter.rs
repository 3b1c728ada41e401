//! The parameters of a tool's function, and where their values come from.

use proc_macro2::Ident;
use syn::{
    Attribute, Error, FnArg, ItemFn, Pat, Path, PathArguments, Type, TypeReference, parse_quote,
};

use super::owned::reference;
use crate::diagnostics::Errors;
use crate::generics::{bare, is_named, pretty_print, type_arguments};

pub(super) enum Parameter {
    Argument {
        name: Ident,
        ty: Type,
        attributes: Vec<Attribute>,
        by_reference: bool,
    },
    State(Type),
    Context(Type),
}

impl Parameter {
    pub(super) fn state(&self) -> Option<&Type> {
        match self {
            Parameter::State(state) | Parameter::Context(state) => Some(state),
            Parameter::Argument { .. } => None,
        }
    }
}

pub(super) fn parameters(function: &mut ItemFn, errors: &mut Errors) -> Vec<Parameter> {
    let mut parameters: Vec<Parameter> = vec![];
    for input in &mut function.sig.inputs {
        let FnArg::Typed(typed) = input else { continue };
        let attributes = std::mem::take(&mut typed.attrs);
        let by_value = context_by_value(&mut typed.ty, errors);
        match parameter(&typed.pat, &typed.ty, attributes) {
            Ok(Parameter::State(ty))
                if parameters
                    .iter()
                    .any(|one| matches!(one, Parameter::State(_))) =>
            {
                let message =
                    "a tool takes one state; take the arguments that the model writes by value";
                errors.push(Error::new_spanned(ty, message));
            }
            Ok(_) if by_value => {}
            Ok(parameter) => parameters.push(parameter),
            Err(error) => errors.push(error),
        }
    }
    parameters
}

fn parameter(pattern: &Pat, ty: &Type, attributes: Vec<Attribute>) -> syn::Result<Parameter> {
    let (of, by_reference) = match bare(ty) {
        Type::Reference(TypeReference {
            mutability: Some(mutable),
            ..
        }) => {
            let message = "a tool cannot change the state, since other tools run beside it; put what changes behind a `Mutex`";
            return Err(Error::new_spanned(mutable, message));
        }
        Type::Reference(TypeReference { elem, .. }) => match bare(elem) {
            Type::Path(path) if path.path.is_ident("str") => {
                (parse_quote!(::std::string::String), true)
            }
            Type::Slice(slice) => {
                let of = &slice.elem;
                (parse_quote!(::std::vec::Vec<#of>), true)
            }
            Type::Path(path) if is_named(&path.path, "Cx") => {
                // The compiler reports a missing type argument.
                let state = last_type_argument(&path.path).unwrap_or_else(|| parse_quote!(()));
                return Ok(Parameter::Context(state));
            }
            Type::Path(path) if is_named(&path.path, "String") => {
                return Err(Error::new_spanned(
                    ty,
                    "a tool cannot take a `&String`; write `&str` or `String`",
                ));
            }
            Type::Path(path) if is_named(&path.path, "Vec") => {
                let of = last_type_argument(&path.path)
                    .map_or_else(|| "T".to_owned(), |of| pretty_print(&of));
                let message =
                    format!("a tool cannot take a `&Vec`; write `&[{of}]` or `Vec<{of}>`");
                return Err(Error::new_spanned(ty, message));
            }
            Type::Path(path) if is_named(&path.path, "Run") => {
                let message = "a tool calls nodes through its context, so that they count for the agent; write `cx: &Cx<'_, State>`, \
                               with the state of the run, or `()`";
                return Err(Error::new_spanned(ty, message));
            }
            other => return Ok(Parameter::State(other.clone())),
        },
        Type::ImplTrait(ty) => {
            return Err(Error::new_spanned(
                ty,
                "a model writes values of one type; name the type",
            ));
        }
        ty => (ty.clone(), false),
    };
    if let Some(reference) = reference(&of) {
        let message = "an argument of a tool cannot hold references; write `String` instead of `&str`, and `Vec` instead of a slice";
        return Err(Error::new_spanned(reference, message));
    }
    match pattern {
        Pat::Ident(named) if named.subpat.is_none() => Ok(Parameter::Argument {
            name: named.ident.clone(),
            ty: of,
            attributes,
            by_reference,
        }),
        other => {
            let message = "a model writes an argument by its name; give the parameter a name, and take it apart in the function";
            Err(Error::new_spanned(other, message))
        }
    }
}

/// Makes it a reference, so that nothing else fails because of it.
fn context_by_value(ty: &mut Type, errors: &mut Errors) -> bool {
    let Type::Path(path) = bare(ty) else {
        return false;
    };
    if !is_named(&path.path, "Cx") {
        return false;
    }
    let state = last_type_argument(&path.path);
    let shown = state
        .as_ref()
        .map_or_else(|| "State".to_owned(), pretty_print);
    errors.push(Error::new_spanned(
        path,
        format!("a tool borrows its context; write `&Cx<'_, {shown}>`"),
    ));
    let mut context = path.clone();
    if let (Some(state), Some(last)) = (state, context.path.segments.last_mut()) {
        last.arguments = PathArguments::AngleBracketed(parse_quote!(<'_, #state>));
    }
    *ty = parse_quote!(&#context);
    true
}

fn last_type_argument(path: &Path) -> Option<Type> {
    type_arguments(path).last().copied().cloned()
}
