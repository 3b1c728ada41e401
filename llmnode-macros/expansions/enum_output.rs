#[derive(
    ::llmnode::__private::serde::Serialize,
    ::llmnode::__private::serde::Deserialize,
    ::llmnode::__private::schemars::JsonSchema
)]
#[serde(rename_all = "snake_case", tag = "kind", content = "value")]
#[serde(crate = "::llmnode::__private::serde")]
#[schemars(crate = "::llmnode::__private::schemars")]
#[schemars(extend("x-llmnode-validated" = (::core::any::type_name::<Step<T>>())))]
enum Step<T> {
    Done,
    Use(Choice),
    Both { first: (u8, Choice), others: Vec<T> },
}
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl<T> __llmnode::ValidatedFields for Step<T>
    where
        Vec<T>: __llmnode::ValidatedFields,
    {
        fn reach(to: &mut __llmnode::Reach) {
            use __llmnode::probes::*;
            if to.enter(::core::any::type_name::<Step<T>>()) {
                (&&&&__llmnode::Reached::<Choice>::new()).reach(to);
                to.validated::<Vec<T>>();
            }
        }
    }
    #[automatically_derived]
    impl<T> __llmnode::ValidateFields<World> for Step<T>
    where
        Vec<T>: __llmnode::Validate<World> + __llmnode::ValidatedFields,
    {
        fn fields<'checked>(
            &'checked self,
            to: &mut __llmnode::Checks<'checked, World>,
        ) {
            use __llmnode::probes::*;
            match self {
                Self::Use { 0: field_0, .. } => {
                    to.field(
                        "value",
                        |to| {
                            (&&&__llmnode::Dive(field_0)).dive::<World>(to);
                        },
                    );
                }
                Self::Both { first: field_0, others: field_1, .. } => {
                    to.field(
                        "value",
                        |to| {
                            to.field(
                                "first",
                                |to| {
                                    to.index(
                                        1,
                                        |to| {
                                            (&&&__llmnode::Dive(&field_0.1)).dive::<World>(to);
                                        },
                                    );
                                },
                            );
                            to.field(
                                "others",
                                |to| {
                                    <Vec<T> as __llmnode::Validate<World>>::checks(field_1, to);
                                },
                            );
                        },
                    );
                }
                _ => {}
            }
        }
    }
};
