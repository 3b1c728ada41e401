//! How serialized data begins: with its format and version.

use std::num::NonZeroU64;

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The JSON is of another format.
    #[error("not a {expected}: its format is {found:?}")]
    Foreign {
        /// The format to be read.
        expected: &'static str,
        /// The format that it names.
        found: String,
    },
    /// A newer llmnode wrote it.
    #[error(
        "{format} version {version} is newer than version {newest}, the newest supported by this version; use a newer one"
    )]
    Newer {
        /// Its format.
        format: &'static str,
        /// Its version.
        version: u64,
        /// The newest version that can be read.
        newest: u64,
    },
    /// The JSON is torn or malformed, or has an unknown word.
    #[error("malformed {format}: {source}")]
    Malformed {
        /// The format to be read.
        format: &'static str,
        /// The error of serde.
        source: serde_json::Error,
    },
}

/// Reads JSON that begins with its format and version. Versions count from 1; all up to `newest` can be read as `T`.
pub fn read<T: DeserializeOwned>(
    json: &str,
    format: &'static str,
    newest: u64,
) -> Result<T, FormatError> {
    #[derive(Deserialize)]
    struct Header {
        format: String,
        version: NonZeroU64,
    }
    let malformed = |source| FormatError::Malformed { format, source };
    let header: Header = serde_json::from_str(json).map_err(malformed)?;
    if header.format != format {
        return Err(FormatError::Foreign {
            expected: format,
            found: header.format,
        });
    }
    let version = header.version.get();
    if version > newest {
        return Err(FormatError::Newer {
            format,
            version,
            newest,
        });
    }
    serde_json::from_str(json).map_err(malformed)
}
