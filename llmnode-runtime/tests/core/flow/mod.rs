//! Flows, with the expansions of the macros written out.

mod by_hand;
mod side_by_side;
