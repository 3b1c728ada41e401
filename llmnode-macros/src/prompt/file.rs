//! Prompt files: relative to the source file that names them, as with
//! `include_str!`, and read when the macro expands.
//!
//! A file means what a literal of the same text means: a byte order mark is not
//! text, line ends are `\n` as in Rust's literals, and the newline that editors put
//! at the end of a file is not part of the prompt.

use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use proc_macro2::Span;
use syn::{Error, LitStr};

use super::locate::position;
use crate::diagnostics::suggest;

/// A larger file is data and no prompt; reading it would slow down every build.
const MAX_BYTES: u64 = 1 << 20;

/// All errors are at the path in the attribute.
pub(crate) fn read(literal: &LitStr) -> syn::Result<String> {
    text(literal).map_err(|message| Error::new(literal.span(), message))
}

/// Absolute paths would only work on one machine.
fn text(literal: &LitStr) -> Result<String, String> {
    let written = literal.value();
    if Path::new(&written).has_root() {
        return Err(format!(
            "`{written}` is absolute; write the path relative to the source file"
        ));
    }
    let path = folder(literal.span(), &written).join(&written);
    let shown = shown(&path, &written);
    let bytes = bytes(&path, &shown)?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let valid = String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
        format!(
            "`{shown}:{}` is not UTF-8; save the file as UTF-8",
            position(&valid, valid.len())
        )
    })?;
    let text = text
        .strip_prefix('\u{feff}')
        .unwrap_or(&text)
        .replace("\r\n", "\n");
    Ok(text.strip_suffix('\n').unwrap_or(&text).to_owned())
}

/// Words of the operating system for all but the one that is frequent.
fn unread(path: &Path, shown: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => missing(path, shown),
        _ => format!("cannot read `{shown}`: {error}"),
    }
}

/// A device may never end, so it is not opened. One byte more than allowed is read,
/// to see that there is one.
fn bytes(path: &Path, shown: &str) -> Result<Vec<u8>, String> {
    if !fs::metadata(path)
        .map_err(|error| unread(path, shown, &error))?
        .is_file()
    {
        return Err(format!(
            "`{shown}` is a folder or a device; name a file of text"
        ));
    }
    let mut bytes = vec![];
    fs::File::open(path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| unread(path, shown, &error))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!(
            "`{shown}` is larger than 1 MiB; pass data to the prompt through a field"
        ));
    }
    Ok(bytes)
}

/// The nearest name in the folder, since a misspelling is the most frequent cause.
fn missing(path: &Path, shown: &str) -> String {
    let expected = path.file_name().unwrap_or_default().to_string_lossy();
    let entries = path
        .parent()
        .and_then(|folder| fs::read_dir(folder).ok())
        .into_iter()
        .flatten()
        .flatten();
    let mut names: Vec<_> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort_unstable();
    match suggest(&expected, names.iter().map(String::as_str)) {
        Some(near) => format!("the file `{shown}` does not exist; did you mean `{near}`?"),
        None => {
            format!("the file `{shown}` does not exist; the path is relative to the source file")
        }
    }
}

/// Some editors, and this crate's tests, do not know the span's file: then the
/// package's folder or its `src` is used.
fn folder(span: Span, written: &str) -> PathBuf {
    let source = proc_macro::is_available()
        .then(|| {
            span.unwrap()
                .local_file()
                .or_else(|| Span::call_site().unwrap().local_file())
        })
        .flatten();
    if let Some(folder) = source.as_deref().and_then(Path::parent) {
        return folder.to_owned();
    }
    let package = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let sources = package.join("src");
    if sources.join(written).is_file() {
        sources
    } else {
        package
    }
}

/// Relative to the package, so that messages are the same on every machine.
fn shown(path: &Path, written: &str) -> String {
    let path = normalized(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()));
    let package = path
        .ancestors()
        .skip(1)
        .find(|folder| folder.join("Cargo.toml").is_file());
    let inside = package.and_then(|package| path.strip_prefix(package).ok());
    inside.map_or_else(
        || written.to_owned(),
        |inside| inside.to_string_lossy().replace('\\', "/"),
    )
}

/// `a/../b` is `b`, without a look at the file system: a link would lead to the
/// folder of another machine.
fn normalized(path: &Path) -> PathBuf {
    let mut normalized = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                normalized.pop();
            }
            Component::CurDir => {}
            other => normalized.push(other),
        }
    }
    normalized
}
