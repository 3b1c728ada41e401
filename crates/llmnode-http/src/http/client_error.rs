//! Errors of connections.
//!
//! Two questions are asked of them later: was anything sent (then a repeated
//! request may do things twice), and was it too slow? Everything else is text for a
//! person, of which the innermost cause says most.

use std::error::Error;
use std::fmt;
use std::io;

use tokio::time::error::Elapsed;

pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

/// Why a request got no response, or its response no end.
#[derive(Debug)]
pub struct ClientError {
    error: BoxError,
    is_timeout: bool,
    is_unsent: bool,
}

impl ClientError {
    pub(crate) fn of_pool(error: hyper_util::client::legacy::Error) -> ClientError {
        ClientError::from(BoxError::from(error))
    }

    /// Without the URL, which may have a key.
    #[cfg(feature = "http-client")]
    pub(crate) fn of_reqwest(error: reqwest::Error) -> ClientError {
        let is_timeout = error.is_timeout();
        ClientError {
            error: error.without_url().into(),
            is_timeout,
            is_unsent: false,
        }
    }

    /// Marks a request of which nothing was sent.
    pub(crate) fn unsent(self) -> ClientError {
        ClientError {
            is_unsent: true,
            ..self
        }
    }

    /// Whether nothing of the request was sent, so that it cannot have done
    /// anything. `false`: unknown.
    pub fn is_unsent(&self) -> bool {
        self.is_unsent
    }

    /// Whether it took too long.
    pub fn is_timeout(&self) -> bool {
        self.is_timeout
    }

    pub(crate) fn causes(&self) -> impl Iterator<Item = &(dyn Error + 'static)> {
        chain(&*self.error)
    }

    /// The innermost error is the most specific.
    pub fn cause(&self) -> String {
        self.causes()
            .last()
            .map_or_else(String::new, ToString::to_string)
    }
}

impl From<BoxError> for ClientError {
    fn from(error: BoxError) -> ClientError {
        let is_timeout = chain(&*error).any(|error| {
            error.is::<Elapsed>()
                || error
                    .downcast_ref()
                    .is_some_and(|error: &io::Error| error.kind() == io::ErrorKind::TimedOut)
        });
        ClientError {
            error,
            is_timeout,
            is_unsent: false,
        }
    }
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl Error for ClientError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

/// The `source` of an I/O error skips the error that it wraps.
fn chain<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| {
        let error: &'e (dyn Error + 'static) = *error;
        let wrapped = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        wrapped
            .map(|inner| inner as &(dyn Error + 'static))
            .or_else(|| error.source())
    })
}
