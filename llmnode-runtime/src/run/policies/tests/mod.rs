//! `each` has what every policy does, and for whom it does nothing; `pairs` has which of two has the word where both could.
//! `wrapped_answer` is the policy that the page of the room adds, as whoever reads it would.

mod attempt;
mod each;
mod pairs;
mod wrapped_answer;
