//! What holds of the macros whatever they are given. The tests here hold them against random input, and so do the
//! fuzz targets in `fuzz/`, which include these modules.

pub(crate) mod expansion;
pub(crate) mod flows;
pub(crate) mod literal;
pub(crate) mod prompt;

/// What does not hold, in words.
pub(crate) type Held = Result<(), String>;

#[cfg(test)]
mod tests;
