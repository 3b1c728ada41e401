//! A guard for tests: requests to real models cost money and fail by chance.

use std::panic::Location;
use std::sync::OnceLock;

const VARIABLE: &str = "LLMNODE_FORBID_REQUESTS";

/// The caller that forbade requests to other machines.
static REAL: OnceLock<String> = OnceLock::new();
/// The caller that forbade all requests.
static ALL: OnceLock<String> = OnceLock::new();

/// Forbids every request of `OpenAi` that leaves this machine, in the whole process
/// and until its end. Such a request is a `config_error` before anything is
/// connected or sent. Servers on loopback, such as a `StubServer`, stay allowed.
///
/// Tests of one process run concurrently, so nothing takes this back. To cover all tests, set
/// `LLMNODE_FORBID_REQUESTS=1` when they run.
///
/// It does not see models that are not `OpenAi`, nor the proxies of a custom HTTP client.
///
/// ```
/// # use llmnode_model as llmnode;
/// llmnode::testing::forbid_requests();
/// ```
#[track_caller]
pub fn forbid_requests() {
    let caller = Location::caller();
    REAL.get_or_init(|| called("forbid_requests", caller));
}

/// Like [`forbid_requests`], but forbids servers on loopback too.
#[track_caller]
pub fn forbid_all_requests() {
    let caller = Location::caller();
    ALL.get_or_init(|| called("forbid_all_requests", caller));
}

fn called(function: &str, caller: &Location<'_>) -> String {
    format!("`testing::{function}()`, called at {caller}")
}

/// Whether a request may be made. `Err`: who forbids it. `local`: it stays on this machine.
pub fn check(local: bool, host: impl FnOnce() -> String) -> Result<(), String> {
    static ENVIRONMENT: OnceLock<Option<String>> = OnceLock::new();
    let environment = ENVIRONMENT.get_or_init(|| variable(VARIABLE)).as_deref();
    let of_environment = |all: bool| {
        environment
            .map(|value| format!("{VARIABLE}={value}"))
            .filter(|_| all || !local)
    };
    let all = environment == Some("all");
    let who = ALL
        .get()
        .cloned()
        .or_else(|| REAL.get().filter(|_| !local).cloned());
    match who.or_else(|| of_environment(all)) {
        None => Ok(()),
        Some(who) => Err(format!(
            "a request to {} is forbidden in this process by {who}; answer it with a \
             `ScriptedModel`, an `FnModel`{}",
            host(),
            if local {
                ""
            } else {
                " or a `StubServer` on loopback"
            },
        )),
    }
}

fn variable(name: &str) -> Option<String> {
    let value = std::env::var_os(name)?
        .to_string_lossy()
        .trim()
        .to_ascii_lowercase();
    Some(value).filter(|value| !matches!(value.as_str(), "" | "0" | "false"))
}
