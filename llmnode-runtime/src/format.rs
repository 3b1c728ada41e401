//! How serialised things begin: with what they are, and in which version.

use std::num::NonZeroU64;

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Why something serialised could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// It is something else.
    #[error("not a {expected}: its format is {found:?}")]
    Foreign {
        /// The format to be read.
        expected: &'static str,
        /// The format it says it has.
        found: String,
    },
    /// A newer llmnode wrote it.
    #[error(
        "{format} version {version} is newer than version {newest}, the newest that this llmnode reads; use a newer one"
    )]
    Newer {
        /// Its format.
        format: &'static str,
        /// Its version.
        version: u64,
        /// The newest version that can be read.
        newest: u64,
    },
    /// It is torn, no JSON, or not of that format's form: a word that is not known is one such fault.
    #[error("malformed {format}: {source}")]
    Malformed {
        /// The format to be read.
        format: &'static str,
        /// Where it differs.
        source: serde_json::Error,
    },
}

/// Reads JSON that begins with its format and version. Versions count from 1; all up to `newest` can be read as `T`.
pub fn read<T: DeserializeOwned>(json: &str, format: &'static str, newest: u64) -> Result<T, FormatError> {
    #[derive(Deserialize)]
    struct Header {
        format: String,
        version: NonZeroU64,
    }
    let malformed = |source| FormatError::Malformed { format, source };
    let header: Header = serde_json::from_str(json).map_err(malformed)?;
    if header.format != format {
        return Err(FormatError::Foreign { expected: format, found: header.format });
    }
    let version = header.version.get();
    if version > newest {
        return Err(FormatError::Newer { format, version, newest });
    }
    serde_json::from_str(json).map_err(malformed)
}
