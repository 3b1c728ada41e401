//! The soak: very many calls over real sockets to a server of which a third of the answers are faults, some of
//! the calls dropped on the way, and then what has to hold of all of them. Ends with 1 if something does not.
//!
//! Usage: `soak [--calls N] [--in-flight N] [--faults PERCENT] [--drops PERCENT] [--seed N]`. The server and the
//! calls are processes of their own, so that nothing but the library is measured in the latter; both tell this
//! one of every request, which compares them as they come.

#![allow(clippy::expect_used, reason = "a process of a test")]

#[path = "../../../../../tests/faults/mod.rs"]
mod faulty;

mod calls;
mod draw;
mod event;
mod memory;
mod options;
mod report;
mod serve;
mod watch;

use std::error::Error;
use std::process::ExitCode;

use options::{Options, Role};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let options = Options::read(std::env::args().skip(1))?;
    match options.role {
        Role::Watch => return Ok(report::print(&options, &watch::watch(&options)?)),
        Role::Serve => serve::serve(&options)?,
        Role::Call => calls::call(&options)?,
    }
    Ok(ExitCode::SUCCESS)
}
