//! What the command line says.

use std::path::PathBuf;

use llmnode::{Limits, Price};

pub struct Options {
    pub input: PathBuf,
    /// `None`: standard output.
    pub output: Option<PathBuf>,
    /// The journal that keeps the answers.
    pub resume: Option<PathBuf>,
    /// The most to spend; nothing else.
    pub limits: Limits,
    pub price: Option<Price>,
}

impl Options {
    pub fn from_arguments(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut options = Options {
            input: concat!(env!("CARGO_MANIFEST_DIR"), "/../data/reviews.csv").into(),
            output: None,
            resume: None,
            limits: Limits::new(),
            price: None,
        };
        let mut files = Vec::new();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
            match &*argument {
                "--resume" => options.resume = Some(value()?.into()),
                "--money" => options.limits = Limits::new().money(number(&value()?)?),
                "--price" => options.price = Some(price(&value()?)?),
                flag if flag.starts_with("--") => return Err(format!("there is no option {flag}")),
                file => files.push(PathBuf::from(file)),
            }
        }
        let mut files = files.into_iter();
        options.input = files.next().unwrap_or(options.input);
        options.output = files.next();
        match files.next() {
            Some(file) => Err(format!("{} is one file too many", file.display())),
            None => Ok(options),
        }
    }
}

fn number(text: &str) -> Result<f64, String> {
    text.trim()
        .parse()
        .map_err(|_| format!("{text:?} is not a number"))
}

fn price(text: &str) -> Result<Price, String> {
    let (input, output) = text
        .split_once(',')
        .ok_or("--price needs two numbers, as in 2.0,8.0")?;
    Ok(Price::per_million(number(input)?, number(output)?))
}
