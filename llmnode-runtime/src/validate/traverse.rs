//! How a value's validators are found.
//!
//! `#[llm_output]` and `#[validate]` on a definition implement [`ValidateFields`],
//! which traverses the fields. `#[validate]` on an impl block implements
//! [`ValidateBlock`], by which the type has [`Validate`]; it also adds the block's
//! methods. Generated code does not know which of the two a type has, if any, so it
//! calls `__walk` on three references to a [`Traverse`]: method resolution takes the
//! first that fits, from [`Validate`] down to nothing. The marker traits carry no
//! state, so that a type validated against *another* state is an error, not a miss.

use super::checks::Checks;
use super::coverage::{Validated, ValidatedFields};

/// A type with validators that run with the state `S`. `K` is always `()`. The
/// probe below leaves it to be inferred, so that the compiler does not propose a
/// where clause on the program's own item for a type that lacks the state.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not validated against the state `{S}`",
    label = "no validators for this state",
    note = "write `state = T` on the node with the state that the validators take, and \
            `#[llm_output(state = T)]` on the types in between; `AnyRunState` means that the node \
            names no state"
)]
pub trait Validate<S: ?Sized, K = ()> {
    /// Adds all checks of this value, those inside it included.
    fn checks<'a>(&'a self, to: &mut Checks<'a, S>);
}

/// A block of validators. Each implements it twice: as `ValidateBlock`, with its own
/// type as `Block`, and for that type and a state.
///
/// So two blocks of a type are one error: the impls with their types differ, those
/// without are in conflict, and the compiler says no more about a trait in which a
/// conflict is. Generated code knows the trait by a name that says what to do.
pub trait ValidateBlock<S: ?Sized = Mark, Block = Mark, K = Mark> {
    /// The type of the block, in the impl without arguments.
    type Block;

    /// Adds all checks of this value, those inside it included.
    fn checks<'a>(&'a self, to: &mut Checks<'a, S>) {
        let _ = to;
    }
}

/// Takes the place of all arguments of a [`ValidateBlock`].
pub enum Mark {}

#[diagnostic::do_not_recommend]
impl<T: ValidatedFields + ValidateBlock + ?Sized> Validated for T {}

#[diagnostic::do_not_recommend]
impl<T, S: ?Sized, K> Validate<S, K> for T
where
    T: ValidateBlock + ValidateBlock<S, <T as ValidateBlock>::Block, K> + ?Sized,
{
    fn checks<'a>(&'a self, to: &mut Checks<'a, S>) {
        ValidateBlock::<S, <T as ValidateBlock>::Block, K>::checks(self, to);
    }
}

/// A type whose fields' validators run with the state `S`.
#[diagnostic::on_unimplemented(
    message = "the fields of `{Self}` are not validated against the state `{S}`",
    label = "validators inside it take another state",
    note = "write `#[llm_output(state = T)]` on the type, with the state of the validators inside \
            it"
)]
pub trait ValidateFields<S: ?Sized> {
    /// Adds the checks inside this value, and sets which fields have another name in the JSON.
    fn fields<'a>(&'a self, to: &mut Checks<'a, S>);
}

/// A value that fills a type parameter: its own validators run with the state `S`,
/// and those inside it. Generic code cannot look for them as concrete code does, so
/// each definition says where they are.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot fill a type parameter of an output",
    label = "its definition has neither `#[llm_output]` nor `#[llmnode::validate]`",
    note = "put `#[llm_output]` on its definition, or `#[llmnode::validate]` above its own derives"
)]
pub trait ValidateAll<S: ?Sized> {
    /// Adds all checks of this value, those inside it included.
    fn all<'a>(&'a self, to: &mut Checks<'a, S>);
}

/// Where a definition's validators are: in its `#[validate]` block, which also goes
/// through the fields, or in the fields alone. The constant is computed at the
/// definition, from whether there is a block.
#[derive(Debug)]
pub struct ValidatorBlock<const IN_BLOCK: bool>;

/// What [`ValidatorBlock`] stands for.
pub trait Dive<T: ?Sized, S: ?Sized> {
    /// Adds all checks of the value.
    fn dive<'a>(value: &'a T, to: &mut Checks<'a, S>);
}

impl<T: ValidateFields<S> + ?Sized, S: ?Sized> Dive<T, S> for ValidatorBlock<false> {
    fn dive<'a>(value: &'a T, to: &mut Checks<'a, S>) {
        value.fields(to);
    }
}

impl<T: Validate<S> + ?Sized, S: ?Sized> Dive<T, S> for ValidatorBlock<true> {
    fn dive<'a>(value: &'a T, to: &mut Checks<'a, S>) {
        value.checks(to);
    }
}

/// What a field needs in a definition that names no state: validators that run with any.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has validators that take a state, and the type around it names none",
    label = "add `state = T`, with the type of that state: `#[llm_output(state = T)]`"
)]
pub trait ValidateWithAnyState<S: ?Sized, K>: Validate<S, K> {}

#[diagnostic::do_not_recommend]
impl<T: Validate<S, K> + ?Sized, S: ?Sized, K> ValidateWithAnyState<S, K> for T {}

