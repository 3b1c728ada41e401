//! Money in whole numbers, so that sums are exact.

use std::fmt;

use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// In 10⁻¹⁵ of a currency unit: a whole number for one token if the price of a million has up to nine decimals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Money(pub(crate) u128);

const UNIT: f64 = 1e15;

impl Money {
    pub(crate) fn from_f64(amount: f64) -> Option<Money> {
        // The cast saturates.
        (amount.is_finite() && amount >= 0.0).then(|| Money((amount * UNIT).round() as u128))
    }

    pub(crate) fn to_f64(self) -> f64 {
        self.0 as f64 / UNIT
    }

    pub(crate) fn times(self, tokens: u64) -> Money {
        Money(self.0.saturating_mul(tokens.into()))
    }

    pub(crate) fn plus(self, other: Money) -> Money {
        Money(self.0.saturating_add(other.0))
    }
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64(self.to_f64())
    }
}

impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let amount = f64::deserialize(from)?;
        Money::from_f64(amount).ok_or_else(|| {
            D::Error::invalid_value(Unexpected::Float(amount), &"a number, 0 or more")
        })
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_f64().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_of_a_million_is_kept_to_nine_places() {
        let token = Money::from_f64(0.000_000_001 / 1e6).unwrap();
        assert_eq!(token, Money(1));
        assert_eq!(
            token.times(1_000_000).plus(Money(5)).to_string(),
            "0.000000001000005"
        );
    }

    #[test]
    fn what_is_no_amount_is_refused_and_the_largest_does_not_overflow() {
        for absurd in [f64::NAN, f64::INFINITY, -0.1] {
            assert_eq!(Money::from_f64(absurd), None);
        }
        let most = Money::from_f64(f64::MAX).unwrap();
        assert_eq!(most.times(u64::MAX).plus(most), Money(u128::MAX));
    }
}
