//! Fields that are arrays of a length which a parameter of the definition gives.
//!
//! serde and schemars know arrays of 0 to 32 values, each length for itself, and none
//! of a length that is not known.

use syn::{DeriveInput, Error, Expr, Field, Path, Stmt, Type, WherePredicate, parse_quote};

use super::parts;
use super::parts::collect::values_of;
use crate::crate_path::private_path;
use crate::diagnostics::Errors;
use crate::generics::{bare, last_name, type_arguments};
use crate::validate::serde_names::SerdeAttributes;

/// Reported fields are read by a function, so that the derives say nothing.
pub(crate) fn check(input: &mut DeriveInput, krate: &Path, errors: &mut Errors) {
    let container = SerdeAttributes::read(&input.attrs);
    // A clause may say that such an array is read.
    let clause = input.generics.where_clause.iter();
    let clause = clause.flat_map(|clause| &clause.predicates);
    let names_an_array = clause.into_iter().any(|predicate| match predicate {
        WherePredicate::Type(predicate) => array_of(&predicate.bounded_ty, &|_| true).is_some(),
        _ => false,
    });
    if container.custom || container.bound || names_an_array {
        return;
    }
    let lengths: Vec<String> = input
        .generics
        .const_params()
        .map(|parameter| parameter.ident.to_string())
        .collect();
    for field in parts::fields(&mut input.data) {
        check_field(field, &lengths, krate, errors);
    }
}

fn check_field(field: &mut Field, lengths: &[String], krate: &Path, errors: &mut Errors) {
    let attributes = SerdeAttributes::read(&field.attrs);
    if attributes.custom || attributes.skip || attributes.bound {
        return;
    }
    let array = array_of(&field.ty, &|length| {
        lengths.iter().any(|name| is_name(length, name))
    });
    let Some(array) = array else {
        return;
    };
    let message = "an array in an answer has at most 32 values, and a parameter may be any number; \
                   write a `Vec`";
    errors.push(Error::new_spanned(array, message));
    let [unwritten, unread] = ["unwritten", "unread"].map(|name| private_path(krate, name));
    field.attrs.extend([
        parse_quote!(#[serde(serialize_with = #unwritten, deserialize_with = #unread)]),
        parse_quote!(#[schemars(with = "()")]),
    ]);
}

/// The first array with such a length, in whatever it stands.
fn array_of<'a>(ty: &'a Type, is_length: &dyn Fn(&Expr) -> bool) -> Option<&'a Type> {
    match bare(ty) {
        Type::Array(array) if is_length(&array.len) => Some(bare(ty)),
        Type::Array(array) => array_of(&array.elem, is_length),
        Type::Tuple(tuple) => tuple.elems.iter().find_map(|ty| array_of(ty, is_length)),
        // Other types may read the array by themselves.
        Type::Path(path) if last_name(ty).is_some_and(|name| values_of(name).is_some()) => {
            type_arguments(&path.path)
                .into_iter()
                .find_map(|ty| array_of(ty, is_length))
        }
        _ => None,
    }
}

/// `N` or `{ N }`.
fn is_name(length: &Expr, name: &str) -> bool {
    match length {
        Expr::Path(path) => path.path.is_ident(name),
        Expr::Group(group) => is_name(&group.expr, name),
        Expr::Paren(paren) => is_name(&paren.expr, name),
        Expr::Block(block) => match &*block.block.stmts {
            [Stmt::Expr(length, None)] => is_name(length, name),
            _ => false,
        },
        _ => false,
    }
}
