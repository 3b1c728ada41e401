//! The parameters of a tool's function, and where their values come from.

use proc_macro2::Ident;
use syn::{
    Attribute, Error, FnArg, ItemFn, Pat, Path, PathArguments, Type, TypeReference, parse_quote,
};

use super::owned::reference;
use crate::diagnostics::Errors;
use crate::generics::{bare, is_named, pretty_print, type_arguments};

/// A parameter of the function, by where its value comes from.
pub(super) enum Parameter {
    Argument {
        name: Ident,
        ty: Type,
        attributes: Vec<Attribute>,
        by_reference: bool,
    },
    State(Type),
    /// `None`: `Cx<'_, ()>`, which reads no state, so the tool runs beside any.
    Context(Option<Type>),
}

impl Parameter {
    pub(super) fn state(&self) -> Option<&Type> {
        match self {
            Parameter::State(state) | Parameter::Context(Some(state)) => Some(state),
            Parameter::Argument { .. } | Parameter::Context(None) => None,
        }
    }

    pub(super) fn is_argument(&self) -> bool {
        matches!(self, Parameter::Argument { .. })
    }
}

/// All parameters in their order. Attributes are taken off, since those of serde
/// may not stand on a function; they go to the field. Levels of lints stay.
pub(super) fn parameters(function: &mut ItemFn, errors: &mut Errors) -> Vec<Parameter> {
    let mut parameters: Vec<Parameter> = vec![];
    for input in &mut function.sig.inputs {
        let FnArg::Typed(typed) = input else { continue };
        let (lints, attributes) = std::mem::take(&mut typed.attrs)
            .into_iter()
            .partition(is_lint);
        typed.attrs = lints;
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

fn is_lint(attribute: &Attribute) -> bool {
    ["allow", "expect", "warn", "deny", "forbid"]
        .iter()
        .any(|level| attribute.path().is_ident(level))
}

/// Where the value of a parameter comes from, by the type that is written.
enum Source {
    /// The model writes a value of the type, and the function may borrow it.
    Model {
        ty: Type,
        by_reference: bool,
    },
    State(Type),
    Context(Option<Type>),
}

/// By the type that is written: by value is the model's, by reference the
/// program's.
fn parameter(pattern: &Pat, ty: &Type, attributes: Vec<Attribute>) -> syn::Result<Parameter> {
    let source = match bare(ty) {
        Type::Reference(reference) => borrowed(ty, reference)?,
        Type::ImplTrait(ty) => {
            return Err(Error::new_spanned(
                ty,
                "a model writes values of one type; name the type",
            ));
        }
        ty => Source::Model {
            ty: ty.clone(),
            by_reference: false,
        },
    };
    match source {
        Source::State(state) => Ok(Parameter::State(state)),
        Source::Context(state) => Ok(Parameter::Context(state)),
        Source::Model { ty, by_reference } => argument(pattern, ty, attributes, by_reference),
    }
}

/// Of `&str` and slices the model writes the owned type; other references are the program's.
/// The exceptions first: `&str` and slices are the model's, `&Cx` is the context,
/// and some references are surely a mistake.
fn borrowed(written: &Type, reference: &TypeReference) -> syn::Result<Source> {
    if let Some(mutable) = &reference.mutability {
        let message = "a tool cannot change the state, since other tools run beside it; put what \
                       changes behind a `Mutex`";
        return Err(Error::new_spanned(mutable, message));
    }
    let path = match bare(&reference.elem) {
        Type::Slice(slice) => {
            let of = &slice.elem;
            return Ok(Source::Model {
                ty: parse_quote!(::std::vec::Vec<#of>),
                by_reference: true,
            });
        }
        Type::Path(path) => &path.path,
        other => return Ok(Source::State(other.clone())),
    };
    if path.is_ident("str") {
        return Ok(Source::Model {
            ty: parse_quote!(::std::string::String),
            by_reference: true,
        });
    }
    if is_named(path, "Cx") {
        // The compiler reports a missing type argument.
        let state = last_type_argument(path).filter(|state| !is_unit(state));
        return Ok(Source::Context(state));
    }
    match misplaced(path) {
        Some(message) => Err(Error::new_spanned(written, message)),
        None => Ok(Source::State(bare(&reference.elem).clone())),
    }
}

/// What to write in place of a reference to such a type.
fn misplaced(path: &Path) -> Option<String> {
    if is_named(path, "String") {
        return Some("a tool cannot take a `&String`; write `&str` or `String`".to_owned());
    }
    if is_named(path, "Vec") {
        let of = last_type_argument(path).map_or_else(|| "T".to_owned(), |of| pretty_print(&of));
        return Some(format!(
            "a tool cannot take a `&Vec`; write `&[{of}]` or `Vec<{of}>`"
        ));
    }
    is_named(path, "Run").then(|| {
        "a tool calls nodes through its context, so that they count for the agent; write `cx: \
         &Cx<'_, State>`, with the state of the run, or `()`"
            .to_owned()
    })
}

/// An argument is an owned value with a name, by which the model writes it.
fn argument(
    pattern: &Pat,
    of: Type,
    attributes: Vec<Attribute>,
    by_reference: bool,
) -> syn::Result<Parameter> {
    if let Some(reference) = reference(&of) {
        let message = "an argument of a tool cannot hold references; write `String` instead of \
                       `&str`, and `Vec` instead of a slice";
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
            let message = "a model writes an argument by its name; give the parameter a name, and \
                           take it apart in the function";
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

/// `World` of `Cx<'_, World>`.
fn last_type_argument(path: &Path) -> Option<Type> {
    type_arguments(path).last().copied().cloned()
}

fn is_unit(ty: &Type) -> bool {
    matches!(bare(ty), Type::Tuple(tuple) if tuple.elems.is_empty())
}
