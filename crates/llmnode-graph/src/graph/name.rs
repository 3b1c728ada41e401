//! Names that graphs may use.

pub(crate) const LONGEST: usize = 64;

pub(crate) fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    (1..=LONGEST).contains(&name.len()) && name.chars().all(fits)
}
