//! The parameters of a tool's function, and who fills each.

use proc_macro2::Ident;
use syn::{
    Attribute, Error, FnArg, GenericArgument, ItemFn, Pat, Path, PathArguments, Type, TypeReference,
    parse_quote,
};

use crate::diagnostics::Errors;
use crate::generics::bare;

/// What a parameter is given.
pub(super) enum Parameter {
    /// A value that the model writes. `lent`: the function takes a reference to it.
    Argument {
        name: Ident,
        ty: Type,
        attributes: Vec<Attribute>,
        lent: bool,
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

/// Takes the parameters apart. Their attributes go to the fields of the arguments.
pub(super) fn parameters(function: &mut ItemFn, errors: &mut Errors) -> Vec<Parameter> {
    let mut parameters: Vec<Parameter> = vec![];
    for input in &mut function.sig.inputs {
        let FnArg::Typed(typed) = input else { continue };
        let attributes = std::mem::take(&mut typed.attrs);
        match parameter(&typed.pat, &typed.ty, attributes) {
            Ok(Parameter::State(ty)) if parameters.iter().any(|one| matches!(one, Parameter::State(_))) => {
                let message = "a tool takes one state; take the arguments that the model writes by value";
                errors.push(Error::new_spanned(ty, message));
            }
            Ok(parameter) => parameters.push(parameter),
            Err(error) => errors.push(error),
        }
    }
    parameters
}

fn parameter(pattern: &Pat, ty: &Type, attributes: Vec<Attribute>) -> syn::Result<Parameter> {
    let (of, lent) = match bare(ty) {
        Type::Reference(TypeReference { mutability: Some(mutable), .. }) => {
            let message = "a tool cannot change the state, since other tools run beside it; put what changes behind a `Mutex`";
            return Err(Error::new_spanned(mutable, message));
        }
        Type::Reference(TypeReference { elem, .. }) => match bare(elem) {
            Type::Path(path) if path.path.is_ident("str") => (parse_quote!(::std::string::String), true),
            Type::Slice(slice) => {
                let of = &slice.elem;
                (parse_quote!(::std::vec::Vec<#of>), true)
            }
            Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Cx") => {
                return Ok(context(&path.path));
            }
            other => return Ok(Parameter::State(other.clone())),
        },
        Type::ImplTrait(ty) => {
            return Err(Error::new_spanned(ty, "a model writes values of one type; name the type"));
        }
        Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Cx") => {
            return Err(Error::new_spanned(path, "a tool borrows its context; write `&Cx<'_, State>`"));
        }
        ty => (ty.clone(), false),
    };
    match pattern {
        Pat::Ident(named) if named.subpat.is_none() => {
            Ok(Parameter::Argument { name: named.ident.clone(), ty: of, attributes, lent })
        }
        other => {
            let message = "a model writes an argument by its name; give the parameter a name, and take it apart in the function";
            Err(Error::new_spanned(other, message))
        }
    }
}

/// The state in `Cx<'_, World>`.
fn context(path: &Path) -> Parameter {
    if let Some(PathArguments::AngleBracketed(arguments)) = path.segments.last().map(|last| &last.arguments)
        && let Some(GenericArgument::Type(state)) = arguments.args.last()
    {
        return Parameter::Context(state.clone());
    }
    // The compiler says what the context lacks.
    Parameter::Context(parse_quote!(()))
}
