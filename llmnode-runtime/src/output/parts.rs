//! A field of an output whose type is no part of one: one error, at that type.
//!
//! The derives of serde and schemars would report it five times, in their words.
//! So the derived impls get a bound that is met if all types are fine. Where one is
//! not, it asks for `Written` of that type, which the derived code takes as given.
//! So it says nothing. Two things make this work:
//!
//! - *Types may contain themselves.* A bound that asks for serde's traits would be
//!   proved by itself. So whether all is fine is a constant, which asks for
//!   `JsonSchema` alone, and the impl of that has no such bound. A type that has a
//!   schema and lacks serde's traits is left to serde's derives: whether a field
//!   needs both depends on its attributes, and an alias may hide the definition.
//! - *Whoever uses the type gets no second error.* `Written` has a constant as its
//!   argument that does not compile if something is wrong. That is the error, and the
//!   compiler says no more about a bound in which one is.
//!
//! The bound is for any lifetime, since the compiler reports a bound that is never
//! met and has no lifetime.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::Hash;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserializer, Serialize, Serializer};

/// A type that a field of an output may have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a part of an output",
    label = "has no JSON schema",
    note = "put `#[llm_output]` on its definition, above its derives or in place of them, and on \
            the definitions of its arguments",
    note = "for dates, money and ids of other crates, llmnode has the features `chrono04`, \
            `jiff02`, `rust_decimal1`, `uuid1`, `url2`; a type such as `std::time::Instant` has \
            no form in JSON"
)]
pub trait OutputPart {}

#[diagnostic::do_not_recommend]
impl<T: JsonSchema + ?Sized> OutputPart for T {}

/// Does not compile for a type that is none.
pub const fn is_part<T: OutputPart + ?Sized>() {}

/// A type of another crate, whose schema comes with a feature. It is known by its name.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a part of an output without a feature of llmnode",
    label = "has no JSON schema",
    note = "in Cargo.toml: llmnode = {{ .., features = [\"chrono04\"] }} for chrono 0.4, \
            \"jiff02\" for jiff 0.2, \"rust_decimal1\" for rust_decimal 1, \"uuid1\" for uuid 1, \
            \"url2\" for url 2",
    note = "for a type of your own: put `#[llm_output]` on its definition"
)]
pub trait ForeignPart {}

#[diagnostic::do_not_recommend]
impl<T: JsonSchema + ?Sized> ForeignPart for T {}

/// Does not compile for a type that is none.
pub const fn is_foreign<T: ForeignPart + ?Sized>() {}

/// A trait object that a field of an output may hold.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a part of an output",
    label = "a trait object has no JSON schema",
    note = "write an enum of the types that the model may choose from, with `#[llm_output]` on it"
)]
pub trait OutputObject {}

#[diagnostic::do_not_recommend]
impl<T: JsonSchema + ?Sized> OutputObject for T {}

/// Does not compile for a trait object that is none.
pub const fn is_object<T: OutputObject + ?Sized>() {}

/// Asks whether a type is described, by an inherent constant that comes before that of a trait.
pub struct PartProbe<T: ?Sized>(PhantomData<T>);

impl<T: JsonSchema + ?Sized> PartProbe<T> {
    /// It is.
    pub const __IS_PART: bool = true;
}

/// The last choice.
pub trait NoPart {
    /// It is not.
    const __IS_PART: bool = false;
}

impl<T: ?Sized> NoPart for PartProbe<T> {}

/// Asks whether a type is the one of std that its name tells.
pub struct StdProbe<T: ?Sized>(PhantomData<T>);

macro_rules! of_std {
    ($([$($parameters:tt)*] $type:ty;)*) => {$(
        impl<$($parameters)*> StdProbe<$type> {
            /// It is.
            pub const __IS_STD: bool = true;
        }
    )*};
}
of_std! {
    [T: ?Sized] Arc<T>; [T: ?Sized] Rc<T>;
    [K, V, S] HashMap<K, V, S>; [T, S] HashSet<T, S>; [K, V] BTreeMap<K, V>; [T] BTreeSet<T>;
}

/// The last choice.
pub trait NotOfStd {
    /// It is not.
    const __IS_STD: bool = false;
}

impl<T: ?Sized> NotOfStd for StdProbe<T> {}

/// Asks whether a map of std finds its keys, and a set its values.
pub struct KeyProbe<T: ?Sized>(PhantomData<T>);

macro_rules! finds {
    ($([$($parameters:tt)*] $type:ty;)*) => {$(
        impl<$($parameters)*> KeyProbe<$type> {
            /// It does.
            pub const __IS_FOUND: bool = true;
        }
    )*};
}
finds! {
    [K: Eq + Hash, V, S] HashMap<K, V, S>; [T: Eq + Hash, S] HashSet<T, S>;
    [K: Ord, V] BTreeMap<K, V>; [T: Ord] BTreeSet<T>;
}

/// The last choice.
pub trait NoKey {
    /// It does not.
    const __IS_FOUND: bool = false;
}

impl<T: ?Sized> NoKey for KeyProbe<T> {}

/// Asks whether serde reads and writes a type.
struct SerdeProbe<T: ?Sized>(PhantomData<T>);

impl<T: Serialize + DeserializeOwned> SerdeProbe<T> {
    #[allow(dead_code, reason = "a feature of serde decides whether it is used")]
    const IS_READ: bool = true;
}

#[allow(dead_code, reason = "as above")]
trait Unread {
    const IS_READ: bool = false;
}

impl<T: ?Sized> Unread for SerdeProbe<T> {}

/// Whether serde reads what is in an `Arc` or an `Rc`, which a feature of it decides.
pub const READS_SHARED: bool = SerdeProbe::<Arc<()>>::IS_READ;

const NOT_COMPILED: &str = "the program does not compile";

/// In place of serde's impls for the type of a field about which an error is sure.
///
/// # Errors
/// Always, and it is never called.
pub fn unwritten<T, S: Serializer>(_: &T, _: S) -> Result<S::Ok, S::Error> {
    Err(serde::ser::Error::custom(NOT_COMPILED))
}

/// The same for reading.
///
/// # Errors
/// Always, and it is never called.
pub fn unread<'de, T, D: Deserializer<'de>>(_: D) -> Result<T, D::Error> {
    Err(serde::de::Error::custom(NOT_COMPILED))
}

/// What a definition knows of its fields' types.
#[doc(hidden)]
pub trait Parts {
    /// Whether all are described.
    const ALL: bool;
    /// Does not compile where one is not.
    const CHECKED: bool;
}

/// Chooses a type by `Parts::ALL`.
pub struct All<const ALL: bool>;

/// A type for each number: of two bounds that are the same, the compiler would not know which one it uses.
pub struct Nth<const FIELD: usize>;

/// What the derived code may take as given.
pub trait DerivedBound<T, const FIELD: usize> {
    /// `T`, if something is wrong.
    type Type;
}

impl<T, const FIELD: usize> DerivedBound<T, FIELD> for All<true> {
    type Type = PhantomData<Nth<FIELD>>;
}

impl<T, const FIELD: usize> DerivedBound<T, FIELD> for All<false> {
    type Type = T;
}

/// What a field is described by.
pub trait Described<T> {
    /// `T`, if all is well.
    type Type: JsonSchema;
}

impl<T: JsonSchema> Described<T> for All<true> {
    type Type = T;
}

impl<T> Described<T> for All<false> {
    type Type = ();
}

/// What serde's derives ask of a field.
pub trait Written<'any, const CHECKED: bool>: Serialize + DeserializeOwned {}

impl<const FIELD: usize> Written<'_, true> for PhantomData<Nth<FIELD>> {}
