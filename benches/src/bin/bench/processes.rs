//! The processes that are measured: the server on the first core, what is measured on the second, where `taskset`
//! can do that.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;

static CAN_PIN: LazyLock<bool> = LazyLock::new(|| {
    let tried = Command::new("taskset")
        .args(["-c", "0,1", "true"])
        .stderr(Stdio::null())
        .status();
    let pins = tried.is_ok_and(|status| status.success());
    if !pins {
        eprintln!(
            "server and client are not pinned to cores of their own: no `taskset`, or one core"
        );
    }
    pins
});

fn pinned(core: &str, program: &str) -> Command {
    let program = std::env::current_exe().unwrap().with_file_name(program);
    if !*CAN_PIN {
        return Command::new(program);
    }
    let mut command = Command::new("taskset");
    command.args(["-c", core]).arg(program);
    command
}

/// Runs a program that prints lines of a name and a value.
pub fn measure(program: &str, arguments: &[&str]) -> BTreeMap<String, f64> {
    let output = pinned("1", program)
        .args(arguments)
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(output.status.success(), "{program} {arguments:?} failed");
    let text = String::from_utf8(output.stdout).unwrap();
    let value = |line: &str| {
        let (name, value) = line.split_once(' ')?;
        Some((name.to_owned(), value.parse().ok()?))
    };
    text.lines()
        .map(|line| value(line).unwrap_or_else(|| panic!("{program} printed {line:?}")))
        .collect()
}

/// A server of its own process, until it is dropped.
pub struct Server {
    child: Child,
    pub address: String,
}

impl Server {
    pub fn start(delay_ms: u64) -> Server {
        let mut command = pinned("0", "server");
        let mut child = command
            .arg(delay_ms.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap())
            .read_line(&mut address)
            .unwrap();
        Server {
            child,
            address: address.trim().to_owned(),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
