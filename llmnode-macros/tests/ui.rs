//! What the compiler says, pinned on the one toolchain that the root Cargo.toml names.

#![expect(clippy::expect_used, reason = "a test")]

use std::path::Path;
use std::process::Command;
use std::str::FromStr;

use proc_macro2::{TokenStream, TokenTree};

/// `ui-tests` of the root Cargo.toml.
fn pinned() -> &'static str {
    include_str!("../../Cargo.toml")
        .lines()
        .find_map(|line| line.strip_prefix("ui-tests = \"")?.strip_suffix('"'))
        .expect("Cargo.toml names the toolchain of the UI tests")
}

fn running() -> String {
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let version = Command::new(rustc)
        .arg("--version")
        .output()
        .expect("rustc tells its version")
        .stdout;
    String::from_utf8_lossy(&version)
        .split(' ')
        .nth(1)
        .unwrap_or_default()
        .to_owned()
}

#[test]
fn ui() {
    let (pinned, running) = (pinned(), running());
    if pinned != running {
        assert!(
            std::env::var_os("CI").is_none(),
            "the UI tests need rustc {pinned}, and this is {running}"
        );
        println!("UI tests skipped: they need rustc {pinned}, and this is {running}");
        return;
    }
    // One byte more than a prompt file may have.
    std::fs::write("tests/ui/file/prompts/large.md", " ".repeat((1 << 20) + 1))
        .expect("a file is written");
    trybuild::TestCases::new().compile_fail("tests/ui/*/*.rs");
}

/// No output quotes the standard library, whose sources are not installed everywhere.
#[test]
fn outputs_do_not_depend_on_rust_src() {
    files(Path::new("tests/ui"), "stderr", &mut |text| {
        assert!(!text.contains("$RUST"), "{text}")
    });
}

/// Every message of the macros occurs in an output that is pinned.
#[test]
fn every_message_is_pinned() {
    let mut outputs = String::new();
    files(Path::new("tests/ui"), "stderr", &mut |text| {
        outputs.push_str(&text)
    });
    let mut messages = vec![];
    files(Path::new("src"), "rs", &mut |text| {
        let tokens = TokenStream::from_str(&text).expect("the sources of the macros lex");
        literals(tokens, &mut messages);
    });
    assert!(messages.len() > 50, "messages are found");
    messages.retain(|message| !occurs(message, &outputs));
    assert!(messages.is_empty(), "in no output: {messages:#?}");
}

/// Hands on what each file of that extension holds, of tests of the sources excepted.
fn files(folder: &Path, extension: &str, take: &mut impl FnMut(String)) {
    for entry in std::fs::read_dir(folder).expect("a folder of the crate") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, extension, take);
        } else if path.ends_with("template_tests.rs") {
            // Tests.
        } else if path.extension().is_some_and(|found| found == extension) {
            take(std::fs::read_to_string(&path).expect("a text"));
        }
    }
}

/// The string literals that are sentences, outside of attributes and tests.
fn literals(tokens: TokenStream, found: &mut Vec<String>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Punct(hash) if hash.as_char() == '#' => {
                tokens.next_if(|token| token.to_string() == "!");
                let attribute = tokens
                    .next()
                    .map(|group| group.to_string())
                    .unwrap_or_default();
                let attribute = attribute.replace(' ', "");
                // The UI tests have all features of the macros.
                if attribute == "[cfg(test)]" || attribute.starts_with("[cfg(not(feature") {
                    // A module: skipped up to its end.
                    tokens.find(|token| {
                        matches!(token, TokenTree::Group(_)) || token.to_string() == ";"
                    });
                }
            }
            TokenTree::Group(group) => literals(group.stream(), found),
            TokenTree::Literal(literal) => {
                if let Ok(text) = syn::parse_str::<syn::LitStr>(&literal.to_string())
                    && text.value().split(' ').count() > 3
                {
                    found.push(text.value());
                }
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
}

/// Whether a line of output has the texts between a message's placeholders, in order.
fn occurs(message: &str, outputs: &str) -> bool {
    let fixed = message.replace("{{", "\u{1}").replace("}}", "\u{2}");
    let parts: Vec<String> = fixed
        .split(['{', '}'])
        .step_by(2)
        .map(|part| part.replace('\u{1}', "{").replace('\u{2}', "}"))
        .collect();
    outputs.lines().any(|line| {
        let mut rest = line;
        parts.iter().all(
            |part| match rest.find(part.lines().next().unwrap_or_default()) {
                Some(at) => {
                    rest = &rest[at..];
                    true
                }
                None => false,
            },
        )
    })
}
