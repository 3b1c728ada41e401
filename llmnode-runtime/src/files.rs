//! Files that are made beside another one and take its place.

use std::fs::{self, File, Metadata, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A name in the same folder that nobody can guess, so that nobody can have put a link there.
pub fn unused_name(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{:016x}.new", RandomState::new().hash_one(std::process::id())));
    name.into()
}

/// Makes a file that is not there yet; a link is never followed. It has the mode of the file `like`, and its owner and
/// group where the process may set them; without one, only its owner can read it. It is read and appended to.
///
/// # Errors
/// A file or link of this name is there, or none can be made.
pub fn create_new(path: &Path, like: Option<&Metadata>) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    if let Some(Err(error)) = like.map(|like| share(&file, like)) {
        let _ = fs::remove_file(path);
        return Err(error);
    }
    Ok(file)
}

/// Gives a file the mode, owner and group of another one.
///
/// # Errors
/// The mode cannot be set.
#[cfg(unix)]
pub fn share(file: &File, like: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let is = file.metadata()?;
    if is.gid() != like.gid() {
        let _ = fchown(file, None, Some(like.gid()));
    }
    if is.uid() != like.uid() {
        let _ = fchown(file, Some(like.uid()), None);
    }
    // What the other file's group may do is not for another group.
    let group = if file.metadata()?.gid() == like.gid() { 0o070 } else { 0 };
    file.set_permissions(fs::Permissions::from_mode(like.mode() & (0o7707 | group)))
}

/// Gives a file the permissions of another one.
///
/// # Errors
/// They cannot be set.
#[cfg(not(unix))]
pub fn share(file: &File, like: &Metadata) -> io::Result<()> {
    file.set_permissions(like.permissions())
}

/// Writes the whole file, or nothing: to a new file beside it, which then takes its place with the old one's mode. Where
/// the path is a link, the file behind it is replaced, and the link stays.
///
/// # Errors
/// There is something that is no regular file, or the file cannot be written.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = match path.canonicalize() {
        Err(error) if error.kind() == ErrorKind::NotFound && !path.is_symlink() => path.to_owned(),
        real => real?,
    };
    let old = match fs::metadata(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        old => Some(old?),
    };
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return Err(io::Error::other("it is not a regular file; name another one"));
    }
    let beside = unused_name(&path);
    let mut file = create_new(&beside, old.as_ref())?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    // Elsewhere an open file cannot be renamed.
    drop(file);
    written.and_then(|()| fs::rename(&beside, &path)).inspect_err(|_| drop(fs::remove_file(&beside)))
}
