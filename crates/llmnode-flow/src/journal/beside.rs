//! Files beside the journal: how they are named, and who may read them.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// The journal's path with something behind its name.
pub(super) fn path(journal: &Path, suffix: &str) -> PathBuf {
    let mut name = journal.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Makes a file that is not there yet, with the mode of the journal, and its owner and group where the process may set
/// them. It is read and appended to.
pub(super) fn create(path: &Path, journal: &Metadata) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    if let Err(error) = share(&file, journal) {
        let _ = fs::remove_file(path);
        return Err(error);
    }
    Ok(file)
}

/// Gives a file the journal's mode, owner and group.
#[cfg(unix)]
pub(super) fn share(file: &File, journal: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let is = file.metadata()?;
    if is.gid() != journal.gid() {
        let _ = fchown(file, None, Some(journal.gid()));
    }
    if is.uid() != journal.uid() {
        let _ = fchown(file, Some(journal.uid()), None);
    }
    // What the journal's group may do is not for another group.
    let group = if file.metadata()?.gid() == journal.gid() { 0o070 } else { 0 };
    file.set_permissions(fs::Permissions::from_mode(journal.mode() & (0o7707 | group)))
}

#[cfg(not(unix))]
pub(super) fn share(file: &File, journal: &Metadata) -> io::Result<()> {
    file.set_permissions(journal.permissions())
}

/// Whether a path names this very file.
#[cfg(unix)]
pub(super) fn is_at(path: &Path, file: &File) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (there, here) = (fs::metadata(path)?, file.metadata()?);
    Ok((here.dev(), here.ino()) == (there.dev(), there.ino()))
}

/// Elsewhere a file that is open is not replaced by another one.
#[cfg(not(unix))]
pub(super) fn is_at(path: &Path, _: &File) -> io::Result<bool> {
    fs::metadata(path).map(|_| true)
}
