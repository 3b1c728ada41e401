//! A short soak: docs/verification.md has the long ones.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::process::Command;

#[test]
#[cfg(target_os = "linux")]
fn ten_thousand_calls_to_a_faulty_server_are_accounted_for() {
    let soak = Command::new(env!("CARGO_BIN_EXE_soak"))
        .args(["--calls", "10000"])
        .output()
        .unwrap();
    let said = [soak.stdout, soak.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(soak.status.success(), "{}", said.concat());
}
