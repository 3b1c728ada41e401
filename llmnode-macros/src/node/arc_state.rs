//! `impl Exec<Arc<State>>`: a node with a state also runs where the run has that state in an `Arc`.

use proc_macro2::{Ident, TokenStream};
use syn::{GenericParam, Generics, Type};

use super::model::NodeModel;

/// The impl is written by a macro of the runtime, `impl_arc_state!`, so that the
/// expansion of each node has one line of it. Its arguments are lists in brackets,
/// because `macro_rules!` cannot read generics otherwise.
pub(crate) fn emit(
    model: &NodeModel<'_>,
    state: &Type,
    stated: &Generics,
    private: &Ident,
) -> Option<TokenStream> {
    model.state.as_ref()?;
    let ident = &model.item.ident;
    let ty_generics = model.item.generics.split_for_impl().1;
    // An impl's parameters have no defaults.
    let params = stated.params.iter().cloned().map(|mut param| {
        match &mut param {
            GenericParam::Type(param) => param.default = None,
            GenericParam::Const(param) => param.default = None,
            GenericParam::Lifetime(_) => {}
        }
        param
    });
    let bounds = stated
        .where_clause
        .iter()
        .flat_map(|clause| &clause.predicates);
    Some(generated! {
        #private::impl_arc_state!(#ident #ty_generics, #state, [#(#params,)*] [#(#bounds,)*]);
    })
}
