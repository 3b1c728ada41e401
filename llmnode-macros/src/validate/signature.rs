//! What a validator's signature says.

use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Error, FnArg, GenericParam, ImplItemFn, ReturnType, Type, TypeParamBound, TypeReference};

use crate::generics::bare;

const USAGE: &str = "a validator is `fn(&self, state: &State, attempt: &Attempt) -> Result<(), Invalid>`, async or not, \
                     with either parameter or none";

/// A method that is a validator.
pub(crate) struct Validator<'a> {
    pub(crate) method: &'a ImplItemFn,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) state: Option<State<'a>>,
}

/// What a parameter is given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Parameter {
    State,
    Attempt,
}

/// The state that a validator takes.
pub(crate) enum State<'a> {
    /// By its type.
    Named(&'a Type),
    /// Any with these bounds.
    Bounded(Vec<&'a TypeParamBound>),
}

impl<'a> Validator<'a> {
    pub(crate) fn read(method: &'a ImplItemFn) -> syn::Result<Self> {
        receiver(method)?;
        returns_result(method)?;
        let mut validator = Validator { method, parameters: vec![], state: None };
        for input in method.sig.inputs.iter().skip(1) {
            validator.parameter(input)?;
        }
        if let Some(unused) = method.sig.generics.type_params().next()
            && !matches!(validator.state, Some(State::Bounded(_)))
        {
            return Err(Error::new_spanned(unused, "a validator's only type parameter is that of its state"));
        }
        Ok(validator)
    }

    /// What the state has to implement, if the validator takes any such.
    pub(crate) fn bounds(&self) -> Option<Vec<&'a TypeParamBound>> {
        match &self.state {
            Some(State::Bounded(bounds)) => Some(bounds.clone()),
            _ => None,
        }
    }

    fn parameter(&mut self, input: &'a FnArg) -> syn::Result<()> {
        let FnArg::Typed(typed) = input else { return Ok(()) };
        let lent = match bare(&typed.ty) {
            Type::Reference(TypeReference { mutability: None, elem, .. }) => bare(elem),
            other => {
                let message = format!("a validator is lent the state and the attempt, by `&`; {USAGE}");
                return Err(Error::new_spanned(other, message));
            }
        };
        let parameter = if is_attempt(lent) { Parameter::Attempt } else { Parameter::State };
        if self.parameters.contains(&parameter) {
            let what = if parameter == Parameter::State { "state" } else { "attempt" };
            return Err(Error::new_spanned(&typed.ty, format!("a validator takes one {what}; {USAGE}")));
        }
        self.parameters.push(parameter);
        if parameter == Parameter::State {
            self.state = Some(self.read_state(lent)?);
        }
        Ok(())
    }

    fn read_state(&self, lent: &'a Type) -> syn::Result<State<'a>> {
        let generics = &self.method.sig.generics;
        if let Type::ImplTrait(bounds) = lent {
            return Ok(State::Bounded(bounds.bounds.iter().collect()));
        }
        let parameter = generics.params.iter().find_map(|param| match param {
            GenericParam::Type(param) if param.ident == lent.to_token_stream().to_string() => Some(param),
            _ => None,
        });
        let Some(parameter) = parameter else { return Ok(State::Named(lent)) };
        if let Some(clause) = &generics.where_clause {
            let message =
                format!("write the bounds of the state where it is declared: `<{}: …>`", parameter.ident);
            return Err(Error::new_spanned(clause, message));
        }
        if let Some(another) = generics.type_params().find(|param| param.ident != parameter.ident) {
            return Err(Error::new_spanned(
                another,
                "a validator's only type parameter is that of its state",
            ));
        }
        Ok(State::Bounded(parameter.bounds.iter().collect()))
    }
}

fn receiver(method: &ImplItemFn) -> syn::Result<()> {
    let signature = &method.sig;
    match signature.inputs.first() {
        Some(FnArg::Receiver(receiver)) if receiver.to_token_stream().to_string() == "& self" => Ok(()),
        Some(FnArg::Receiver(receiver)) => {
            Err(Error::new_spanned(receiver, format!("a validator takes `&self`; {USAGE}")))
        }
        _ => Err(Error::new(
            signature.ident.span(),
            format!(
                "every function of a `#[validate]` block is a validator, and `{}` has no `&self`; move helpers to \
                 another impl block",
                signature.ident
            ),
        )),
    }
}

fn returns_result(method: &ImplItemFn) -> syn::Result<()> {
    let signature = &method.sig;
    let is_result = match &signature.output {
        ReturnType::Type(_, ty) => match bare(ty) {
            Type::Path(path) => {
                path.path.segments.last().is_some_and(|last| last.ident.to_string().ends_with("Result"))
            }
            _ => false,
        },
        ReturnType::Default => false,
    };
    if is_result {
        return Ok(());
    }
    let at = match &signature.output {
        ReturnType::Default => signature.ident.span(),
        ReturnType::Type(_, ty) => ty.span(),
    };
    let message = "every method of a `#[validate]` block is a validator and returns `Result<(), Invalid>`; move helpers \
                   to another impl block";
    Err(Error::new(at, message))
}

fn is_attempt(ty: &Type) -> bool {
    let Type::Path(path) = ty else { return false };
    path.path.segments.last().is_some_and(|last| last.ident == "Attempt")
}
