//! The format specs of std that a prompt may use:
//! `[[fill]align][sign]['#']['0'][width]['.' precision][type]`.

/// Why a spec is none, for the message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SpecFault {
    Unknown,
    /// `width$`, `.precision$` or `.*`: from another value.
    Parameter,
    TooLarge,
}

/// Only the form: whether the value's type has the trait, the compiler says.
pub(crate) fn check(spec: &str) -> Result<(), SpecFault> {
    let mut rest = strip_align(spec);
    rest = rest.strip_prefix(['+', '-']).unwrap_or(rest);
    rest = rest.strip_prefix('#').unwrap_or(rest);
    // The `0` of `0$` is a parameter; any other leading zero is padding.
    rest = strip_number(rest)?;
    if let Some(precision) = rest.strip_prefix('.') {
        if precision.starts_with('*') {
            return Err(SpecFault::Parameter);
        }
        let after = strip_number(precision)?;
        // A point without digits.
        if after.len() == precision.len() {
            return Err(if is_parameter(precision) {
                SpecFault::Parameter
            } else {
                SpecFault::Unknown
            });
        }
        rest = after;
    }
    match rest {
        "" | "?" | "x?" | "X?" | "x" | "X" | "o" | "b" | "e" | "E" => Ok(()),
        other if is_parameter(other) => Err(SpecFault::Parameter),
        _ => Err(SpecFault::Unknown),
    }
}

/// A fill is any one character before an alignment, an alignment included.
fn strip_align(spec: &str) -> &str {
    const ALIGN: [char; 3] = ['<', '^', '>'];
    let mut chars = spec.chars();
    chars.next();
    let behind_fill = chars.as_str();
    behind_fill
        .strip_prefix(ALIGN)
        .or_else(|| spec.strip_prefix(ALIGN))
        .unwrap_or(spec)
}

/// A width or precision; std keeps them in 16 bits.
fn strip_number(text: &str) -> Result<&str, SpecFault> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = &text[..text.len() - rest.len()];
    if rest.starts_with('$') && !digits.is_empty() {
        return Err(SpecFault::Parameter);
    }
    if digits.is_empty() || digits.parse::<u16>().is_ok() {
        Ok(rest)
    } else {
        Err(SpecFault::TooLarge)
    }
}

/// A name before a `$`.
fn is_parameter(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| c == '_' || c.is_alphanumeric());
    rest.len() < text.len() && rest.starts_with('$')
}

#[cfg(test)]
mod tests {
    use super::{SpecFault, check};

    #[test]
    fn accepts_what_std_accepts() {
        for spec in [
            "", "?", "#?", ">3", ".2", "*^8.3", "+", "#x", "08.3", "#010b", "x?", "é>4", "<", "e",
            "-5", ">>4",
        ] {
            assert_eq!(check(spec), Ok(()), "{spec:?}");
        }
    }

    #[test]
    fn refuses_the_rest_with_its_reason() {
        for spec in ["width$", "1$", ".*", ".prec$", ">8.1$", ">w$.2"] {
            assert_eq!(check(spec), Err(SpecFault::Parameter), "{spec:?}");
        }
        for spec in ["lst", "fence", ".", "?x", "p", "3 ", "or", "5.x", "$"] {
            assert_eq!(check(spec), Err(SpecFault::Unknown), "{spec:?}");
        }
        assert_eq!(check("65536"), Err(SpecFault::TooLarge));
        assert_eq!(check(".99999999999999999999"), Err(SpecFault::TooLarge));
    }
}
