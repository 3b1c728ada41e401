//! A store behind Chroma's server.
