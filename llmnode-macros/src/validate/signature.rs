//! The signature of a validator.
//!
//! A macro sees the types as they are written, so what a parameter is follows from
//! its name (`state`, `attempt`) and only then from its type. Aliases of `Result`
//! and futures with names of their own are given the benefit of the doubt: the
//! compiler checks them where they are called.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{
    Error, FnArg, GenericParam, ImplItem, ImplItemFn, ItemImpl, Pat, ReceiverKind, ReturnType,
    Type, TypeParamBound, TypeReference,
};

use super::fields::is_plain;
use crate::generics::{bare, is_named, last_name, type_arguments};

const USAGE: &str = "a validator is `fn(&self, state: &State, attempt: &AttemptInfo) -> Result<(), \
                     Invalid>`, async or not, with either parameter or none";

/// A method, what it takes, and its state.
pub(crate) struct Validator<'a> {
    pub(crate) method: &'a ImplItemFn,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) state: Option<State<'a>>,
}

/// Beyond `&self`, in the method's order.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Parameter {
    State,
    Attempt,
}

/// A type, or any that has these bounds.
pub(crate) enum State<'a> {
    Named(&'a Type),
    Bounded(Vec<&'a TypeParamBound>),
}

impl<'a> Validator<'a> {
    /// `Err` is the first fault of the method; one is enough, since they hang
    /// together.
    pub(crate) fn read(method: &'a ImplItemFn, block: &ItemImpl) -> syn::Result<Self> {
        receiver(method)?;
        returns_result(method, block)?;
        let mut validator = Validator {
            method,
            parameters: vec![],
            state: None,
        };
        for input in method.sig.inputs.iter().skip(1) {
            validator.parameter(input)?;
        }
        if let Some(unused) = method.sig.generics.type_params().next()
            && !matches!(validator.state, Some(State::Bounded(_)))
        {
            return Err(Error::new_spanned(
                unused,
                "a validator's only type parameter is that of its state",
            ));
        }
        Ok(validator)
    }

    /// `None` if the validator is not generic over its state.
    pub(crate) fn bounds(&self) -> Option<Vec<&'a TypeParamBound>> {
        match &self.state {
            Some(State::Bounded(bounds)) => Some(bounds.clone()),
            _ => None,
        }
    }

    /// Whether it takes any state at all, so that it may have a reference to one, too.
    pub(crate) fn takes_any_state(&self) -> bool {
        self.bounds().is_some_and(|bounds| {
            bounds.iter().all(|bound: &&TypeParamBound| match bound {
                TypeParamBound::Trait(bound) => ["Sync", "Send", "Sized"]
                    .iter()
                    .any(|name| is_named(&bound.path, name)),
                _ => false,
            })
        })
    }

    /// Always by reference: the answer, the state and the attempt belong to the
    /// call.
    fn parameter(&mut self, input: &'a FnArg) -> syn::Result<()> {
        let FnArg::Typed(typed) = input else {
            return Ok(());
        };
        let lent = match bare(&typed.ty) {
            Type::Reference(TypeReference {
                mutability: None,
                elem,
                ..
            }) => bare(elem),
            other => {
                let message = format!("a validator borrows the state and the attempt; {USAGE}");
                return Err(Error::new_spanned(other, message));
            }
        };
        let parameter = if is_attempt(&typed.pat, lent) {
            Parameter::Attempt
        } else {
            Parameter::State
        };
        if self.parameters.contains(&parameter) {
            let what = if parameter == Parameter::State {
                "state"
            } else {
                "attempt"
            };
            return Err(Error::new_spanned(
                &typed.ty,
                format!("a validator takes one {what}; {USAGE}"),
            ));
        }
        self.parameters.push(parameter);
        if parameter == Parameter::State {
            self.state = Some(self.read_state(lent)?);
        }
        Ok(())
    }

    /// A type parameter of the method, `impl Trait`, or a type.
    fn read_state(&self, lent: &'a Type) -> syn::Result<State<'a>> {
        let generics = &self.method.sig.generics;
        if let Type::ImplTrait(bounds) = lent {
            return Ok(State::Bounded(bounds.bounds.iter().collect()));
        }
        let parameter = generics.params.iter().find_map(|param| match param {
            GenericParam::Type(param) if param.ident == lent.to_token_stream().to_string() => {
                Some(param)
            }
            _ => None,
        });
        let Some(parameter) = parameter else {
            return Ok(State::Named(lent));
        };
        if let Some(clause) = &generics.where_clause {
            let message = format!(
                "write the bounds of the state where it is declared: `<{}: …>`",
                parameter.ident
            );
            return Err(Error::new_spanned(clause, message));
        }
        if let Some(another) = generics
            .type_params()
            .find(|param| param.ident != parameter.ident)
        {
            return Err(Error::new_spanned(
                another,
                "a validator's only type parameter is that of its state",
            ));
        }
        Ok(State::Bounded(parameter.bounds.iter().collect()))
    }
}

/// A function without `self` in the block is most likely a helper.
fn receiver(method: &ImplItemFn) -> syn::Result<()> {
    let signature = &method.sig;
    match signature.inputs.first() {
        Some(FnArg::Receiver(receiver)) if is_shared_reference(&receiver.kind) => Ok(()),
        Some(FnArg::Receiver(receiver)) => Err(Error::new_spanned(
            receiver,
            format!("a validator takes `&self`; {USAGE}"),
        )),
        _ => Err(Error::new(
            signature.ident.span(),
            format!(
                "every function of a `#[validate]` block is a validator, and `{}` has no `&self`; \
                 move helpers to another impl block",
                signature.ident
            ),
        )),
    }
}

/// `&self`, or `self: &Self`.
fn is_shared_reference(receiver: &ReceiverKind) -> bool {
    match receiver {
        ReceiverKind::Reference(_, _, mutability) => mutability.is_none(),
        ReceiverKind::Typed(_, ty) => match bare(ty) {
            Type::Reference(TypeReference {
                mutability: None,
                elem,
                ..
            }) => {
                matches!(bare(elem), Type::Path(path) if path.path.is_ident("Self"))
            }
            _ => false,
        },
        _ => false,
    }
}

/// A method of another return type is a helper, if others call it, or a validator
/// that is written wrong.
fn returns_result(method: &ImplItemFn, block: &ItemImpl) -> syn::Result<()> {
    let signature = &method.sig;
    let is_result = match &signature.output {
        ReturnType::Type(_, ty) => may_be_result(ty) || is_future(ty),
        ReturnType::Default => false,
    };
    if is_result {
        return is_sendable(&signature.output);
    }
    if is_called(method, block) {
        let message = format!(
            "every method of a `#[validate]` block is a validator, and `{}` is a helper; move it \
             to another impl block",
            signature.ident
        );
        return Err(Error::new(signature.ident.span(), message));
    }
    let at = match &signature.output {
        ReturnType::Default => signature.ident.span(),
        ReturnType::Type(_, ty) => ty.span(),
    };
    let message = "every method of a `#[validate]` block is a validator and returns `Result<(), \
                   Invalid>`; move helpers to another impl block";
    Err(Error::new(at, message))
}

/// A helper of another method is not a validator with a wrong return type.
fn is_called(method: &ImplItemFn, block: &ItemImpl) -> bool {
    let name = &method.sig.ident;
    block.items.iter().any(|item| match item {
        ImplItem::Fn(other) => {
            other.sig.ident != *name && calls(other.block.to_token_stream(), name)
        }
        _ => false,
    })
}

/// `self.name(..)` or `Self::name(..)`, by tokens.
fn calls(tokens: TokenStream, name: &Ident) -> bool {
    let mut follows = false;
    tokens.into_iter().any(|token| {
        let called = match &token {
            TokenTree::Ident(ident) => follows && ident == name,
            TokenTree::Group(group) => calls(group.stream(), name),
            _ => false,
        };
        follows = matches!(&token, TokenTree::Punct(punct) if matches!(punct.as_char(), '.' | ':'));
        called
    })
}

/// May be an alias of `Result<(), Invalid>`; otherwise the compiler reports it.
fn may_be_result(ty: &Type) -> bool {
    const OTHERS: [&str; 5] = ["Self", "Option", "Vec", "Box", "Invalid"];
    !is_plain(ty) && last_name(ty).is_some_and(|name| !OTHERS.iter().any(|other| name == other))
}

/// `impl Future`, `Pin<..>`, or a type called `..Future`.
pub(crate) fn is_future(ty: &Type) -> bool {
    match bare(ty) {
        Type::ImplTrait(bounds) => bounds.bounds.iter().any(|bound| match bound {
            TypeParamBound::Trait(bound) => bound
                .path
                .segments
                .last()
                .is_some_and(|last| ends_like_future(&last.ident)),
            _ => false,
        }),
        ty => last_name(ty).is_some_and(|name| name == "Pin" || ends_like_future(name)),
    }
}

fn ends_like_future(name: &Ident) -> bool {
    name.to_string().ends_with("Future")
}

/// The compiler's error for awaiting a boxed future that is not `Send` is hard to read.
fn is_sendable(output: &ReturnType) -> syn::Result<()> {
    let ReturnType::Type(_, ty) = output else {
        return Ok(());
    };
    match boxed(ty) {
        Some(future) => Err(Error::new_spanned(
            future,
            "a validator's future may be awaited on another thread; add `+ Send` to the type in \
             the box",
        )),
        None => Ok(()),
    }
}

/// The `dyn Future` of a `Pin<Box<…>>`, unless another bound may make it `Send`.
fn boxed(ty: &Type) -> Option<&Type> {
    match bare(ty) {
        Type::Path(path) => {
            let holds = is_named(&path.path, "Pin") || is_named(&path.path, "Box");
            type_arguments(&path.path)
                .first()
                .filter(|_| holds)
                .and_then(|inside| boxed(inside))
        }
        future @ Type::TraitObject(object) => {
            let mut bounds = object
                .bounds
                .iter()
                .filter(|bound| !matches!(bound, TypeParamBound::Lifetime(_)));
            (bounds
                .next()
                .is_some_and(|bound: &TypeParamBound| match bound {
                    TypeParamBound::Trait(bound) => is_named(&bound.path, "Future"),
                    _ => false,
                })
                && bounds.next().is_none())
            .then_some(future)
        }
        _ => None,
    }
}

/// By the variable's name, otherwise by its type.
fn is_attempt(pattern: &Pat, ty: &Type) -> bool {
    if let Pat::Ident(variable) = pattern {
        match variable.ident.to_string().trim_start_matches('_') {
            "attempt" => return true,
            "state" => return false,
            _ => {}
        }
    }
    last_name(ty).is_some_and(|name| name == "AttemptInfo")
}
