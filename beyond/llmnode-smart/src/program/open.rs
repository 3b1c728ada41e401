//! Opens and saves files of programs.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use llmnode_runtime::internal::files::write_atomically;
use serde_json::Value;

use super::check::DemoCheck;
use super::plan::Plan;
use super::{ProgramError, dspy, format};
use crate::signature::Signature;

const MAX_FILE_BYTES: u64 = 1 << 20;

pub(super) fn open(
    path: &Path,
    predictor: Option<&str>,
    signature: &Signature,
    typed: &DemoCheck,
) -> Result<Plan, ProgramError> {
    bytes(path)
        .and_then(|bytes| parse(&bytes, predictor, signature, typed))
        .map_err(|error| error.at(path))
}

fn bytes(path: &Path) -> Result<Vec<u8>, ProgramError> {
    if path.is_dir() {
        let message = "this is a folder, as DSPy's `save_program=True` writes it: it holds a pickle, which is code; save the state instead, by `program.save(\"program.json\")`";
        return Err(ProgramError::file_error(message));
    }
    let mut bytes = Vec::new();
    File::open(path)
        .map_err(unreadable)?
        .take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    Ok(bytes)
}

fn unreadable(error: io::Error) -> ProgramError {
    ProgramError::file_error(format!("it cannot be read: {error}"))
}

pub(super) fn parse(
    bytes: &[u8],
    predictor: Option<&str>,
    signature: &Signature,
    typed: &DemoCheck,
) -> Result<Plan, ProgramError> {
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(ProgramError::file_error(
            "it is larger than 1 MiB, the most that is read",
        ));
    }
    if is_pickle(bytes) {
        let message = "this is a pickle, which is code and never loaded; save the program as JSON: `program.save(\"program.json\")`";
        return Err(ProgramError::file_error(message));
    }
    let root: Value = serde_json::from_slice(bytes)
        .map_err(|error| ProgramError::file_error(format!("it is no JSON: {error}")))?;
    match (root.get("format"), predictor) {
        (None, predictor) => dspy::read(&root, predictor, signature, typed),
        (Some(_), Some(_)) => Err(ProgramError::file_error(
            "only a program that DSPy saved has predictors; use `open` or `parse`",
        )),
        (Some(_), None) => format::read(&root, signature, typed),
    }
}

/// The mark of protocols 2 and newer, or an opcode of older ones.
fn is_pickle(bytes: &[u8]) -> bool {
    let newer = matches!(bytes, [0x80, 2..=5, ..]);
    newer || matches!(bytes, [b'(', b'd' | b'l' | b'i' | b't', ..] | [b'c', ..])
}

pub(super) fn save(path: &Path, text: &str) -> Result<(), ProgramError> {
    write_atomically(path, text.as_bytes()).map_err(|error| {
        ProgramError::file_error(format!("it cannot be written: {error}")).at(path)
    })
}
