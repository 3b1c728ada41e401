//! Which names providers take for a tool, and which types may not have that of its struct.

use proc_macro2::Ident;
use syn::{Error, FnArg, LitStr, ReturnType, Signature, Type};

use crate::generics::type_arguments;

/// A name that is written.
pub(crate) fn check_tool_name(name: LitStr) -> syn::Result<LitStr> {
    match tool_name_error(&name.value()) {
        Some(fault) => Err(Error::new(name.span(), fault)),
        None => Ok(name),
    }
}

/// All providers take these characters, and no other is taken by all.
fn fits(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// 64 is the least of the providers' limits. The proposed name has `_` in place of
/// what does not fit.
pub(super) fn tool_name_error(name: &str) -> Option<String> {
    if name.len() <= 64 && name.chars().all(fits) {
        return None;
    }
    let proposed: String = name
        .chars()
        .map(|c| if fits(c) { c } else { '_' })
        .take(64)
        .collect();
    Some(format!(
        "the name of a tool is 1 to 64 of the characters `a-z A-Z 0-9 _ -`; write `name = \
         \"{proposed}\"`"
    ))
}

/// A type of the signature, as in `fn weather(..) -> Weather`: the tool's struct would have its name, too. rustc reports each use
/// of such a type, and does not say what to write.
pub(super) fn taken_by_a_type(signature: &Signature, ident: &Ident) -> Option<Error> {
    let arguments = signature.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(argument) => Some(&*argument.ty),
        FnArg::Receiver(_) => None,
    });
    let output = match &signature.output {
        ReturnType::Type(_, ty) => Some(&**ty),
        ReturnType::Default => None,
    };
    let found = arguments.chain(output).find_map(|ty| named(ty, ident))?;
    let function = &signature.ident;
    let message = format!(
        "`#[tool]` makes a struct `{ident}` of the function `{function}`; give this type another name, or rename the \
         function and write `#[tool(name = \"{function}\")]`"
    );
    Some(Error::new(found.span(), message))
}

/// A type of another module, with its path, is no such type.
fn named<'a>(ty: &'a Type, ident: &Ident) -> Option<&'a Ident> {
    match ty {
        Type::Reference(ty) => named(&ty.elem, ident),
        Type::Group(ty) => named(&ty.elem, ident),
        Type::Paren(ty) => named(&ty.elem, ident),
        Type::Array(ty) => named(&ty.elem, ident),
        Type::Slice(ty) => named(&ty.elem, ident),
        Type::Tuple(ty) => ty.elems.iter().find_map(|ty| named(ty, ident)),
        Type::Path(ty) => match ty.path.get_ident() {
            Some(name) => (ty.qself.is_none() && name == ident).then_some(name),
            None => type_arguments(&ty.path)
                .into_iter()
                .find_map(|ty| named(ty, ident)),
        },
        _ => None,
    }
}
