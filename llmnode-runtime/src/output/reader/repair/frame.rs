//! Lists and objects that are open.

use std::borrow::Cow;

use super::super::json::Json;

/// A list or object that is open.
pub(super) enum Frame<'t> {
    List(Vec<Json<'t>>),
    Object(Object<'t>),
}

pub(super) struct Object<'t> {
    pub(super) begin: usize,
    /// That of the value that comes next.
    pub(super) key: Cow<'t, str>,
    pub(super) members: Vec<(Cow<'t, str>, Json<'t>)>,
    /// Whether a key of it stands in quotes.
    pub(super) quoted: bool,
}

impl Frame<'_> {
    pub(super) fn closer(&self) -> u8 {
        match self {
            Frame::List(_) => b']',
            Frame::Object(_) => b'}',
        }
    }
}

/// The pairs of members that have the same key.
pub(super) fn twice<T>(members: &[(Cow<'_, str>, T)]) -> Vec<(usize, usize)> {
    let same = |a: usize, b: usize| members[a].0 == members[b].0;
    // Most objects are small, and to compare them needs no memory.
    if members.len() <= 12 && !(1..members.len()).any(|b| (0..b).any(|a| same(a, b))) {
        return Vec::new();
    }
    let mut order: Vec<usize> = (0..members.len()).collect();
    order.sort_by(|a, b| members[*a].0.cmp(&members[*b].0));
    order.windows(2).map(|pair| (pair[0], pair[1])).filter(|(a, b)| same(*a, *b)).collect()
}
