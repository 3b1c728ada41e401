//! Numbers as decimal digits: as floating point, the ids of large systems would
//! equal their neighbors.
//!
//! Only compared, never computed with, but for remainders of few digits. Digits
//! that were written are borrowed, and zeros that mean nothing are left out, so
//! that equal numbers are equal in all of their parts.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

/// Exponents are clamped: nobody writes enough digits to compensate for this one.
const FAR: i64 = 1_000_000_000_000;

/// `0.digits × 10^exponent`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Decimal<'d> {
    negative: bool,
    /// Without leading and trailing zeros; empty for zero.
    digits: Cow<'d, str>,
    exponent: i64,
}

impl<'d> Decimal<'d> {
    /// `None`: it is no number of JSON.
    pub(crate) fn parse(text: &'d str) -> Option<Self> {
        if !is_number(text) {
            return None;
        }
        let (mantissa, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let far = if power.starts_with('-') { -FAR } else { FAR };
        let power = power.parse().unwrap_or(far).clamp(-FAR, FAR);
        let negative = text.starts_with('-');
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let whole = whole.trim_start_matches('-');
        let digits = if fraction.is_empty() {
            Cow::Borrowed(whole)
        } else {
            Cow::Owned(format!("{whole}{fraction}"))
        };
        let point = i64::try_from(whole.len()).ok()?.saturating_add(power);
        Some(Decimal::new(negative, digits, point))
    }

    /// `point`: how many of the digits are before it; it may be beyond them on either side.
    fn new(negative: bool, digits: Cow<'d, str>, point: i64) -> Self {
        let significant = digits.trim_start_matches('0');
        let leading = i64::try_from(digits.len() - significant.len()).unwrap_or(FAR);
        let significant = significant.trim_end_matches('0');
        if significant.is_empty() {
            return Decimal {
                negative: false,
                digits: Cow::Borrowed(""),
                exponent: 0,
            };
        }
        let kept = match &digits {
            Cow::Borrowed(all) => {
                let from = all.len() - all.trim_start_matches('0').len();
                Cow::Borrowed(&all[from..from + significant.len()])
            }
            Cow::Owned(_) => Cow::Owned(significant.to_owned()),
        };
        Decimal {
            negative,
            digits: kept,
            exponent: point.saturating_sub(leading).clamp(-FAR, FAR),
        }
    }

    /// Whether nothing is behind the point, in whatever form it was written: `3.0`, `1e2`.
    pub(crate) fn is_integer(&self) -> bool {
        if self.digits.is_empty() {
            return true;
        }
        match i64::try_from(self.digits.len()) {
            Ok(length) => length <= self.exponent.max(0),
            Err(_) => false,
        }
    }

    /// All digits of an integer. `None`: it is none, or has more digits than any type holds.
    pub(crate) fn plain_integer(&self) -> Option<String> {
        const MOST_DIGITS: usize = 40;
        if self.digits.is_empty() {
            return Some("0".to_owned());
        }
        let length = usize::try_from(self.exponent).ok()?;
        if length > MOST_DIGITS {
            return None;
        }
        let zeros = length.checked_sub(self.digits.len())?;
        let sign = if self.negative { "-" } else { "" };
        Some(format!("{sign}{}{}", self.digits, "0".repeat(zeros)))
    }

    /// How many times `10^unit` it is. `None`: that is no integer, or too large for the type.
    pub(crate) fn scaled(&self, unit: i64) -> Option<i128> {
        if self.digits.is_empty() {
            return Some(0);
        }
        let length = i64::try_from(self.digits.len()).ok()?;
        let last = self.exponent.checked_sub(length)?;
        let zeros = u32::try_from(last.checked_sub(unit)?).ok()?;
        let digits: i128 = self.digits.parse().ok()?;
        let signed = if self.negative { -digits } else { digits };
        signed.checked_mul(10_i128.checked_pow(zeros)?)
    }

    /// The power of ten of its last digit.
    pub(crate) fn last(&self) -> i64 {
        let length = i64::try_from(self.digits.len()).unwrap_or(FAR);
        self.exponent.saturating_sub(length)
    }
}

impl Decimal<'_> {
    /// The nearest number of floating point, without the sign.
    pub(crate) fn magnitude(&self) -> f64 {
        let digits = format!("0.{}e{}", self.digits, self.exponent);
        digits.parse().unwrap_or(0.0)
    }

    /// -1, 0 or 1.
    fn sign(&self) -> i8 {
        if self.digits.is_empty() {
            0
        } else if self.negative {
            -1
        } else {
            1
        }
    }
}

impl fmt::Display for Decimal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.negative { "-" } else { "" };
        write!(f, "{sign}0.{}e{}", self.digits, self.exponent)
    }
}

impl Ord for Decimal<'_> {
    /// The sign, then the size: the first digit is never 0, so that the larger
    /// exponent is the larger number.
    fn cmp(&self, other: &Self) -> Ordering {
        let by_exponent = self.exponent.cmp(&other.exponent);
        let by_size = by_exponent.then_with(|| self.digits.cmp(&other.digits));
        let by_value = if self.negative {
            by_size.reverse()
        } else {
            by_size
        };
        self.sign().cmp(&other.sign()).then(by_value)
    }
}

impl PartialOrd for Decimal<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Whether the text is a number by JSON's grammar: no leading zero or plus, digits
/// on both sides of the point.
pub(crate) fn is_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let integer = digits_at_start(digits);
    if integer == 0 || (integer > 1 && digits.starts_with('0')) {
        return false;
    }
    let mut rest = &digits[integer..];
    if let Some(fraction) = rest.strip_prefix('.') {
        let length = digits_at_start(fraction);
        if length == 0 {
            return false;
        }
        rest = &fraction[length..];
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let length = digits_at_start(exponent);
        return length > 0 && length == exponent.len();
    }
    rest.is_empty()
}

fn digits_at_start(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Decimal<'_> {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn only_json_s_grammar_is_a_number() {
        for text in [
            "0",
            "-0",
            "10",
            "1.50",
            "-1.5e+3",
            "1E400",
            "0e0",
            "1e99999999999999999999",
        ] {
            assert!(Decimal::parse(text).is_some(), "{text}");
        }
        for text in [
            "", "-", "+1", "01", ".5", "1.", "1e", "1e+", " 1", "1,000", "0x1", "NaN", "1_0", "１",
        ] {
            assert!(Decimal::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn the_order_is_that_of_the_digits() {
        let ordered = [
            "-1e400",
            "-10",
            "-9.5",
            "-0.1",
            "0",
            "1e-400",
            "0.09",
            "0.1",
            "1",
            "1.5",
            "9",
            "10",
            "9007199254740992",
            "9007199254740993",
            "340282366920938463463374607431768211455",
            "1e400",
        ];
        for pair in ordered.windows(2) {
            assert!(of(pair[0]) < of(pair[1]), "{pair:?}");
        }
        for (one, other) in [
            ("1", "1.0"),
            ("100", "1e2"),
            ("0.05", "5e-2"),
            ("-0", "0.0e5"),
            ("1200", "12.00E2"),
        ] {
            assert_eq!(of(one), of(other));
        }
    }

    #[test]
    fn whole_numbers_are_told_from_the_others() {
        for (text, integer) in [
            ("3.0", Some("3")),
            ("-12e1", Some("-120")),
            ("-0", Some("0")),
            ("3.5", None),
            ("1e41", None),
        ] {
            assert_eq!(of(text).plain_integer().as_deref(), integer, "{text}");
        }
        assert!(of("1e41").is_integer() && of("0").is_integer() && !of("1e-1").is_integer());
    }
}
