//! What the compiler is asked about a part, and what it says if the part is wrong.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::collect::{Comparison, LONGEST_ARRAY, Part};

/// Of a type whose parts are all described.
pub(super) const WHOLE: &str = "what this type stands in has no JSON schema; write a `Vec`, an \
                                `Option`, a map, or a tuple of at most 16";

const LONG: &str = "an array of more than 32 values has no JSON schema; write a `Vec`";

const SHARED: &str = "serde reads an `Arc` or `Rc` only with its feature `rc`; turn it on, or write \
                      what is in it, such as `String` for `Arc<str>`";

const HASHED: &str = "the keys of a `HashMap` and the values of a `HashSet` are hashed; put \
                      `#[derive(PartialEq, Eq, Hash)]` on this type (a number with fractions \
                      cannot be one)";

const ORDERED: &str = "the keys of a `BTreeMap` and the values of a `BTreeSet` are ordered; put \
                       `#[derive(PartialEq, Eq, PartialOrd, Ord)]` on this type (a number with \
                       fractions cannot be one)";

/// What is asked about one part.
pub(super) struct Question {
    /// An expression that is `true` if the part is right. `None`: it is asked together with the whole type.
    pub(super) holds: Option<TokenStream>,
    /// A statement that does not compile if it is wrong.
    pub(super) fails: TokenStream,
}

impl Question {
    pub(super) fn about(part: &Part, private: &Ident) -> Self {
        let at = part.ty().span();
        match part {
            Part::Described(ty) => Self::of_whole(quote_spanned!(at=> #private::is_part::<#ty>();)),
            Part::Foreign(ty) => {
                Self::of_whole(quote_spanned!(at=> #private::is_foreign::<#ty>();))
            }
            Part::Object(ty) => Self::of_whole(quote_spanned!(at=> #private::is_object::<#ty>();)),
            // Of an array, nobody but std can say that it is a part.
            Part::Array { length, .. } => Self::of_whole(
                quote_spanned!(at=> ::core::assert!((#length) <= #LONGEST_ARRAY, #LONG);),
            ),
            Part::Shared(ty) => {
                let holds =
                    quote!((!#private::StdProbe::<#ty>::__IS_STD || #private::READS_SHARED));
                Self::asserted(part, holds, SHARED)
            }
            // The map itself is asked: an alias of it may have other arguments.
            Part::Key { of, comparison, .. } => {
                let holds = quote! {
                    (!#private::StdProbe::<#of>::__IS_STD || #private::KeyProbe::<#of>::__IS_FOUND)
                };
                let message = match comparison {
                    Comparison::Hash => HASHED,
                    Comparison::Order => ORDERED,
                };
                Self::asserted(part, holds, message)
            }
        }
    }

    fn of_whole(fails: TokenStream) -> Self {
        Self { holds: None, fails }
    }

    /// The compiler underlines the part.
    fn asserted(part: &Part, holds: TokenStream, message: &str) -> Self {
        let at = part.ty().span();
        let fails = quote_spanned!(at=> ::core::assert!(#holds, #message););
        Self {
            holds: Some(holds),
            fails,
        }
    }
}
