//! Names that cannot be guessed.

use std::fmt::Write;
use std::io;

use subtle::ConstantTimeEq;

/// Only known to the person who started the server: it is in the URL's fragment,
/// which browsers do not send.
pub(crate) struct Key(String);

impl Key {
    pub(crate) fn random() -> io::Result<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        let mut text = String::new();
        for byte in bytes {
            let _ = write!(text, "{byte:02x}");
        }
        Ok(Key(text))
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    pub(crate) fn is(&self, other: &[u8]) -> bool {
        self.0.as_bytes().ct_eq(other).into()
    }
}
