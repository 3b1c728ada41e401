//! What holds of the macros whatever they are given. `robustness` holds them against random input, and so do the fuzz
//! targets in `fuzz/`, which include this module.

pub(crate) mod expansion;
pub(crate) mod flows;
pub(crate) mod literal;
pub(crate) mod prompt;

/// What does not hold, in words.
pub(crate) type Held = Result<(), String>;
