//! Durations in arguments: `500ms`, `1.5s`, `2m`, and ranges of them.
//!
//! syn reads `500ms` as a number with the suffix `ms`, so times need no quotes.
//! They are kept as whole milliseconds: nothing in a call depends on less, and they
//! compare without rounding.

use proc_macro2::{Ident, Literal, TokenStream};
use syn::parse::ParseStream;
use syn::{Error, Lit, RangeLimits, Token};

/// Each in milliseconds.
const UNITS: [(&str, f64); 4] = [("ms", 1.0), ("s", 1e3), ("m", 60e3), ("h", 3600e3)];

/// Milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Time(u64);

impl Time {
    /// Up to what may follow: a range of waits has a second one.
    pub(crate) fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if !input.peek(Lit) {
            return Err(input.error(TIME_SYNTAX));
        }
        let literal: Lit = input.parse()?;
        Self::read(&literal).map_err(|message| Error::new(literal.span(), message))
    }

    /// For arguments that are one time and no wait.
    pub(crate) fn parse_single(input: ParseStream<'_>) -> syn::Result<Self> {
        let time = Self::parse(input)?;
        if input.peek(Token![..]) {
            return Err(input.error("expected one time, found a range"));
        }
        Ok(time)
    }

    /// A deadline of 0 would end every call before it began.
    pub(crate) fn parse_above_zero(input: ParseStream<'_>, key: &Ident) -> syn::Result<Self> {
        let at = input.span();
        let time = Self::parse_single(input)?;
        if time.0 == 0 {
            return Err(Error::new(at, format!("`{key}` must be more than 0")));
        }
        Ok(time)
    }

    /// A product of decimals may miss a whole number by its last bit.
    fn read(literal: &Lit) -> Result<Self, String> {
        let (digits, unit) = match literal {
            Lit::Int(number) => (number.base10_digits(), number.suffix()),
            Lit::Float(number) => (number.base10_digits(), number.suffix()),
            _ => return Err(TIME_SYNTAX.to_owned()),
        };
        let Some((_, factor)) = UNITS.iter().find(|(name, _)| *name == unit) else {
            return Err(match unit {
                "" => format!("`{digits}` has no unit; {TIME_SYNTAX}"),
                _ => format!("unknown unit `{unit}`; {TIME_SYNTAX}"),
            });
        };
        let milliseconds = digits.parse::<f64>().map_err(|_| TIME_SYNTAX.to_owned())? * factor;
        if milliseconds < 0.0 {
            return Err("a time must be 0 or more".to_owned());
        }
        if milliseconds > MAX_MILLISECONDS {
            return Err("a time must be at most a year".to_owned());
        }
        if (milliseconds - milliseconds.round()).abs() > 1e-6 {
            return Err("a time must be a whole number of milliseconds".to_owned());
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 0 to a year"
        )]
        Ok(Self(milliseconds.round() as u64))
    }

    pub(crate) fn is_zero(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn emit(self) -> TokenStream {
        let milliseconds = Literal::u64_unsuffixed(self.0);
        generated!(::core::time::Duration::from_millis(#milliseconds))
    }
}

const TIME_SYNTAX: &str = "a time is written `500ms`, `10s`, `1.5s`, `2m` or `1h`";
const MAX_MILLISECONDS: f64 = 365.0 * 24.0 * 3600e3;

/// `10s`, or `1s..60s`.
/// A fixed time, or one that doubles from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wait {
    pub(crate) from: Time,
    pub(crate) to: Time,
}

impl Wait {
    pub(crate) fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let start = input.span();
        if input.peek(Token![..]) {
            return Err(input.error(RANGE_SYNTAX));
        }
        let from = Time::parse(input)?;
        if input.peek(Token![-]) {
            return Err(input.error(RANGE_SYNTAX));
        }
        if !input.peek(Token![..]) {
            return Ok(Self { from, to: from });
        }
        // `1s..=60s` is refused, so that there is one way to write it.
        let dots: RangeLimits = input.parse().map_err(|_| input.error(RANGE_SYNTAX))?;
        if input.is_empty() || input.peek(Token![,]) || matches!(dots, RangeLimits::Closed(_)) {
            return Err(Error::new_spanned(dots, RANGE_SYNTAX));
        }
        let end = input.span();
        let to = Time::parse(input)?;
        if from.is_zero() {
            return Err(Error::new(
                start,
                "a wait that doubles from 0 stays 0; begin with more, such as `1s..60s`",
            ));
        }
        if to < from {
            return Err(Error::new(
                end,
                "a range of waits goes up; write the shorter time first",
            ));
        }
        Ok(Self { from, to })
    }

    pub(crate) fn emit(self, private: &Ident) -> TokenStream {
        let from = self.from.emit();
        let to = self.to.emit();
        if self.from == self.to {
            generated!(#private::Backoff::fixed(#from))
        } else {
            generated!(#private::Backoff::growing(#from, #to))
        }
    }
}

const RANGE_SYNTAX: &str = "a range of waits is written `1s..60s`";

#[cfg(test)]
mod tests {
    use syn::parse::Parser;

    use super::{Time, Wait};

    fn time(text: &str) -> Result<u64, String> {
        Time::parse
            .parse_str(text)
            .map(|time| time.0)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn times() {
        for (text, milliseconds) in [
            ("500ms", 500),
            ("10s", 10_000),
            ("1.5s", 1500),
            ("1.1s", 1100),
            ("2m", 120_000),
            ("1h", 3_600_000),
            ("1_000ms", 1000),
            ("0s", 0),
        ] {
            assert_eq!(time(text), Ok(milliseconds), "{text}");
        }
    }

    #[test]
    fn what_is_no_time() {
        for (text, said) in [
            ("10", "`10` has no unit"),
            ("10sec", "unknown unit `sec`"),
            ("\"10s\"", "a time is written"),
            ("-10s", "0 or more"),
            ("soon", "a time is written"),
            ("0.0001s", "a whole number of milliseconds"),
            ("9000h", "at most a year"),
            ("1e300s", "at most a year"),
        ] {
            let error = time(text).unwrap_err();
            assert!(error.contains(said), "{text}: {error}");
        }
    }

    #[test]
    fn waits() {
        let wait = |text: &str| {
            Wait::parse
                .parse_str(text)
                .map(|wait| (wait.from.0, wait.to.0))
        };
        assert_eq!(wait("10s").unwrap(), (10_000, 10_000));
        assert_eq!(wait("1s..60s").unwrap(), (1000, 60_000));
        assert_eq!(wait("1.5s..2m").unwrap(), (1500, 120_000));
        assert_eq!(wait("0s").unwrap(), (0, 0));
        for text in [
            "60s..1s", "0s..1s", "1s..=2s", "1s...2s", "1s..", "..1s", "1..2s", "1s..2", "1s-60s",
        ] {
            let error = wait(text).unwrap_err().to_string();
            assert!(!error.starts_with("expected"), "{text}: {error}");
        }
    }
}
