//! Emits the tools of a node, and the impl of `Tool` for a node that is one.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Attribute, DeriveInput, Field, Generics, ItemStruct, Type};

use crate::generics::end_spans;
use crate::macro_args::{items, value};
use crate::node::model::NodeModel;
use crate::settings::number;
use crate::tool::arguments::{Argument, Arguments};

/// The compiler reports a tool that does not fit at its place in the list.
pub(crate) fn emit(model: &NodeModel<'_>, state: &Type, private: &Ident) -> Option<TokenStream> {
    let tools = items(&model.args.tools);
    let compact = value(&model.args.compact);
    if tools.is_empty() && model.toolset.is_none() && compact.is_none() {
        return None;
    }
    // A node without a state takes tools for any state, by a method whose bound
    // says so.
    let adds = tools.iter().map(|tool| {
        let (at, end) = end_spans(tool);
        let add = if model.state.is_some() {
            "add"
        } else {
            "add_to_stateless"
        };
        let [to, add] = ["__to", add].map(|name| Ident::new(name, at));
        quote_spanned!(end=> #to.#add::<#tool>();)
    });
    // Spanned by the field's type: one that is no set of tools is reported there.
    let set = model.toolset.map(|Field { ident, ty, .. }| {
        let at = end_spans(ty).0;
        quote_spanned!(at=> __to.extend(&self.#ident);)
    });
    let turns = number(&model.args.turns).map(|turns| generated!(__to.turns(#turns);));
    let compact = compact.map(|compact| {
        let rules = compact.emit(private);
        let summariser = compact.emit_summariser();
        generated!(__to.compact(#rules); #summariser)
    });
    Some(generated! {
        fn tools(&self, __to: &mut #private::Tools<#state>) { #(#adds)* #set #turns #compact }
    })
}

/// A tool's attributes of serde and schemars are for its arguments.
pub(crate) fn item(model: &NodeModel<'_>) -> TokenStream {
    let mut item = model.item.clone();
    if model.args.tool.is_some() {
        strip_derive_attributes(&mut item);
    }
    quote!(#item)
}

/// The struct lacks these derives.
pub(crate) fn strip_derive_attributes(item: &mut ItemStruct) {
    item.fields
        .iter_mut()
        .for_each(|field| field.attrs.retain(|attribute| !is_of_derives(attribute)));
}

fn is_of_derives(attribute: &Attribute) -> bool {
    attribute.path().is_ident("serde") || attribute.path().is_ident("schemars")
}

/// The fields are the arguments. They are read by a second struct with the
/// attributes of derives, since the node's own has no such derives; see
/// `tool/arguments.rs`.
pub(crate) fn as_tool(
    model: &NodeModel<'_>,
    state: &Type,
    generics: &Generics,
    private: &Ident,
) -> Option<TokenStream> {
    model.args.tool.as_ref()?;
    let fields = model.item.fields.iter().filter_map(|field| {
        Some(Argument {
            name: field.ident.as_ref()?,
            ty: &field.ty,
            attributes: field
                .attrs
                .iter()
                .filter(|attribute: &&Attribute| {
                    is_of_derives(attribute) || attribute.path().is_ident("doc")
                })
                .collect(),
        })
    });
    let mut input = DeriveInput::from(model.item.clone());
    // Arguments have the description of the node, and nothing else of its
    // attributes.
    input
        .attrs
        .retain(|attribute| attribute.path().is_ident("doc"));
    let output = model
        .output
        .map_or_else(|| end_spans(&model.item.ident), end_spans);
    let arguments = Arguments {
        input,
        list: fields.collect(),
        output,
        krate: &model.krate,
    };
    let (header, _, _) = generics.split_for_impl();
    let tool = arguments.tool(&header, state, TokenStream::new(), private);
    let validation = arguments.validation(model.state);
    Some(quote!(#tool #validation))
}
