//! Rules for names that serde does not have. serde would report them too, but then give no impls, of which the node that has
//! the type as its output knows no better than to ask for them. So they are reported here, and replaced.

use proc_macro2::{Group, Literal, TokenStream, TokenTree};
use syn::{Attribute, Data, DeriveInput, Error, Lit, Meta};

use super::serde_names::Case;
use crate::diagnostics::{Errors, list, suggest};

/// Reports the unknown rules of the definition and its variants, and puts known ones in their place.
pub(crate) fn check(input: &mut DeriveInput, errors: &mut Errors) {
    let of_container: &[_] = match &mut input.data {
        Data::Enum(data) => {
            for variant in &mut data.variants {
                mend(&mut variant.attrs, &["rename_all"], errors);
            }
            &["rename_all", "rename_all_fields"]
        }
        // What does not belong on a struct at all is left to serde.
        Data::Struct(_) | Data::Union(_) => &["rename_all"],
    };
    mend(&mut input.attrs, of_container, errors);
}

fn mend(attributes: &mut [Attribute], keys: &[&str], errors: &mut Errors) {
    for attribute in attributes {
        if let Meta::List(list) = &mut attribute.meta
            && ["serde", "schemars"].iter().any(|owner| list.path.is_ident(owner))
        {
            list.tokens = mended(list.tokens.clone(), keys, errors);
        }
    }
}

/// The arguments, with a known rule wherever one of the keys has another: `key = "rule"`, or on one side in `key(…)`.
fn mended(arguments: TokenStream, keys: &[&str], errors: &mut Errors) -> TokenStream {
    use TokenTree::{Group as Sides, Ident, Literal as Rule, Punct};
    let is_key = |name: &proc_macro2::Ident| keys.iter().any(|key| name == key);
    let mut mended: Vec<TokenTree> = vec![];
    for token in arguments {
        mended.push(match (&mended[..], token) {
            ([.., Ident(key), Punct(equals)], Rule(rule)) if is_key(key) && equals.as_char() == '=' => {
                Rule(known(rule, errors))
            }
            ([.., Ident(key)], Sides(sides)) if is_key(key) => {
                let inside = self::mended(sides.stream(), &["serialize", "deserialize"], errors);
                let mut group = Group::new(sides.delimiter(), inside);
                group.set_span(sides.span());
                Sides(group)
            }
            (_, token) => token,
        });
    }
    mended.into_iter().collect()
}

/// The rule, or one that is known if it is not; what is no text is left to serde.
fn known(rule: Literal, errors: &mut Errors) -> Literal {
    let Lit::Str(text) = Lit::new(rule.clone()) else { return rule };
    let name = text.value();
    if Case::names().any(|known| known == name) {
        return rule;
    }
    let near = suggest(&name, Case::names());
    let proposal = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
    let rules = list(Case::names());
    let message = format!("unknown rule `{name}` for names; {proposal}serde has {rules}");
    errors.push(Error::new(text.span(), message));
    let mut replaced = Literal::string(near.unwrap_or("snake_case"));
    replaced.set_span(rule.span());
    replaced
}

#[cfg(test)]
mod tests {
    use quote::ToTokens;
    use syn::{DeriveInput, parse_quote};

    use super::check;
    use crate::diagnostics::Errors;

    /// The definition as it goes on, and how many errors it has.
    fn checked(mut input: DeriveInput) -> (String, usize) {
        let mut errors = Errors::default();
        check(&mut input, &mut errors);
        let count = errors.into_result().err().map_or(0, |error| error.into_iter().count());
        (input.into_token_stream().to_string(), count)
    }

    #[test]
    fn an_unknown_rule_is_replaced_by_the_nearest() {
        let (mended, errors) = checked(parse_quote! {
            #[serde(tag = "kind", rename_all = "snakecase", rename_all_fields(serialize = "kebab-case", deserialize = "title"))]
            enum Mood {
                #[schemars(rename_all = "CAMELCASE")]
                Good { since: u8 },
            }
        });
        let expected: DeriveInput = parse_quote! {
            #[serde(tag = "kind", rename_all = "snake_case", rename_all_fields(serialize = "kebab-case", deserialize = "snake_case"))]
            enum Mood {
                #[schemars(rename_all = "camelCase")]
                Good { since: u8 },
            }
        };
        assert_eq!((mended, errors), (expected.into_token_stream().to_string(), 3));
    }

    #[test]
    fn what_is_no_rule_of_a_definition_is_left_alone() {
        let input: DeriveInput = parse_quote! {
            #[serde(rename = "snakecase", rename_all = 1, rename_all_fields = "x", default = "rename_all")]
            #[doc(rename_all = "x")]
            #[serde]
            struct Mood {
                #[serde(rename_all = "x")]
                since: u8,
            }
        };
        assert_eq!(checked(input.clone()), (input.into_token_stream().to_string(), 0));
    }
}
