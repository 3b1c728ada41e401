//! Names that only the schema has: the model would be told to write what serde does not read.

use proc_macro2::Ident;
use syn::{Attribute, Data, DeriveInput, Error, Fields};

use super::serde_names::{Case, SerdeAttributes};
use crate::diagnostics::Errors;

/// Reports the fields and variants that schemars' attributes call otherwise than serde does.
pub(crate) fn check(input: &DeriveInput, errors: &mut Errors) {
    let container = Names::of(&input.attrs);
    if container.read.converted || container.read.transparent {
        return;
    }
    let mut check = Check { container: &input.attrs, rule_reported: false, errors };
    match &input.data {
        Data::Struct(data) => check.fields(&data.fields, container.rules(|names| names.rename_all), &[]),
        Data::Enum(data) => {
            for variant in &data.variants {
                let names = Names::of(&variant.attrs);
                if names.read.skip {
                    continue;
                }
                if !container.read.untagged && !names.read.untagged {
                    let rules = container.rules(|names| names.rename_all);
                    let read = names.read.variant(&variant.ident, rules.0);
                    let told = names.told.variant(&variant.ident, rules.1);
                    check.one(&names, &variant.attrs, &read, &told, &[]);
                }
                let outer = container.rules(|names| names.rename_all_fields);
                let own = names.rules(|names| names.rename_all);
                check.fields(&variant.fields, (own.0.or(outer.0), own.1.or(outer.1)), &variant.attrs);
            }
        }
        Data::Union(_) => {}
    }
}

/// What serde reads, and what the schema tells.
struct Names {
    read: SerdeAttributes,
    told: SerdeAttributes,
}

type Rules = (Option<Case>, Option<Case>);

impl Names {
    fn of(attributes: &[Attribute]) -> Self {
        Self { read: SerdeAttributes::of_serde(attributes), told: SerdeAttributes::read(attributes) }
    }

    fn rules(&self, rule: fn(&SerdeAttributes) -> Option<Case>) -> Rules {
        (rule(&self.read), rule(&self.told))
    }
}

struct Check<'a> {
    container: &'a [Attribute],
    /// Whether a rule for all names was reported, of which every name is a consequence.
    rule_reported: bool,
    errors: &'a mut Errors,
}

impl Check<'_> {
    fn fields(&mut self, fields: &Fields, rules: Rules, variant: &[Attribute]) {
        for field in fields {
            let Some(ident) = &field.ident else { continue };
            let names = Names::of(&field.attrs);
            if names.read.skip || names.read.flatten {
                continue;
            }
            let (read, told) = (names.read.field(ident, rules.0), names.told.field(ident, rules.1));
            self.one(&names, &field.attrs, &read, &told, variant);
        }
    }

    fn one(&mut self, names: &Names, own: &[Attribute], read: &str, told: &str, variant: &[Attribute]) {
        if read == told || names.read.aliases.iter().any(|alias| alias == told) {
            return;
        }
        let of_all = ["rename_all", "rename_all_fields"];
        let at = match of_schemars(own, &["rename"]) {
            None if self.rule_reported => return,
            None => {
                self.rule_reported = true;
                of_schemars(variant, &of_all).or_else(|| of_schemars(self.container, &of_all))
            }
            own => own,
        };
        let Some(key) = at else { return };
        let message = format!(
            "the schema tells the model to write `{told}`, and serde reads `{read}`; write `#[serde({key} = …)]` in its place, \
             which the schema follows, or add `#[serde(alias = \"{told}\")]`"
        );
        self.errors.push(Error::new(key.span(), message));
    }
}

/// The first of these keys in schemars' attributes.
fn of_schemars(attributes: &[Attribute], keys: &[&str]) -> Option<Ident> {
    let mut found = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("schemars")) {
        let _ = attribute.parse_nested_meta(|meta| {
            let key = meta.path.get_ident().filter(|key| keys.iter().any(|wanted| key == wanted));
            found = found.take().or_else(|| key.cloned());
            super::serde_names::skip_value(&meta)
        });
    }
    found
}
