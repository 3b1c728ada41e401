//! Numbers within bounds.

use serde_json::{Map, Number, Value, json};

use super::rng::Rng;

/// How many steps wide the range is where a schema leaves it open.
const WINDOW: i128 = 100;

/// An integer that the schema's bounds, `multipleOf` and `format` admit.
pub(super) fn integer(schema: &Map<String, Value>, rng: &mut Rng) -> Value {
    let bound = |key: &str, round: fn(f64) -> f64| schema.get(key).and_then(|v| whole(v, round));
    let above = bound("exclusiveMinimum", f64::floor).map(|n| n.saturating_add(1));
    let below = bound("exclusiveMaximum", f64::ceil).map(|n| n.saturating_sub(1));
    let lo = bound("minimum", f64::ceil).max(above);
    let hi = [bound("maximum", f64::floor), below].into_iter().flatten().min();
    let step = schema.get("multipleOf").map_or(1, whole_step);
    let window = WINDOW * step;
    let (lo, hi) = match (lo, hi) {
        (Some(lo), Some(hi)) => (lo, hi),
        (Some(lo), None) => (lo, lo.saturating_add(window)),
        (None, Some(hi)) => (hi.saturating_sub(window), hi),
        (None, None) => (0, window),
    };
    let (least, most) = format_range(schema.get("format").and_then(Value::as_str).unwrap_or_default());
    let (lo, hi) = (lo.max(least), hi.min(most));
    let (first, last) = (lo.div_euclid(step) + i128::from(lo.rem_euclid(step) != 0), hi.div_euclid(step));
    from_wide(rng.between_wide(first, last).saturating_mul(step))
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

/// A number that the schema's bounds and `multipleOf` admit.
pub(super) fn number(schema: &Map<String, Value>, rng: &mut Rng) -> Value {
    let range = Range::of(schema);
    let step = schema.get("multipleOf").and_then(Value::as_f64).filter(|step| *step > 0.0);
    let drawn = match step {
        Some(step) => range.multiple(step, rng),
        None => range.any(rng),
    };
    Number::from_f64(drawn).map_or(Value::Null, Value::Number)
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
        let lo = [min, above].into_iter().flatten().reduce(f64::max);
        let hi = [max, below].into_iter().flatten().reduce(f64::min);
        let step = bound("multipleOf").unwrap_or(1.0);
        // Relative to the bound as well, or adding to a large one would change nothing.
        let window = |near: f64| (WINDOW as f64 * step).max(near.abs() / 2.0);
        let (lo, hi) = match (lo, hi) {
            (Some(lo), Some(hi)) => (lo, hi),
            (Some(lo), None) => (lo, lo + window(lo)),
            (None, Some(hi)) => (hi - window(hi), hi),
            (None, None) => (0.0, window(0.0)),
        };
        let (lo, hi) = (lo.max(f64::MIN), hi.min(f64::MAX));
        Self { lo, hi, lo_excluded: above == Some(lo), hi_excluded: below == Some(hi) }
    }

    fn holds(&self, x: f64) -> bool {
        (if self.lo_excluded { x > self.lo } else { x >= self.lo })
            && (if self.hi_excluded { x < self.hi } else { x <= self.hi })
    }

    fn any(&self, rng: &mut Rng) -> f64 {
        let t = rng.fraction();
        let exact = self.lo * (1.0 - t) + self.hi * t; // not lo + (hi - lo) * t, which overflows
        // Few decimals where they do.
        let rounded = [2, 4, 8].into_iter().map(|digits| rounded(exact, digits));
        let middle = self.lo / 2.0 + self.hi / 2.0;
        let mut tries = rounded.chain([exact, middle]);
        tries.find(|&x| self.holds(x)).unwrap_or(self.lo)
    }

    fn multiple(&self, step: f64, rng: &mut Rng) -> f64 {
        let digits = decimals(step);
        let value = |k: i128| rounded(k as f64 * step, digits);
        let (mut first, mut last) = ((self.lo / step).floor() as i128, (self.hi / step).ceil() as i128);
        // The quotients may be off by a rounding error, and the bounds excluded.
        for _ in 0..3 {
            first = first.saturating_add(i128::from(!self.holds(value(first))));
            last = last.saturating_sub(i128::from(!self.holds(value(last))));
        }
        value(rng.between_wide(first, last))
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
