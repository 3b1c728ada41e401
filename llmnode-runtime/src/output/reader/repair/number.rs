//! Numbers.

use std::borrow::Cow;

use super::fault::Fault;
use super::scan::Scan;
use crate::flag::Repair;

impl<'t> Scan<'t, '_> {
    /// A number, with the digits that were written.
    pub(super) fn number(&mut self) -> Result<Cow<'t, str>, Fault> {
        let start = self.at;
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b'_');
        self.at += self.rest().bytes().take_while(|byte| is_part(byte)).count();
        let digits = &self.text[start..self.at];
        if is_number(digits) {
            return Ok(Cow::Borrowed(digits));
        }
        if digits.starts_with("...") {
            return self.wrong(start, "an ellipsis stands for what was left out; write all of it");
        }
        if self.at == self.text.len() {
            return self.truncated();
        }
        match mended(digits) {
            Some(number) => {
                self.repair(Repair::Number, start, "JSON does not write numbers so")?;
                Ok(Cow::Owned(number))
            }
            None if digits.trim_start_matches('-').starts_with("0x") => {
                self.wrong(start, "JSON has no numbers but decimal ones; put a string in quotes")
            }
            None if is_number(digits.trim_start_matches(['-', '0'])) => {
                self.wrong(start, "a number may not begin with 0; put a string in quotes")
            }
            None => self.wrong(start, "this is no number of JSON; put a string in quotes"),
        }
    }
}

/// Whether it is a number of JSON.
pub(super) fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let count = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let integer = count(digits);
    if integer == 0 || (integer > 1 && digits.starts_with('0')) {
        return false;
    }
    let mut rest = &digits[integer..];
    if let Some(fraction) = rest.strip_prefix('.') {
        let length = count(fraction);
        if length == 0 {
            return false;
        }
        rest = &fraction[length..];
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let length = count(exponent);
        return length > 0 && length == exponent.len();
    }
    rest.is_empty()
}

/// The number of JSON that `+1`, `.5` and `1.` mean.
fn mended(digits: &str) -> Option<String> {
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", digits.strip_prefix('+').unwrap_or(digits)),
    };
    let number = match (digits.strip_prefix('.'), digits.strip_suffix('.')) {
        (Some(fraction), None) => format!("{sign}0.{fraction}"),
        (None, Some(integer)) => format!("{sign}{integer}.0"),
        _ => format!("{sign}{digits}"),
    };
    (is_number(&number) && !digits.starts_with(['+', '-'])).then_some(number)
}
