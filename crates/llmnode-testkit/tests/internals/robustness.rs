//! The macros on random input, held against `invariants`.

mod corpus;
mod mutate;
mod templates;
