//! Names that graphs may use.

pub(crate) const LONGEST: usize = 64;

fn fits(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

pub(crate) fn is_name(name: &str) -> bool {
    (1..=LONGEST).contains(&name.len()) && name.chars().all(fits)
}

pub(crate) fn sanitised(name: &str) -> String {
    name.chars()
        .take(LONGEST)
        .map(|c| if fits(c) { c } else { '_' })
        .collect()
}
