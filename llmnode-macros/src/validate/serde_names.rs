//! The names that the JSON of a type has, as serde's attributes say for the way in.

use syn::ext::IdentExt;
use syn::meta::ParseNestedMeta;
use syn::{Attribute, Ident, LitStr, Token};

/// What serde's attributes say about a container, a variant or a field.
#[derive(Default, Clone)]
pub(crate) struct SerdeAttributes {
    rename: Option<String>,
    pub(crate) rename_all: Option<Case>,
    pub(crate) rename_all_fields: Option<Case>,
    pub(crate) tag: Option<String>,
    pub(crate) content: Option<String>,
    pub(crate) untagged: bool,
    pub(crate) transparent: bool,
    pub(crate) flatten: bool,
    pub(crate) skip: bool,
    /// Further names that are read.
    pub(crate) aliases: Vec<String>,
    /// Another type is read in place of this one.
    pub(crate) converted: bool,
}

impl SerdeAttributes {
    /// Reads them, and schemars' own names over them: these are what the model is told. What is unknown or malformed is
    /// theirs to report.
    pub(crate) fn read(attributes: &[Attribute]) -> Self {
        Self::of(&["serde", "schemars"], attributes)
    }

    /// Reads those that serde itself follows.
    pub(crate) fn of_serde(attributes: &[Attribute]) -> Self {
        Self::of(&["serde"], attributes)
    }

    fn of(owners: &[&str], attributes: &[Attribute]) -> Self {
        let mut read = Self::default();
        for owner in owners {
            for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident(owner)) {
                let _ = attribute.parse_nested_meta(|meta| read.argument(&meta, *owner == "serde"));
            }
        }
        read
    }

    fn argument(&mut self, meta: &ParseNestedMeta<'_>, of_serde: bool) -> syn::Result<()> {
        let name = meta.path.get_ident().map(Ident::to_string).unwrap_or_default();
        match name.as_str() {
            "rename" => self.rename = deserialize_side(meta)?.or(self.rename.take()),
            "rename_all" => self.rename_all = case(meta)?.or(self.rename_all),
            "rename_all_fields" => self.rename_all_fields = case(meta)?.or(self.rename_all_fields),
            "tag" => self.tag = Some(meta.value()?.parse::<LitStr>()?.value()),
            "content" => self.content = Some(meta.value()?.parse::<LitStr>()?.value()),
            "untagged" => self.untagged = true,
            "transparent" => self.transparent = true,
            "flatten" => self.flatten = true,
            "alias" => self.aliases.push(meta.value()?.parse::<LitStr>()?.value()),
            "from" | "try_from" => {
                self.converted |= of_serde;
                skip_value(meta)?;
            }
            // What only the schema leaves out is read all the same.
            "skip" | "skip_deserializing" => self.skip |= of_serde,
            _ => skip_value(meta)?,
        }
        Ok(())
    }

    /// The JSON name of a field.
    pub(crate) fn field(&self, field: &Ident, rule: Option<Case>) -> String {
        let name = field.unraw().to_string();
        self.rename.clone().unwrap_or_else(|| rule.map_or(name.clone(), |rule| rule.field(&name)))
    }

    /// The JSON name of a variant.
    pub(crate) fn variant(&self, variant: &Ident, rule: Option<Case>) -> String {
        let name = variant.unraw().to_string();
        self.rename.clone().unwrap_or_else(|| rule.map_or(name.clone(), |rule| rule.variant(&name)))
    }
}

/// `= "x"`, or the `deserialize = "x"` of `(…)`.
fn deserialize_side(meta: &ParseNestedMeta<'_>) -> syn::Result<Option<String>> {
    if meta.input.peek(Token![=]) {
        return Ok(Some(meta.value()?.parse::<LitStr>()?.value()));
    }
    let mut found = None;
    meta.parse_nested_meta(|side| {
        let given = side.value()?.parse::<LitStr>()?.value();
        if side.path.is_ident("deserialize") {
            found = Some(given);
        }
        Ok(())
    })?;
    Ok(found)
}

fn case(meta: &ParseNestedMeta<'_>) -> syn::Result<Option<Case>> {
    Ok(deserialize_side(meta)?.and_then(|name| Case::named(&name)))
}

pub(crate) fn skip_value(meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
    if meta.input.peek(Token![=]) {
        meta.value()?.parse::<syn::Expr>()?;
    } else if meta.input.peek(syn::token::Paren) {
        meta.input.parse::<proc_macro2::TokenTree>()?;
    }
    Ok(())
}

