//! Tools of MCP servers, for agents; use it through the `llmnode` crate.
//!
//! A server is a program that other people wrote. Its output is data: its tools are
//! named, cleaned and capped here, its hints decide nothing, and its child process
//! sees six variables of the environment and no key.

#![warn(clippy::print_stderr, clippy::print_stdout)]

mod asks;
mod clean;
mod connection;
mod events;
mod failure;
mod http_client;
mod message;
mod process;
mod reply;
mod secret;
mod server;
mod tool_list;
mod unanswered;

pub use server::{Mcp, McpServer};