/// The same for a field whose type has validators only in its own fields.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has fields with validators that take a state, and the type around it names \
               none",
    label = "add `state = T`, with the type of that state: `#[llm_output(state = T)]`"
)]
pub trait ValidateFieldsWithAnyState<S: ?Sized>: ValidateFields<S> {}

#[diagnostic::do_not_recommend]
impl<T: ValidateFields<S> + ?Sized, S: ?Sized> ValidateFieldsWithAnyState<S> for T {}

/// A value that generated code traverses.
#[derive(Debug)]
pub struct Traverse<'a, T: ?Sized>(pub &'a T);

/// First choice: a type with validators of its own.
pub trait TraverseValidators<'a, T: ?Sized, K> {
    /// Adds the checks of the value.
    fn __walk<S: ?Sized>(&self, to: &mut Checks<'a, S>)
    where
        T: Validate<S, K>;

    /// The same in a definition that names no state.
    fn __walk_without_state<S: ?Sized>(&self, to: &mut Checks<'a, S>)
    where
        T: ValidateWithAnyState<S, K>;
}

impl<'a, T: Validated + ?Sized, K> TraverseValidators<'a, T, K> for &&Traverse<'a, T> {
    fn __walk<S: ?Sized>(&self, to: &mut Checks<'a, S>)
    where
        T: Validate<S, K>,
    {
        self.0.checks(to);
    }

    fn __walk_without_state<S: ?Sized>(&self, to: &mut Checks<'a, S>)
    where
        T: ValidateWithAnyState<S, K>,
    {
        self.0.checks(to);
    }
}

/// Second choice: a type whose fields may have validators.
pub trait TraverseFields<'a, T: ?Sized> {
    /// Adds the checks inside the value.
    fn __walk<S: ?Sized>(&self, to: &mut Checks<'a, S>)
    where
        T: ValidateFields<S>;

    /// The same in a definition that names no state.
    fn __walk_without_state<S: ?Sized>(&self, to: &mut Checks<'a, S>)
    where
        T: ValidateFieldsWithAnyState<S>;
}

impl<'a, T: ValidatedFields + ?Sized> TraverseFields<'a, T> for &Traverse<'a, T> {
    fn __walk<S: ?Sized>(&self, to: &mut Checks<'a, S>)
    where
        T: ValidateFields<S>,
    {
        self.0.fields(to);
    }

    fn __walk_without_state<S: ?Sized>(&self, to: &mut Checks<'a, S>)
    where
        T: ValidateFieldsWithAnyState<S>,
    {
        self.0.fields(to);
    }
}

/// Last choice: a type that nothing is known about. If it contains validators
/// anyway, the mark in its schema shows it, and the first use is an error.
pub trait TraverseNothing<'a> {
    /// Adds nothing.
    fn __walk<S: ?Sized>(&self, to: &mut Checks<'a, S>);

    /// The same in a definition that names no state.
    fn __walk_without_state<S: ?Sized>(&self, to: &mut Checks<'a, S>);
}

impl<'a, T: ?Sized> TraverseNothing<'a> for Traverse<'a, T> {
    fn __walk<S: ?Sized>(&self, _: &mut Checks<'a, S>) {}

    fn __walk_without_state<S: ?Sized>(&self, _: &mut Checks<'a, S>) {}
}

#[cfg(test)]
mod tests {
    use super::super::coverage::Coverage;
    use super::super::invalid::Invalid;
    use super::*;

    struct World;
    struct Fields(Inner);
    struct Inner;
    struct Plain;

    impl ValidatedFields for Inner {
        fn coverage(_: &mut Coverage) {}
    }
    impl<S: ?Sized> ValidateFields<S> for Inner {
        fn fields<'a>(&'a self, _: &mut Checks<'a, S>) {}
    }
    impl ValidateBlock for Inner {
        type Block = ();
    }
    impl ValidateBlock<World, (), ()> for Inner {
        type Block = ();

        fn checks<'a>(&'a self, to: &mut Checks<'a, World>) {
            to.sync("inner", |_, _| Err(Invalid::new("no")));
        }
    }
    impl ValidatedFields for Fields {
        fn coverage(_: &mut Coverage) {}
    }
    impl ValidateFields<World> for Fields {
        fn fields<'a>(&'a self, to: &mut Checks<'a, World>) {
            to.field("inner", |to| (&&&Traverse(&self.0)).__walk(to));
        }
    }

    #[test]
    #[expect(
        clippy::needless_borrow,
        reason = "as generated code has it, which cannot know the level"
    )]
    fn the_dive_takes_the_first_level_that_fits() {
        let (fields, list) = (Fields(Inner), vec![Some(Inner)]);
        let mut checks = Checks::<World>::default();
        (&&&Traverse(&Inner)).__walk(&mut checks);
        (&&&Traverse(&fields)).__walk(&mut checks);
        (&&&Traverse(&Plain)).__walk(&mut checks);
        (&&&Traverse(&list)).__walk(&mut checks);
        assert_eq!(
            format!("{checks:?}"),
            r#"[("", "inner"), ("inner", "inner"), ("[0]", "inner")]"#
        );
    }
}
