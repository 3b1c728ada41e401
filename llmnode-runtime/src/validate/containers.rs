//! Traverses the containers of the standard library; its plain values have nothing to traverse.
//!
//! Each container is written once, by `container!`, for the three traits that a
//! traversal may go by: `fields` (only what is inside), `checks` (own validators,
//! too) and `all` (for type parameters). What differs is how it comes to its
//! elements and what path each of them has: `sequence!` is for those with an index.
//!
//! A container that is missing here costs nobody a validator unnoticed:
//! `coverage.rs` refuses an output that holds a validated type in it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::fmt::Display;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::num::{
    NonZeroI8, NonZeroI16, NonZeroI32, NonZeroI64, NonZeroIsize, NonZeroU8, NonZeroU16, NonZeroU32,
    NonZeroU64, NonZeroUsize,
};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::checks::Checks;
use super::coverage::Coverage;
use super::coverage::{Validated, ValidatedFields};
use super::traverse::{Validate, ValidateAll, ValidateBlock, ValidateFields};

/// Stands for the blocks of what is in a container.
pub enum InBlocks {}

/// `|value, to, traverse| walk`: how `walk` calls `traverse` for each element of `value`.
macro_rules! container {
    ([$($generics:tt)*] $container:ty, |$value:ident, $to:ident, $traverse:ident| $walk:expr) => {
        impl<T: ValidatedFields, $($generics)*> ValidatedFields for $container {
            fn coverage(to: &mut Coverage) {
                T::coverage(to);
            }
        }
        impl<T: Validated, $($generics)*> ValidateBlock for $container {
            type Block = InBlocks;
        }
        impl<S: ?Sized, T: ValidateFields<S>, $($generics)*> ValidateFields<S> for $container {
            fn fields<'a>(&'a self, $to: &mut Checks<'a, S>) {
                let $value = self;
                let $traverse = T::fields;
                $walk
            }
        }
        impl<S: ?Sized, Any, T: Validate<S, Any>, $($generics)*> ValidateBlock<S, InBlocks, Any> for $container {
            type Block = ();

            fn checks<'a>(&'a self, $to: &mut Checks<'a, S>) {
                let $value = self;
                let $traverse = T::checks;
                $walk
            }
        }
        impl<S: ?Sized, T: ValidateAll<S>, $($generics)*> ValidateAll<S> for $container {
            fn all<'a>(&'a self, $to: &mut Checks<'a, S>) {
                let $value = self;
                let $traverse = T::all;
                $walk
            }
        }
    };
}

/// Containers whose elements have an index in the JSON.
macro_rules! sequence {
    ($([$($generics:tt)*] $container:ty),* $(,)?) => {$(
        container!([$($generics)*] $container, |value, to, traverse| {
            for (index, item) in value.iter().enumerate() {
                to.index(index, |to| traverse(item, to));
            }
        });
    )*};
}

container!([] Option<T>, |value, to, traverse| if let Some(value) = value { traverse(value, to) });
container!([] Box<T>, |value, to, traverse| traverse(value, to));
container!([] Arc<T>, |value, to, traverse| traverse(value, to));
sequence!([] Vec<T>, [] VecDeque<T>, [const N: usize] [T; N]);
// The items of a set have no place of their own in it.
container!([] BTreeSet<T>, |value, to, traverse| value.iter().for_each(|item| traverse(item, to)));
container!([H] HashSet<T, H>, |value, to, traverse| value.iter().for_each(|item| traverse(item, to)));
container!([K: Display] BTreeMap<K, T>, |value, to, traverse| {
    for (key, item) in value {
        to.field(&key.to_string(), |to| traverse(item, to));
    }
});
container!([K: Display, H] HashMap<K, T, H>, |value, to, traverse| {
    // Sorted, so that the same answer gives the same feedback.
    let mut entries: Vec<_> = value.iter().map(|(key, item)| (key.to_string(), item)).collect();
    entries.sort_by(|(one, _), (other, _)| one.cmp(other));
    for (key, item) in entries {
        to.field(&key, |to| traverse(item, to));
    }
});

