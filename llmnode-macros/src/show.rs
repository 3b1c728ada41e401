//! `LLMNODE_EXPAND=ChooseItem cargo check` prints what the macros make of an item, on the standard error.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Item, Type};

use crate::{configured, item};

const VARIABLE: &str = "LLMNODE_EXPAND";
/// How long a formatter may take, and how much it may print.
const PATIENCE: Duration = Duration::from_secs(5);
const MOST: u64 = 1 << 24;

/// Prints an expansion if it is asked for. Whatever goes wrong with that, the build goes on.
///
/// The first one of a crate also makes rustc note that the variable was read, so that another value of it builds
/// the crate again. Once is enough, and costs no other expansion a line.
pub(crate) fn shown(by: &str, of: Option<String>, expansion: TokenStream) -> TokenStream {
    static NOTED: AtomicBool = AtomicBool::new(false);
    let wanted = std::env::var(VARIABLE).ok();
    if wanted.is_none() && NOTED.load(Ordering::Relaxed) {
        return expansion;
    }
    let Some(of) = of else { return expansion };
    if wanted.is_some_and(|wanted| wanted == "*" || wanted == of) && !configured::are_branches(&expansion) {
        let title = format!("{}: {by} {of}", place());
        print(&format!("// {title}\n{}\n\n", formatted(expansion.to_string()).trim_end()));
    }
    if NOTED.swap(true, Ordering::Relaxed) {
        return expansion;
    }
    quote!(#expansion const _: () = { let _ = ::core::option_env!(#VARIABLE); };)
}

/// The name of an item that other items can stand beside: of an impl block, its type's.
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

/// Where the attribute stands.
fn place() -> String {
    let at = proc_macro::Span::call_site();
    format!("{}:{}", at.file(), at.line())
}

fn print(text: &str) {
    // In one piece, as other crates may print at the same time.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// The code as rustfmt has it; as it is, if there is no rustfmt or it fails.
fn formatted(code: String) -> String {
    let mut rustfmt = Command::new("rustfmt");
    let text = printed(rustfmt.args(["--edition", "2024"]), code.clone(), PATIENCE);
    text.filter(|text| !text.is_empty()).unwrap_or(code)
}

/// What a program prints when it reads `input`, if it ends in time.
fn printed(program: &mut Command, input: String, patience: Duration) -> Option<String> {
    let piped = program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = piped.spawn().ok()?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    // On threads of their own: a program that neither reads nor prints must not hold up the build.
    let write = move || stdin?.write_all(input.as_bytes()).ok();
    let (send, receive) = mpsc::channel();
    let read = move || {
        let mut text = String::new();
        stdout?.take(MOST).read_to_string(&mut text).ok()?;
        send.send(text).ok()
    };
    let threads = thread::Builder::new().spawn(write).and_then(|_| thread::Builder::new().spawn(read));
    let text = threads.ok().and_then(|_| receive.recv_timeout(patience).ok());
    let _ = child.kill();
    let _ = child.wait();
    text
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::{Duration, Instant};

    use proc_macro2::TokenStream;
    use quote::quote;

    use super::{PATIENCE, formatted, named, printed};

    /// An item on which syn would overflow the stack.
    fn deep() -> TokenStream {
        let (open, close) = ("Vec<".repeat(2000), "> ".repeat(2000));
        format!("struct Ask {{ a: {open}u8{close} }}").parse().unwrap()
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

    #[test]
    fn code_is_formatted() {
        assert_eq!(formatted("struct A { a : u8 }".into()), "struct A {\n    a: u8,\n}\n");
    }

    #[test]
    fn code_that_cannot_be_formatted_stays_as_it_is() {
        assert_eq!(formatted("struct {".into()), "struct {");
        assert_eq!(printed(&mut Command::new("no-such-formatter"), String::new(), PATIENCE), None);
    }

    #[test]
    fn a_formatter_that_never_ends_is_ended() {
        let start = Instant::now();
        let much = "struct A;".repeat(100_000);
        assert_eq!(printed(Command::new("sleep").arg("600"), much, Duration::from_millis(50)), None);
        assert!(start.elapsed() < Duration::from_secs(60));
    }
}
