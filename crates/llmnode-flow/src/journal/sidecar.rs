//! Files beside the journal: how they are named.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

pub(super) fn path(journal: &Path, suffix: &str) -> PathBuf {
    let mut name = journal.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

#[cfg(unix)]
pub(super) fn is_same_file(path: &Path, file: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let there = fs::metadata(path)?;
    let here = file.metadata()?;
    Ok((here.dev(), here.ino()) == (there.dev(), there.ino()))
}

/// Elsewhere an open file cannot be replaced.
#[cfg(not(unix))]
pub(super) fn is_same_file(path: &Path, _: &File) -> io::Result<bool> {
    fs::metadata(path).map(|_| true)
}