/// Traversal treats all elements alike: if all have validators, they run; if one
/// has none, only fields are traversed, and `Coverage` reports what is missed.
macro_rules! tuples {
    ($($($ty:ident $index:tt)*;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($ty: ValidatedFields),*> ValidatedFields for ($($ty,)*) {
            fn coverage(to: &mut Coverage) {
                $(to.element::<$ty>();)*
            }
        }
        #[diagnostic::do_not_recommend]
        impl<$($ty: Validated),*> ValidateBlock for ($($ty,)*) {
            type Block = InBlocks;
        }
        #[diagnostic::do_not_recommend]
        impl<S: ?Sized, $($ty: ValidateFields<S>),*> ValidateFields<S> for ($($ty,)*) {
            fn fields<'a>(&'a self, to: &mut Checks<'a, S>) {
                $(to.index($index, |to| self.$index.fields(to));)*
            }
        }
        #[diagnostic::do_not_recommend]
        impl<S: ?Sized, Any, $($ty: Validate<S, Any>),*> ValidateBlock<S, InBlocks, Any> for ($($ty,)*) {
            type Block = ();

            fn checks<'a>(&'a self, to: &mut Checks<'a, S>) {
                $(to.index($index, |to| self.$index.checks(to));)*
            }
        }
        #[diagnostic::do_not_recommend]
        impl<S: ?Sized, $($ty: ValidateAll<S>),*> ValidateAll<S> for ($($ty,)*) {
            fn all<'a>(&'a self, to: &mut Checks<'a, S>) {
                $(to.index($index, |to| self.$index.all(to));)*
            }
        }
    )*};
}

tuples! {
    A 0;
    A 0 B 1;
    A 0 B 1 C 2;
    A 0 B 1 C 2 D 3;
    A 0 B 1 C 2 D 3 E 4;
    A 0 B 1 C 2 D 3 E 4 F 5;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10;
    A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11;
}

impl<T: ValidatedFields, E: ValidatedFields> ValidatedFields for Result<T, E> {
    fn coverage(to: &mut Coverage) {
        to.element::<T>();
        to.element::<E>();
    }
}
impl<T: Validated, E: Validated> ValidateBlock for Result<T, E> {
    type Block = InBlocks;
}
impl<S: ?Sized, T: ValidateFields<S>, E: ValidateFields<S>> ValidateFields<S> for Result<T, E> {
    fn fields<'a>(&'a self, to: &mut Checks<'a, S>) {
        match self {
            Ok(value) => to.field("Ok", |to| value.fields(to)),
            Err(error) => to.field("Err", |to| error.fields(to)),
        }
    }
}
impl<S: ?Sized, Any, T: Validate<S, Any>, E: Validate<S, Any>> ValidateBlock<S, InBlocks, Any>
    for Result<T, E>
{
    type Block = ();

    fn checks<'a>(&'a self, to: &mut Checks<'a, S>) {
        match self {
            Ok(value) => to.field("Ok", |to| value.checks(to)),
            Err(error) => to.field("Err", |to| error.checks(to)),
        }
    }
}

impl<S: ?Sized, T: ValidateAll<S>, E: ValidateAll<S>> ValidateAll<S> for Result<T, E> {
    fn all<'a>(&'a self, to: &mut Checks<'a, S>) {
        match self {
            Ok(value) => to.field("Ok", |to| value.all(to)),
            Err(error) => to.field("Err", |to| error.all(to)),
        }
    }
}

macro_rules! plain {
    ($($plain:ty),* $(,)?) => {$(
        impl ValidatedFields for $plain {
            fn coverage(_: &mut Coverage) {}
        }
        impl ValidateBlock for $plain {
            type Block = InBlocks;
        }
        impl<S: ?Sized> ValidateFields<S> for $plain {
            fn fields<'a>(&'a self, _: &mut Checks<'a, S>) {}
        }
        impl<S: ?Sized> ValidateBlock<S, InBlocks, ()> for $plain {
            type Block = ();

            fn checks<'a>(&'a self, _: &mut Checks<'a, S>) {}
        }
        impl<S: ?Sized> ValidateAll<S> for $plain {
            fn all<'a>(&'a self, _: &mut Checks<'a, S>) {}
        }
    )*};
}
plain! {
    (), bool, char, String, u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize, f32, f64, serde_json::Value,
    serde_json::Number, serde_json::Map<String, serde_json::Value>, PathBuf, Duration, SystemTime, IpAddr, Ipv4Addr,
    Ipv6Addr, SocketAddr, NonZeroU8, NonZeroU16, NonZeroU32, NonZeroU64, NonZeroUsize, NonZeroI8, NonZeroI16, NonZeroI32,
    NonZeroI64, NonZeroIsize, Cow<'static, str>
}
