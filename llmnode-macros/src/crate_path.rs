//! Where generated code finds the `llmnode` crate.
//!
//! Generated code cannot write `::llmnode`: the user may have renamed the crate in
//! the manifest, and a macro of another crate may use ours without its users
//! depending on it. So the path is, in this order, the argument `crate = ..`, the
//! name in the manifest of the package that is compiled (`manifest.rs`), or
//! `::llmnode`.
//!
//! All that generated code needs is in the module `__private` of the facade, under
//! one name that cannot be written by a user: `__llmnode`, with the hygiene of the
//! macro (`private`, `scope`).

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::parse::ParseStream;
use syn::{Error, Path};

use crate::literals::unexpected;
use crate::macro_args::{Slot, fill, fill_readable, value};
use crate::manifest;

/// The argument wins, since whoever writes it knows better than the manifest.
pub(crate) fn resolve(argument: &Slot<Path>) -> Path {
    value(argument).cloned().unwrap_or_else(of_dependency)
}

/// The path of an argument `crate = …`, before the arguments are read.
pub(crate) fn written(arguments: &TokenStream) -> Path {
    // By tokens alone: the arguments may have faults that are not reported yet.
    // Skips `crate` and `=`, and takes all before the next comma.
    let mut tokens = arguments
        .clone()
        .into_iter()
        .skip_while(|token| token.to_string() != "crate")
        .skip(2);
    let path: TokenStream = tokens
        .by_ref()
        .take_while(|token| token.to_string() != ",")
        .collect();
    syn::parse2(path).unwrap_or_else(|_| of_dependency())
}

/// The crate by the name that the manifest gives it.
pub(crate) fn of_dependency() -> Path {
    let name = manifest::name_of_dependency();
    syn::parse_str(&format!("::{name}")).unwrap_or_else(|_| syn::parse_quote!(::llmnode))
}

/// The name of the module in generated code. `mixed_site` makes it invisible to the
/// user's own tokens, so that no name of the program is shadowed by it.
pub(crate) fn private() -> Ident {
    Ident::new("__llmnode", Span::mixed_site())
}

/// A path into `__private` as a text, for attributes of derives that take one.
pub(crate) fn private_path(krate: &Path, name: &str) -> String {
    let path = quote!(#krate::__private).to_string().replace(' ', "");
    format!("{path}::{name}")
}

/// Impls in an anonymous constant: what they import is in no other scope, and the
/// impls themselves are global anyway.
pub(crate) fn scope(krate: &Path, impls: TokenStream) -> TokenStream {
    let private = private();
    generated! {
        const _: () = {
            use #krate::__private as #private;
            #impls
        };
    }
}

/// Must be absolute, because it is used where other names are in scope.
pub(crate) fn parse(input: ParseStream<'_>, key: Ident, slot: &mut Slot<Path>) -> syn::Result<()> {
    const WANTED: &str = "`crate` takes an absolute path";
    if input.fork().call(Path::parse_mod_style).is_err() {
        return fill(
            slot,
            key,
            Err(unexpected(input, &format!("{WANTED}, such as `::llmnode`"))),
        );
    }
    let path = input.call(Path::parse_mod_style)?;
    // The names of the path without its keywords: `crate::a` has one of each, `::a`
    // has no keyword.
    let names: Vec<_> = path
        .segments
        .iter()
        .map(|segment| &segment.ident)
        .filter(|name| is_name(name))
        .collect();
    let begins = path.leading_colon.is_some()
        || path
            .segments
            .first()
            .is_some_and(|first| first.ident == "crate");
    // One keyword is right in `crate::a`, none in `::a`. Anything else, such as
    // `self::a` or `a::b`, depends on where it stands.
    let keywords = path.segments.len() - names.len();
    if begins && keywords == usize::from(path.leading_colon.is_none()) {
        return fill(slot, key, Ok(path));
    }
    let message = match &names[..] {
        [] => format!("{WANTED}, such as `::llmnode`"),
        names => {
            let written = quote!(#(#names)::*).to_string().replace(' ', "");
            format!("{WANTED}; write `::{written}` or `crate::{written}`")
        }
    };
    // Assume a dependency of that name, so that the path is the only error.
    let value = (keywords == 0).then(|| syn::parse_quote!(::#(#names)::*));
    fill_readable(slot, key, (value, Err(Error::new_spanned(&path, message))))
}

/// Whether the segment is a name and no keyword of paths.
fn is_name(segment: &Ident) -> bool {
    !["self", "super", "Self", "crate"]
        .iter()
        .any(|keyword| segment == keyword)
}

#[cfg(test)]
mod tests {
    use syn::parse::Parser;

    use super::{Ident, ParseStream, Span, parse, value};

    /// The path that is used, and the error.
    fn read(written: &str) -> (Option<String>, Option<String>) {
        let mut slot = None;
        let key = Ident::new("key", Span::call_site());
        let parser = |input: ParseStream<'_>| Ok(parse(input, key.clone(), &mut slot));
        let said = parser
            .parse_str(written)
            .unwrap()
            .err()
            .map(|error| error.to_string());
        (
            value(&slot).map(|path| quote::quote!(#path).to_string().replace(' ', "")),
            said,
        )
    }

    #[test]
    fn paths() {
        for path in ["::llmnode", "::a::b", "crate", "crate::a"] {
            assert_eq!(read(path), (Some(path.to_owned()), None));
        }
        for (path, used, said) in [
            ("a::b", Some("::a::b"), "; write `::a::b` or `crate::a::b`"),
            ("self::a", None, "; write `::a` or `crate::a`"),
            ("Self::a", None, "; write `::a` or `crate::a`"),
            ("crate::super::a", None, "; write `::a` or `crate::a`"),
            ("::crate::a", None, "; write `::a` or `crate::a`"),
            ("super", None, ", such as `::llmnode`"),
            ("::self", None, ", such as `::llmnode`"),
        ] {
            let said = format!("`crate` takes an absolute path{said}");
            assert_eq!(read(path), (used.map(str::to_owned), Some(said)), "{path}");
        }
    }
}
