//! What serde says of JSON that it refuses, in words for a model: without Rust's names where others say more.

use crate::text::one_line_shortened;

/// How many bytes of it are told.
const LENGTH: usize = 600;

/// What stands between an integer that its type does not hold and the bounds of that.
pub(in crate::output) const EXPECTED_INTEGER: &str = ", expected integer from ";

/// How a member that stands twice is told, before its name: the type's own, in contrast to what `doubled_key` finds.
pub(in crate::output) const HAS_MEMBER: &str = "has the member ";

/// serde's words. A path says where; line and column would point into JSON that may have been cut out.
pub(super) fn told(error: &serde_json::Error) -> String {
    let mut message = error.to_string();
    if error.line() > 0 {
        let place = format!(" at line {} column {}", error.line(), error.column());
        if let Some(words) = message.strip_suffix(&place) {
            message.truncate(words.len());
        }
    }
    // serde quotes the value it did not expect, and lists what it did at the end.
    one_line_shortened(reworded(&message).unwrap_or(message), LENGTH)
}

fn reworded(message: &str) -> Option<String> {
    if let Some(name) = message.strip_prefix("duplicate field ") {
        return Some(format!("{HAS_MEMBER}{name} twice; write it once"));
    }
    if let Some(name) = message.strip_prefix("missing field ") {
        return Some(format!("lacks the member {name}"));
    }
    if message.starts_with("data did not match any variant of untagged enum ") {
        return Some("is of none of the forms that it may have".to_owned());
    }
    let (what, expected) = message.rsplit_once(", expected ")?;
    if expected.starts_with("unit variant ") {
        return Some("must not be there".to_owned());
    }
    let (least, most) = bounds(expected)?;
    let number = ["invalid value: integer `", "invalid type: floating point `"];
    let digits = number.iter().find_map(|kind| what.strip_prefix(kind)?.strip_suffix('`'))?;
    Some(format!("is {digits}{EXPECTED_INTEGER}{least} to {most}"))
}

/// The bounds of an integer type by its name. Those of narrow ones stand in the schema, which serde knows nothing of.
fn bounds(name: &str) -> Option<(i128, i128)> {
    Some(match name {
        "i8" => (i8::MIN.into(), i8::MAX.into()),
        "u8" => (0, u8::MAX.into()),
        "i16" => (i16::MIN.into(), i16::MAX.into()),
        "u16" => (0, u16::MAX.into()),
        "i32" => (i32::MIN.into(), i32::MAX.into()),
        "u32" => (0, u32::MAX.into()),
        "i64" | "isize" => (i64::MIN.into(), i64::MAX.into()),
        "u64" | "usize" => (0, u64::MAX.into()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::reworded;

    #[test]
    fn rust_s_names_of_numbers_are_told_as_their_bounds() {
        let said = |message: &str| reworded(message).unwrap_or_default();
        assert_eq!(
            said("invalid value: integer `300`, expected u8"),
            "is 300, expected integer from 0 to 255"
        );
        assert_eq!(
            said("invalid type: floating point `1e20`, expected i64"),
            "is 1e20, expected integer from -9223372036854775808 to 9223372036854775807"
        );
        assert_eq!(said("invalid type: map, expected u8"), "", "the schema says that better");
        assert_eq!(said("an odd length"), "");
    }
}
