//! `each` has what every policy does, and for whom it does nothing; `pairs` has which of two has the word where both could.

mod attempt;
mod each;
mod pairs;
