//! What cargo calls in rustc's place: rustc, whose processor time is noted.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, exit};

use nix::sys::resource::{UsageWho, getrusage};

/// The folder that times are noted in. Set where this program is the wrapper.
pub const TIMES: &str = "LLMNODE_COMPILE_TIMES";

pub fn is_one() -> bool {
    env::var_os(TIMES).is_some()
}

/// Runs the rustc that the arguments begin with, notes its user time in microseconds, and ends as it did.
pub fn run() -> ! {
    let mut arguments = env::args_os().skip(1);
    let rustc = arguments.next().expect("cargo names rustc first");
    let status = Command::new(rustc)
        .args(arguments)
        .status()
        .expect("rustc starts");
    let user = getrusage(UsageWho::RUSAGE_CHILDREN)
        .expect("the times of children")
        .user_time();
    let name = env::args()
        .skip_while(|argument| argument != "--crate-name")
        .nth(1);
    if let (Some(folder), Some(name)) = (env::var_os(TIMES), name) {
        let micros = 1_000_000 * user.tv_sec() + user.tv_usec();
        fs::write(Path::new(&folder).join(name), micros.to_string()).expect("the time is noted");
    }
    exit(status.code().unwrap_or(1));
}
