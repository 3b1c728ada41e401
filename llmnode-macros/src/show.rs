//! `LLMNODE_EXPAND=ChooseItem cargo check` prints the expansion of an item to standard output, where cargo prints nothing of its
//! own, so that rustfmt reads it beside any warning.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Item, Type};

use crate::item;

const VARIABLE: &str = "LLMNODE_EXPAND";

/// Never fails the build. A crate's first expansion makes rustc track the variable, so that a new value rebuilds it.
pub(crate) fn print_if_requested(
    by: &str,
    of: Option<String>,
    expansion: TokenStream,
) -> TokenStream {
    static NOTED: AtomicBool = AtomicBool::new(false);
    let expected = std::env::var(VARIABLE).ok();
    if expected.is_none() && NOTED.load(Ordering::Relaxed) {
        return expansion;
    }
    let Some(of) = of else { return expansion };
    if expected.is_some_and(|expected| expected == "*" || expected == of) {
        let title = format!("{}: {by} {of}", call_site_location());
        print(&format!("// {title}\n{expansion}\n\n"));
    }
    if NOTED.swap(true, Ordering::Relaxed) {
        return expansion;
    }
    quote!(#expansion const _: () = { let _ = ::core::option_env!(#VARIABLE); };)
}

pub(crate) fn named(item: TokenStream) -> Option<String> {
    let ident = match item::parse(item).ok()? {
        Item::Struct(item) => item.ident,
        Item::Enum(item) => item.ident,
        Item::Union(item) => item.ident,
        Item::Impl(item) => match *item.self_ty {
            Type::Path(path) => path.path.segments.last()?.ident.clone(),
            _ => return None,
        },
        _ => return None,
    };
    Some(ident.to_string())
}

fn call_site_location() -> String {
    let at = proc_macro::Span::call_site();
    format!("{}:{}", at.file(), at.line())
}

fn print(text: &str) {
    // In one write, because other crates may print at the same time.
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use proc_macro2::TokenStream;
    use quote::quote;

    use super::named;

    /// An item on which syn would overflow the stack.
    fn deep() -> TokenStream {
        let (open, close) = ("Vec<".repeat(2000), "> ".repeat(2000));
        format!("struct Ask {{ a: {open}u8{close} }}")
            .parse()
            .unwrap()
    }

    #[test]
    fn names_of_items() {
        for (item, name) in [
            (
                quote!(
                    struct Ask<T> {
                        a: T,
                    }
                ),
                Some("Ask"),
            ),
            (
                quote!(
                    pub enum Step {
                        A,
                    }
                ),
                Some("Step"),
            ),
            (
                quote!(
                    impl<T> crate::Ask<T> {}
                ),
                Some("Ask"),
            ),
            (quote!(impl Clone for [Ask; 2] {}), None),
            (
                quote!(
                    fn ask() {}
                ),
                None,
            ),
            (quote!(struct), None),
            (deep(), None),
        ] {
            assert_eq!(named(item).as_deref(), name);
        }
    }
}
