//! A run of an example as a page.

use std::io;

use llmnode::Recording;

/// With `-- --page run.html`, writes the page of the run to that file.
pub(crate) fn write(recording: &Recording, file: Option<&str>) -> io::Result<()> {
    match file {
        Some(file) => std::fs::write(file, recording.page()),
        None => Ok(()),
    }
}
