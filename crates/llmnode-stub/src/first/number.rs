//! Numbers within bounds.

use serde_json::{Map, Number, Value, json};

use super::nth::Nth;

/// An integer that the schema's bounds, `multipleOf` and `format` allow.
pub(super) fn integer(schema: &Map<String, Value>, nth: &mut Nth) -> Value {
    let bound = |key: &str, round: fn(f64) -> f64| schema.get(key).and_then(|v| whole(v, round));
    let above = bound("exclusiveMinimum", f64::floor).map(|n| n.saturating_add(1));
    let below = bound("exclusiveMaximum", f64::ceil).map(|n| n.saturating_sub(1));
    let (least, most) = format_range(schema.get("format").and_then(Value::as_str).unwrap_or_default());
    let lo = [bound("minimum", f64::ceil), above].into_iter().flatten().fold(least, i128::max);
    let hi = [bound("maximum", f64::floor), below].into_iter().flatten().fold(most, i128::min);
    let step = schema.get("multipleOf").map_or(1, whole_step);
    let (first, last) = (lo.div_euclid(step) + i128::from(lo.rem_euclid(step) != 0), hi.div_euclid(step));
    from_wide(from_zero(first, last, nth).saturating_mul(step))
}

/// A number out of `first..=last`: 0 or the bound next to it, then those above, then those below.
fn from_zero(first: i128, last: i128, nth: &mut Nth) -> i128 {
    let start = 0.max(first).min(last);
    let count = usize::try_from(last.saturating_sub(first)).unwrap_or(usize::MAX).saturating_add(1);
    let n = nth.choose(count) as i128;
    if n <= last.saturating_sub(start) { start.saturating_add(n) } else { last.saturating_sub(n) }
}

/// What an integer format holds; the widest JSON integers otherwise.
fn format_range(format: &str) -> (i128, i128) {
    match format {
        "int8" => (i8::MIN.into(), i8::MAX.into()),
        "int16" => (i16::MIN.into(), i16::MAX.into()),
        "int32" => (i32::MIN.into(), i32::MAX.into()),
        "int64" | "int" => (i64::MIN.into(), i64::MAX.into()),
        "uint8" => (0, u8::MAX.into()),
        "uint16" => (0, u16::MAX.into()),
        "uint32" => (0, u32::MAX.into()),
        "uint64" | "uint" | "uint128" => (0, u64::MAX.into()),
        _ => (i64::MIN.into(), u64::MAX.into()),
    }
}

/// A number that the schema's bounds and `multipleOf` allow.
pub(super) fn number(schema: &Map<String, Value>, nth: &mut Nth) -> Value {
    let range = Range::of(schema);
    let step = schema.get("multipleOf").and_then(Value::as_f64).filter(|step| *step > 0.0);
    let number = match step {
        Some(step) => range.multiple(step, nth),
        None => range.any(nth.rest() as f64),
    };
    Number::from_f64(number).map_or(Value::Null, Value::Number)
}

struct Range {
    lo: f64,
    hi: f64,
    lo_excluded: bool,
    hi_excluded: bool,
}

impl Range {
    fn of(schema: &Map<String, Value>) -> Self {
        let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
        let (min, above) = (bound("minimum"), bound("exclusiveMinimum"));
        let (max, below) = (bound("maximum"), bound("exclusiveMaximum"));
        let lo = [min, above].into_iter().flatten().fold(f64::MIN, f64::max);
        let hi = [max, below].into_iter().flatten().fold(f64::MAX, f64::min);
        Self { lo, hi, lo_excluded: above == Some(lo), hi_excluded: below == Some(hi) }
    }

    fn holds(&self, x: f64) -> bool {
        (if self.lo_excluded { x > self.lo } else { x >= self.lo })
            && (if self.hi_excluded { x < self.hi } else { x <= self.hi })
    }

    /// 0 or the bound next to it, or whole steps from there; between the bounds where these are too close.
    fn any(&self, n: f64) -> f64 {
        let start = 0_f64.max(self.lo).min(self.hi);
        let t = 1.0 / (n + 2.0);
        let between = self.lo * (1.0 - t) + self.hi * t; // not lo + (hi - lo) * t, which overflows
        let middle = self.lo / 2.0 + self.hi / 2.0;
        let tries = [start + n, start - n, start + n + 1.0, start - n - 1.0, between, middle];
        tries.into_iter().find(|&x| self.holds(x)).unwrap_or(start)
    }

    fn multiple(&self, step: f64, nth: &mut Nth) -> f64 {
        let digits = decimals(step);
        let value = |k: i128| rounded(k as f64 * step, digits);
        let (mut first, mut last) = ((self.lo / step).floor() as i128, (self.hi / step).ceil() as i128);
        // The quotients may be off by a rounding error, and the bounds excluded.
        for _ in 0..3 {
            first = first.saturating_add(i128::from(!self.holds(value(first))));
            last = last.saturating_sub(i128::from(!self.holds(value(last))));
        }
        value(from_zero(first, last, nth))
    }
}

fn decimals(x: f64) -> usize {
    let text = format!("{x}");
    text.split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

/// `x` with so many decimals, and no negative zero.
fn rounded(x: f64, digits: usize) -> f64 {
    format!("{x:.digits$}").parse().unwrap_or(x) + 0.0
}

/// The bound as a whole number, rounded into the range.
fn whole(value: &Value, round: fn(f64) -> f64) -> Option<i128> {
    let exact = value.as_i64().map(i128::from).or(value.as_u64().map(i128::from));
    exact.or_else(|| value.as_f64().map(|x| round(x).clamp(-1e19, 2e19) as i128))
}

/// The least whole multiple of a `multipleOf`, which need not be whole itself.
fn whole_step(step: &Value) -> i128 {
    let Some(step) = step.as_f64().filter(|step| *step > 0.0 && *step <= 1e15) else { return 1 };
    let multiple =
        (1..=10_000).map(|n| f64::from(n) * step).find(|x| (x - x.round()).abs() < 1e-9 && *x >= 0.5);
    multiple.map_or(1, |x| x.round() as i128)
}

/// Whether `a >= b` as numbers.
pub(super) fn at_least(a: &Value, b: &Value) -> bool {
    match (whole(a, |x| x), whole(b, |x| x)) {
        (Some(x), Some(y)) if !a.is_f64() && !b.is_f64() => x >= y,
        _ => a.as_f64() >= b.as_f64(),
    }
}

/// A `multipleOf` that fulfils both; exact for whole ones.
pub(super) fn common_multiple(a: &Value, b: &Value) -> Value {
    let (Some(x), Some(y)) = (a.as_u64(), b.as_u64()) else {
        return if at_least(a, b) { a.clone() } else { b.clone() };
    };
    let (mut gcd, mut rest) = (x, y);
    while rest != 0 {
        (gcd, rest) = (rest, gcd % rest);
    }
    json!((x / gcd.max(1)).saturating_mul(y))
}

fn from_wide(n: i128) -> Value {
    match (i64::try_from(n), u64::try_from(n)) {
        (Ok(n), _) => json!(n),
        (_, Ok(n)) => json!(n),
        _ => json!(n as f64),
    }
}
