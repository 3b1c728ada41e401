//! The format of a record in a file: a line with a checksum, a length, and JSON.

use std::io::Write;

use serde::{Deserialize, Serialize};

use super::record::Record;

pub(super) const FORMAT: &str = "llmnode/journal";
/// Raised with each change that an older reader would misread: a new kind of
/// record, or a field that it would ignore.
pub(super) const VERSION: u64 = 7;

/// Bytes of checksum and length: eight hexadecimal digits and a space each.
const FRAME: usize = 18;

/// The JSON of a line. Only the first one has `format` and `version`.
#[derive(Serialize, Deserialize)]
pub(super) struct Line<R> {
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
    /// How many lines are before it.
    n: u64,
    /// When it was first written; a rewrite keeps it.
    pub(super) unix_ms: u64,
    pub(super) record: R,
}

pub(super) fn write(n: u64, unix_ms: u64, record: &Record) -> Result<Vec<u8>, serde_json::Error> {
    let first = n == 0;
    let line = Line {
        format: first.then(|| FORMAT.to_owned()),
        version: first.then_some(VERSION),
        n,
        unix_ms,
        record,
    };
    Ok(frame(&serde_json::to_string(&line)?))
}

pub(super) fn frame(json: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(FRAME + json.len() + 1);
    // Writing to a `Vec` does not fail.
    let _ = write!(
        bytes,
        "{:08x} {:08x} ",
        crc32fast::hash(json.as_bytes()),
        json.len()
    );
    bytes.extend_from_slice(json.as_bytes());
    bytes.push(b'\n');
    bytes
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum LineContent<'b> {
    Complete(&'b str),
    /// The start of a line whose writing was cut short.
    Torn,
    Damaged(&'static str),
}

/// `line` is without its line break; `ended`: it had one.
pub(super) fn look(line: &[u8], ended: bool) -> LineContent<'_> {
    // After a crash, blocks that were never written read as zeros.
    let zeros = line.iter().rev().take_while(|byte| **byte == 0).count();
    let begin = if ended {
        line
    } else {
        &line[..line.len() - zeros]
    };
    match begin.split_at_checked(FRAME) {
        None if !ended => LineContent::Torn,
        None => LineContent::Damaged("it is too short"),
        Some((frame, json)) => match numbers(frame) {
            None => LineContent::Damaged("it does not begin with a checksum and a length"),
            Some((_, length)) if !ended && json.len() < length => LineContent::Torn,
            Some((_, length)) if json.len() != length => {
                LineContent::Damaged("its length does not match")
            }
            Some((checksum, _)) if crc32fast::hash(json) != checksum => {
                LineContent::Damaged("its checksum does not match")
            }
            Some(_) => std::str::from_utf8(json).map_or(
                LineContent::Damaged("it is not text"),
                LineContent::Complete,
            ),
        },
    }
}

pub(super) fn may_begin(bytes: &[u8]) -> bool {
    // As in `look`.
    let zeros = bytes.iter().rev().take_while(|byte| **byte == 0).count();
    let begin = &bytes[..bytes.len() - zeros];
    let json = begin.get(FRAME..).unwrap_or_default();
    is_framed(begin)
        && json
            .iter()
            .zip(begins().as_bytes())
            .all(|(is, says)| is == says)
}

fn is_framed(line: &[u8]) -> bool {
    line.iter()
        .take(FRAME)
        .enumerate()
        .all(|(at, byte)| match at {
            8 | 17 => *byte == b' ',
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        })
}

/// A damaged first line of a journal still has the frame or the format; a foreign file has neither.
pub(super) fn is_foreign(line: &[u8]) -> bool {
    let says = begins();
    !is_framed(line) && !line.windows(says.len()).any(|part| part == says.as_bytes())
}

fn begins() -> String {
    format!(r#"{{"format":"{FORMAT}""#)
}

/// `from_str_radix` alone takes signs and capital letters, which no frame has.
fn hex_number(digits: &[u8]) -> Option<u32> {
    let digits = std::str::from_utf8(digits).ok()?;
    let is_hex = digits
        .bytes()
        .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    if !is_hex {
        return None;
    }
    u32::from_str_radix(digits, 16).ok()
}

fn numbers(frame: &[u8]) -> Option<(u32, usize)> {
    let spaces = frame.get(8) == Some(&b' ') && frame.get(17) == Some(&b' ');
    let length = usize::try_from(hex_number(frame.get(9..17)?)?).ok()?;
    spaces.then_some((hex_number(frame.get(..8)?)?, length))
}

pub(super) fn read(json: &str, n: u64) -> Result<Line<Record>, String> {
    let line: Line<Record> = serde_json::from_str(json).map_err(|error| error.to_string())?;
    if line.n != n {
        return Err(format!(
            "it is record {}, where {n} is expected: lines are missing, or two programs wrote at \
             once",
            line.n
        ));
    }
    Ok(line)
}
