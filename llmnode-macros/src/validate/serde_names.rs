//! What serde's attributes say about a value's place in the JSON, for
//! deserialization. Naming rules (`rename_all`) are not followed: the schema has
//! the names, and a violation's path gets them from there.

use syn::ext::IdentExt;
use syn::meta::ParseNestedMeta;
use syn::{Attribute, Ident, LitStr, Token};

/// Keys of values that are read in a special way, or borrow on purpose.
const CUSTOM_KEYS: [&str; 7] = [
    "borrow",
    "with",
    "deserialize_with",
    "schema_with",
    "from",
    "try_from",
    "remote",
];

/// Only what moves a value in the JSON, or takes it out of the traversal.
#[derive(Default, Clone)]
pub(crate) struct SerdeAttributes {
    pub(crate) rename: Option<String>,
    pub(crate) tag: Option<String>,
    pub(crate) content: Option<String>,
    pub(crate) untagged: bool,
    pub(crate) transparent: bool,
    pub(crate) flatten: bool,
    pub(crate) skip: bool,
    /// Not in the schema.
    pub(crate) hidden: bool,
    /// With bounds of the user's own.
    pub(crate) bound: bool,
    /// Read by another type or a function, or borrowed on purpose.
    pub(crate) custom: bool,
}

impl SerdeAttributes {
    /// schemars' names win, because the model sees these. Unknown and malformed
    /// attributes are left to the derives.
    pub(crate) fn read(attributes: &[Attribute]) -> Self {
        let mut read = Self::default();
        for owner in ["serde", "schemars"] {
            for attribute in attributes
                .iter()
                .filter(|attribute| attribute.path().is_ident(owner))
            {
                let _ = attribute.parse_nested_meta(|meta| read.argument(&meta, owner == "serde"));
            }
        }
        read
    }

    /// `skip` of schemars hides a field from the model, which may still write it.
    fn argument(&mut self, meta: &ParseNestedMeta<'_>, of_serde: bool) -> syn::Result<()> {
        let name = meta
            .path
            .get_ident()
            .map(Ident::to_string)
            .unwrap_or_default();
        match name.as_str() {
            "rename" => self.rename = deserialize_side(meta)?.or(self.rename.take()),
            "tag" => self.tag = Some(meta.value()?.parse::<LitStr>()?.value()),
            "content" => self.content = Some(meta.value()?.parse::<LitStr>()?.value()),
            "untagged" => self.untagged = true,
            "transparent" => self.transparent = true,
            "flatten" => self.flatten = true,
            // A field that only the schema skips is still read.
            "skip" | "skip_deserializing" => {
                self.skip |= of_serde;
                self.hidden |= !of_serde;
            }
            _ => {
                self.bound |= name == "bound";
                self.custom |= CUSTOM_KEYS.contains(&&*name);
                skip_value(meta)?;
            }
        }
        Ok(())
    }

    /// Ignores `rename_all`.
    pub(crate) fn name(&self, ident: &Ident) -> String {
        self.rename
            .clone()
            .unwrap_or_else(|| ident.unraw().to_string())
    }
}

/// `= "x"`, or the `deserialize = "x"` of `(…)`.
/// Names for writing alone are passed over.
fn deserialize_side(meta: &ParseNestedMeta<'_>) -> syn::Result<Option<String>> {
    if meta.input.peek(Token![=]) {
        return Ok(Some(meta.value()?.parse::<LitStr>()?.value()));
    }
    let mut found = None;
    meta.parse_nested_meta(|side| {
        let written = side.value()?.parse::<LitStr>()?.value();
        if side.path.is_ident("deserialize") {
            found = Some(written);
        }
        Ok(())
    })?;
    Ok(found)
}

/// Reads over the value of a key that does not matter here.
fn skip_value(meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
    if meta.input.peek(Token![=]) {
        meta.value()?.parse::<syn::Expr>()?;
    } else if meta.input.peek(syn::token::Paren) {
        meta.input.parse::<proc_macro2::TokenTree>()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::SerdeAttributes;

    #[test]
    fn the_way_in_counts() {
        let read = SerdeAttributes::read(&[
            parse_quote!(#[serde(default = "x::y", rename(serialize = "out", deserialize = "in"), flatten)]),
            parse_quote!(#[serde(bound(deserialize = "T: X"), skip_serializing_if = "Option::is_none", skip)]),
            parse_quote!(#[schemars(title = "no", extend("rename" = {"x": 1}))]),
        ]);
        assert_eq!(read.name(&parse_quote!(a)), "in");
        assert!(read.flatten && read.skip && read.bound);
        let told = SerdeAttributes::read(&[
            parse_quote!(#[schemars(rename = "told", skip)]),
            parse_quote!(#[serde(rename = "read", alias = "told")]),
        ]);
        assert_eq!((&*told.name(&parse_quote!(a)), told.skip), ("told", false));
        assert!(told.hidden && !told.bound);
        let only_out = SerdeAttributes::read(&[parse_quote!(#[serde(rename(serialize = "out"))])]);
        assert_eq!(only_out.name(&parse_quote!(r#type)), "type");
    }
}
