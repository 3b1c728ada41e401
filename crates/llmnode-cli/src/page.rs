//! `page`: the page of a recording.

use std::error::Error;
use std::path::{Path, PathBuf};

use llmnode_page::Recording;

use crate::check::{print, read};

pub(crate) fn page(file: &Path, output: Option<&Path>) -> Result<bool, Box<dyn Error>> {
    let recording =
        Recording::from_json(&read(file)?).map_err(|error| format!("{}: {error}", file.display()))?;
    let output = output.map_or_else(|| file.with_extension("html"), PathBuf::from);
    write(&output, &recording)?;
    print(&output.display().to_string()).map(|()| true)
}

pub(crate) fn write(output: &Path, recording: &Recording) -> Result<(), Box<dyn Error>> {
    std::fs::write(output, recording.page())
        .map_err(|error| format!("{} cannot be written: {error}", output.display()).into())
}
