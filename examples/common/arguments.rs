//! What an example is given on its command line.
//!
//! An example says what it takes in the form that people read: `[QUESTION] [--page FILE]`. What it is given is checked against that
//! before anything else, and what it does not take ends it with these words, so that a slip is no question to a model.

#![allow(dead_code, reason = "each example uses a part")]

/// What was given: values in their order, and options by their names.
#[derive(Debug, PartialEq)]
pub(crate) struct Arguments {
    values: Vec<String>,
    options: Vec<(String, String)>,
}

impl Arguments {
    /// `usage` has each argument in brackets, or without them if it must be there; a word in small letters stands for itself.
    pub(crate) fn read(usage: &str) -> Arguments {
        match Arguments::parse(usage, std::env::args().skip(1)) {
            Ok(arguments) => arguments,
            Err(fault) => {
                eprintln!("{fault}");
                std::process::exit(1);
            }
        }
    }

    fn parse(usage: &str, given: impl IntoIterator<Item = String>) -> Result<Arguments, String> {
        let forms: Vec<&str> = usage
            .split(['[', ']'])
            .map(str::trim)
            .filter(|form| !form.is_empty())
            .collect();
        let values: Vec<&str> = forms
            .iter()
            .copied()
            .filter(|form| !form.starts_with("--"))
            .collect();
        let fits = |index: usize, value: &str| {
            values
                .get(index)
                .is_some_and(|form| form.contains(char::is_uppercase) || *form == value)
        };
        let takes = if usage.is_empty() {
            "it takes none".to_owned()
        } else {
            format!("it takes {usage}")
        };
        let mut arguments = Arguments {
            values: Vec::new(),
            options: Vec::new(),
        };
        let mut given = given.into_iter();
        while let Some(argument) = given.next() {
            let name = |form: &str| form.split(' ').next() == Some(argument.as_str());
            match forms
                .iter()
                .find(|form| argument.starts_with("--") && name(form))
            {
                Some(form) if form.contains(' ') => {
                    let value = given
                        .next()
                        .ok_or(format!("{argument} needs a value; {takes}"))?;
                    arguments.options.push((argument, value));
                }
                Some(_) => arguments.options.push((argument, String::new())),
                None if !argument.starts_with("--") && fits(arguments.values.len(), &argument) => {
                    arguments.values.push(argument);
                }
                None => {
                    return Err(format!(
                        "{argument:?} is no argument of this example; {takes}"
                    ));
                }
            }
        }
        let least = usage
            .split_whitespace()
            .next()
            .filter(|word| !word.starts_with('['));
        match least {
            Some(name) if arguments.values.is_empty() => Err(format!("{name} is missing; {takes}")),
            _ => Ok(arguments),
        }
    }

    pub(crate) fn value(&self, index: usize) -> Option<&str> {
        self.values.get(index).map(String::as_str)
    }

    /// The value of an option; of one without a value an empty text.
    pub(crate) fn option(&self, name: &str) -> Option<&str> {
        self.options
            .iter()
            .find(|(option, _)| option == name)
            .map(|(_, value)| value.as_str())
    }
}
