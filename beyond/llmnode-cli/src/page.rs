//! Pages of runs as files: `page`, and the option of `run`.

use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use llmnode_page::Recording;

use crate::check::read_at_most;
use crate::terminal::print;

/// A recording has texts of 64 MiB at most.
const RECORDING: u64 = 256 << 20;
/// How a page of ours begins.
const PAGE: &str = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-";

pub(crate) fn page(file: &Path, output: Option<&Path>) -> Result<bool, Box<dyn Error>> {
    let output = output.map_or_else(|| file.with_extension("html"), PathBuf::from);
    check(&output)?;
    let recording = Recording::from_json(&read_at_most(file, RECORDING)?)
        .map_err(|error| format!("{}: {error}", file.display()))?;
    write(&output, &recording)?;
    print(&output.display().to_string()).map(|()| true)
}

/// Before a run, which costs money: the page can be written there, and nothing but a page is overwritten.
pub(crate) fn check(output: &Path) -> Result<(), Box<dyn Error>> {
    match fs::symlink_metadata(output) {
        Ok(metadata) if !metadata.is_file() => {
            return Err(refused(
                output,
                "it is no regular file; name one that is not there".to_owned(),
            )
            .into());
        }
        Ok(metadata) if metadata.len() > 0 && !is_page(output) => {
            return Err(refused(
                output,
                "it is there, and is no page of a run; name another file".to_owned(),
            )
            .into());
        }
        _ => {}
    }
    let new = beside(output).map_err(|error| refused(output, error.to_string()))?;
    create(&new)
        .map_err(|error| refused(output, format!("a file cannot be made beside it: {error}")))?;
    let _ = fs::remove_file(new);
    Ok(())
}

fn is_page(file: &Path) -> bool {
    let mut begin = String::new();
    let opened =
        File::open(file).and_then(|file| file.take(PAGE.len() as u64).read_to_string(&mut begin));
    opened.is_ok() && begin == PAGE
}

/// Whole or not at all, and readable by its owner alone: it has prompts and answers.
pub(crate) fn write(output: &Path, recording: &Recording) -> Result<(), Box<dyn Error>> {
    let written = beside(output).and_then(|new| {
        let mut file = create(&new)?;
        let written = file
            .write_all(recording.page().as_bytes())
            .and_then(|()| fs::rename(&new, output));
        if written.is_err() {
            let _ = fs::remove_file(&new);
        }
        written
    });
    written.map_err(|error| format!("{} cannot be written: {error}", output.display()).into())
}

fn beside(output: &Path) -> io::Result<PathBuf> {
    let name = output
        .file_name()
        .ok_or_else(|| io::Error::other("it has no name of a file"))?;
    let name = format!(".{}.{}.new", name.to_string_lossy(), std::process::id());
    Ok(output.with_file_name(name))
}

fn create(file: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file)
}

fn refused(output: &Path, why: String) -> String {
    format!("--page {}: {why}", output.display())
}