/// serde's rules for names.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Case {
    Lower,
    Upper,
    Pascal,
    Camel,
    Snake,
    ScreamingSnake,
    Kebab,
    ScreamingKebab,
}

impl Case {
    /// All of them, by the names that serde gives them.
    const ALL: [(&str, Self); 8] = [
        ("lowercase", Self::Lower),
        ("UPPERCASE", Self::Upper),
        ("PascalCase", Self::Pascal),
        ("camelCase", Self::Camel),
        ("snake_case", Self::Snake),
        ("SCREAMING_SNAKE_CASE", Self::ScreamingSnake),
        ("kebab-case", Self::Kebab),
        ("SCREAMING-KEBAB-CASE", Self::ScreamingKebab),
    ];

    /// The names of all.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        Self::ALL.into_iter().map(|(name, _)| name)
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, case)| case)
    }

    /// From a variant's name, which is in `PascalCase`.
    fn variant(self, name: &str) -> String {
        let snake = || {
            let mut snake = String::new();
            for (index, c) in name.char_indices() {
                if index > 0 && c.is_uppercase() {
                    snake.push('_');
                }
                snake.push(c.to_ascii_lowercase());
            }
            snake
        };
        match self {
            Self::Pascal => name.to_owned(),
            Self::Lower => name.to_ascii_lowercase(),
            Self::Upper => name.to_ascii_uppercase(),
            Self::Camel => lower_first(name),
            Self::Snake => snake(),
            Self::ScreamingSnake => snake().to_ascii_uppercase(),
            Self::Kebab => snake().replace('_', "-"),
            Self::ScreamingKebab => snake().to_ascii_uppercase().replace('_', "-"),
        }
    }

    /// From a field's name, which is in `snake_case`.
    fn field(self, name: &str) -> String {
        let pascal = || {
            let mut capitalize = true;
            let mut pascal = String::new();
            for c in name.chars() {
                match c {
                    '_' => capitalize = true,
                    c if capitalize => {
                        pascal.push(c.to_ascii_uppercase());
                        capitalize = false;
                    }
                    c => pascal.push(c),
                }
            }
            pascal
        };
        match self {
            Self::Lower | Self::Snake => name.to_owned(),
            Self::Upper | Self::ScreamingSnake => name.to_ascii_uppercase(),
            Self::Pascal => pascal(),
            Self::Camel => lower_first(&pascal()),
            Self::Kebab => name.replace('_', "-"),
            Self::ScreamingKebab => name.to_ascii_uppercase().replace('_', "-"),
        }
    }
}

fn lower_first(name: &str) -> String {
    let mut chars = name.chars();
    chars.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(chars).collect()
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::{Case, SerdeAttributes};

    #[test]
    fn serdes_rules() {
        for (rule, field, variant) in [
            ("lowercase", "very_tasty", "verytasty"),
            ("UPPERCASE", "VERY_TASTY", "VERYTASTY"),
            ("PascalCase", "VeryTasty", "VeryTasty"),
            ("camelCase", "veryTasty", "veryTasty"),
            ("snake_case", "very_tasty", "very_tasty"),
            ("SCREAMING_SNAKE_CASE", "VERY_TASTY", "VERY_TASTY"),
            ("kebab-case", "very-tasty", "very-tasty"),
            ("SCREAMING-KEBAB-CASE", "VERY-TASTY", "VERY-TASTY"),
        ] {
            let case = Case::named(rule).unwrap();
            assert_eq!((case.field("very_tasty"), case.variant("VeryTasty")), (field.into(), variant.into()));
        }
        assert_eq!(Case::named("Title Case"), None);
    }

    #[test]
    fn the_way_in_counts() {
        let read = SerdeAttributes::read(&[
            parse_quote!(#[serde(default = "x::y", rename(serialize = "out", deserialize = "in"), flatten)]),
            parse_quote!(#[serde(bound(deserialize = "T: X"), skip_serializing_if = "Option::is_none", skip)]),
            parse_quote!(#[schemars(title = "no", extend("rename" = {"x": 1}))]),
        ]);
        assert_eq!(read.field(&parse_quote!(a), None), "in");
        assert!(read.flatten && read.skip);
        let told = SerdeAttributes::read(&[
            parse_quote!(#[schemars(rename = "told", skip)]),
            parse_quote!(#[serde(rename = "read", alias = "told")]),
        ]);
        assert_eq!((&*told.field(&parse_quote!(a), None), told.skip), ("told", false));
        let only_out = SerdeAttributes::read(&[parse_quote!(#[serde(rename(serialize = "out"))])]);
        assert_eq!(only_out.field(&parse_quote!(r#type), Some(Case::Upper)), "TYPE");
    }
}
