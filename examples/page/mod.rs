//! A run of an example as a page.

use std::io;

use llmnode::Recording;

/// With `-- --page run.html`, writes the page of the run to that file.
pub(crate) fn write(recording: &Recording) -> io::Result<()> {
    match std::env::args().skip_while(|argument| argument != "--page").nth(1) {
        Some(file) => std::fs::write(file, recording.page()),
        None => Ok(()),
    }
}
