//! What the command line says.

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// Starts the other two, and compares their reports.
    Watch,
    Serve,
    Call,
}

#[derive(Clone)]
pub(crate) struct Options {
    pub(crate) role: Role,
    pub(crate) calls: u64,
    pub(crate) in_flight: u64,
    /// Percent of requests.
    pub(crate) faults: u64,
    /// Percent of calls.
    pub(crate) drops: u64,
    pub(crate) seed: u64,
    /// Of the server, for the calling process.
    pub(crate) base_url: String,
}

impl Options {
    pub(crate) fn read(arguments: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options = Options {
            role: Role::Watch,
            calls: 100_000,
            in_flight: 64,
            faults: 30,
            drops: 3,
            seed: 1,
            base_url: String::new(),
        };
        let mut arguments = arguments;
        while let Some(name) = arguments.next() {
            match name.as_str() {
                "serve" => options.role = Role::Serve,
                "call" => options.role = Role::Call,
                _ => options.set(&name, arguments.next())?,
            }
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: Option<String>) -> Result<(), String> {
        let needs_value = format!("{name} needs a value");
        let slot = match name {
            "--calls" => &mut self.calls,
            "--in-flight" => &mut self.in_flight,
            "--faults" => &mut self.faults,
            "--drops" => &mut self.drops,
            "--seed" => &mut self.seed,
            "--base-url" => {
                self.base_url = value.ok_or(needs_value)?;
                return Ok(());
            }
            _ => {
                return Err(format!(
                    "{name} is no option: --calls, --in-flight, --faults, --drops, --seed are"
                ));
            }
        };
        let value = value.ok_or(needs_value)?;
        *slot = value
            .parse()
            .map_err(|_| format!("{name} takes a number, not {value:?}"))?;
        Ok(())
    }

    /// The same options, for a process in another role.
    pub(crate) fn arguments(&self, role: &str) -> Vec<String> {
        let Options {
            calls,
            in_flight,
            faults,
            drops,
            seed,
            ..
        } = self;
        let numbers = [
            ("--calls", calls),
            ("--in-flight", in_flight),
            ("--faults", faults),
            ("--drops", drops),
            ("--seed", seed),
        ];
        let numbers = numbers
            .into_iter()
            .flat_map(|(name, value)| [name.to_owned(), value.to_string()]);
        [role.to_owned()].into_iter().chain(numbers).collect()
    }
}
