//! Files that are written next to another one and replace it.

use std::fs::{self, File, Metadata, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A random name in the same folder, so that nobody can have planted a link there.
pub fn temp_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!(
        ".{:016x}.new",
        RandomState::new().hash_one(std::process::id())
    ));
    name.into()
}

/// Creates a file that must not exist; links are never followed. It gets the mode of the file `like`, and its owner and
/// group where the process may set them; without `like`, only its owner can read it. It is opened for reading and appending.
///
/// # Errors
/// A file or link of this name exists, or the file cannot be created.
pub fn create_new(path: &Path, like: Option<&Metadata>) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    if let Some(Err(error)) = like.map(|like| copy_permissions(&file, like)) {
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
pub fn copy_permissions(file: &File, like: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let is = file.metadata()?;
    if is.gid() != like.gid() {
        let _ = fchown(file, None, Some(like.gid()));
    }
    if is.uid() != like.uid() {
        let _ = fchown(file, Some(like.uid()), None);
    }
    // Permissions of the other file's group must not go to a different group.
    let group = if file.metadata()?.gid() == like.gid() {
        0o070
    } else {
        0
    };
    file.set_permissions(fs::Permissions::from_mode(like.mode() & (0o7707 | group)))
}

/// Gives a file the permissions of another one.
///
/// # Errors
/// They cannot be set.
#[cfg(not(unix))]
pub fn copy_permissions(file: &File, like: &Metadata) -> io::Result<()> {
    file.set_permissions(like.permissions())
}

/// Writes the whole file or nothing: to a new file next to it, which then replaces it, with the old one's mode. If the path
/// is a link, its target is replaced, and the link stays.
///
/// # Errors
/// The path is not a regular file, or the file cannot be written.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = match path.canonicalize() {
        Err(error) if error.kind() == ErrorKind::NotFound && !path.is_symlink() => path.to_owned(),
        real => real?,
    };
    let old = match fs::metadata(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        old => Some(old?),
    };
    if old.as_ref().is_some_and(|old| !old.is_file()) {
        return Err(io::Error::other(
            "it is not a regular file; name another one",
        ));
    }
    let beside = temp_path(&path);
    let mut file = create_new(&beside, old.as_ref())?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    // On Windows an open file cannot be renamed.
    drop(file);
    written
        .and_then(|()| fs::rename(&beside, &path))
        .inspect_err(|_| drop(fs::remove_file(&beside)))
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    struct Folder(PathBuf);

    impl Folder {
        fn new() -> Self {
            let folder = temp_path(&std::env::temp_dir().join("llmnode-files"));
            fs::create_dir(&folder).unwrap();
            Folder(folder)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn a_new_file_is_private_and_an_old_one_keeps_its_mode() {
        let folder = Folder::new();
        let path = folder.0.join("a.json");
        write_atomically(&path, b"one").unwrap();
        assert_eq!(mode(&path), 0o600);
        for kept in [0o640, 0o444, 0o600] {
            fs::set_permissions(&path, fs::Permissions::from_mode(kept)).unwrap();
            write_atomically(&path, b"two").unwrap();
            assert_eq!(
                (mode(&path), fs::read(&path).unwrap()),
                (kept, b"two".to_vec())
            );
        }
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1);
    }

    #[test]
    fn a_link_stays_and_the_file_behind_it_is_replaced() {
        let folder = Folder::new();
        let (link, real) = (folder.0.join("link.json"), folder.0.join("real.json"));
        fs::write(&real, "one").unwrap();
        symlink(&real, &link).unwrap();
        write_atomically(&link, b"two").unwrap();
        assert!(link.is_symlink() && !real.is_symlink());
        assert_eq!(fs::read(&real).unwrap(), b"two");

        // A link to nothing stays, too.
        let nothing = folder.0.join("nothing.json");
        symlink(folder.0.join("none"), &nothing).unwrap();
        assert!(write_atomically(&nothing, b"two").is_err());
        assert!(nothing.is_symlink() && !folder.0.join("none").exists());
        assert!(
            write_atomically(&folder.0, b"two")
                .unwrap_err()
                .to_string()
                .contains("not a regular file")
        );
    }

    #[test]
    fn a_new_file_is_made_through_no_link() {
        let folder = Folder::new();
        let (link, victim) = (folder.0.join("link"), folder.0.join("victim"));
        fs::write(&victim, "kept").unwrap();
        symlink(&victim, &link).unwrap();
        assert_eq!(
            create_new(&link, None).unwrap_err().kind(),
            ErrorKind::AlreadyExists
        );
        assert_eq!(fs::read(&victim).unwrap(), b"kept");
        assert_ne!(temp_path(&link), temp_path(&link));
    }
}
