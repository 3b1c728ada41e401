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
    Use(
        #[schemars(
            with = "< :: llmnode :: __private :: All < { < Step < :: std :: string :: String > as :: llmnode :: __private :: Parts > :: ALL } > as :: llmnode :: __private :: Described < Choice >> :: Type"
        )]
        #[cfg_attr(
            not(doc),
            serde(
                bound(
                    serialize = "for < '__any > < :: llmnode :: __private :: All < { < Step < :: std :: string :: String > as :: llmnode :: __private :: Parts > :: ALL } > as :: llmnode :: __private :: DerivedBound < Choice , 0 >> :: Type : :: llmnode :: __private :: Written < '__any , { < Step < :: std :: string :: String > as :: llmnode :: __private :: Parts > :: CHECKED } >",
                    deserialize = "for < '__any > < :: llmnode :: __private :: All < { < Step < :: std :: string :: String > as :: llmnode :: __private :: Parts > :: ALL } > as :: llmnode :: __private :: DerivedBound < Choice , 0 >> :: Type : :: llmnode :: __private :: Written < '__any , { < Step < :: std :: string :: String > as :: llmnode :: __private :: Parts > :: CHECKED } >"
                )
            )
        )]
        Choice,
    ),
    Both {
        #[schemars(
            with = "< :: llmnode :: __private :: All < { < Step < :: std :: string :: String > as :: llmnode :: __private :: Parts > :: ALL } > as :: llmnode :: __private :: Described < (u8 , Choice) >> :: Type"
        )]
        #[cfg_attr(
            not(doc),
            serde(
                bound(
                    serialize = "for < '__any > < :: llmnode :: __private :: All < { < Step < :: std :: string :: String > as :: llmnode :: __private :: Parts > :: ALL } > as :: llmnode :: __private :: DerivedBound < (u8 , Choice) , 1 >> :: Type : :: llmnode :: __private :: Written < '__any , { < Step < :: std :: string :: String > as :: llmnode :: __private :: Parts > :: CHECKED } >",
                    deserialize = "for < '__any > < :: llmnode :: __private :: All < { < Step < :: std :: string :: String > as :: llmnode :: __private :: Parts > :: ALL } > as :: llmnode :: __private :: DerivedBound < (u8 , Choice) , 1 >> :: Type : :: llmnode :: __private :: Written < '__any , { < Step < :: std :: string :: String > as :: llmnode :: __private :: Parts > :: CHECKED } >"
                )
            )
        )]
        first: (u8, Choice),
        others: Vec<T>,
    },
}
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl<T> __llmnode::ValidatedFields for Step<T>
    where
        Vec<T>: __llmnode::ValidatedFields,
    {
        const SEES_BLOCK: ::core::primitive::bool = {
            use __llmnode::probes::*;
            <__llmnode::CoverageProbe<Step<::std::string::String>>>::IN_BLOCK
                || <__llmnode::CoverageProbe<Step<::core::primitive::u8>>>::IN_BLOCK
        };
        fn coverage(__to: &mut __llmnode::Coverage) {
            use __llmnode::probes::*;
            if __to.enter(::core::any::type_name::<Step<T>>()) {
                (&&&&__llmnode::CoverageProbe::<Choice>::of("Use.0")).__coverage(__to);
                __to.validated::<Vec<T>>();
            }
        }
    }
    #[automatically_derived]
    impl<T> __llmnode::ValidateFields<World> for Step<T>
    where
        Vec<T>: __llmnode::ValidateAll<World> + __llmnode::ValidatedFields,
    {
        fn fields<'checked>(
            &'checked self,
            __to: &mut __llmnode::Checks<'checked, World>,
        ) {
            use __llmnode::probes::*;
            match self {
                Self::Use { 0: __field_0, .. } => {
                    __to.field(
                        "value",
                        |__to| {
                            (&&&__llmnode::Traverse(__field_0)).__walk::<World>(__to);
                        },
                    );
                }
                Self::Both { first: __field_0, others: __field_1, .. } => {
                    __to.field(
                        "value",
                        |__to| {
                            __to.field(
                                "first",
                                |__to| {
                                    __to.index(
                                        1,
                                        |__to| {
                                            (&&&__llmnode::Traverse(&__field_0.1))
                                                .__walk::<World>(__to);
                                        },
                                    );
                                },
                            );
                            __to.field(
                                "others",
                                |__to| {
                                    <Vec<
                                        T,
                                    > as __llmnode::ValidateAll<World>>::all(__field_1, __to);
                                },
                            );
                        },
                    );
                }
                _ => {}
            }
        }
    }
    __llmnode::impl_validate_all!(
        Step < T >, [T,] [] Step < ::std::string::String >, Step < ::core::primitive::u8
        >
    );
};
const _: () = {
    use ::llmnode::__private as __llmnode;
    #[automatically_derived]
    impl<T> __llmnode::Parts for Step<T> {
        const ALL: __llmnode::bool = {
            use __llmnode::probes::*;
            __llmnode::PartProbe::<Choice>::__IS_PART
                && __llmnode::PartProbe::<(u8, Choice)>::__IS_PART
        };
        const CHECKED: __llmnode::bool = {
            use __llmnode::probes::*;
            __llmnode::is_part::<Choice>();
            ::core::assert!(
                __llmnode::PartProbe:: < Choice > ::__IS_PART,
                "what this type stands in has no JSON schema; write a `Vec`, an `Option`, a map, or a tuple of at most 16"
            );
            ::core::assert!(
                __llmnode::PartProbe:: < (u8, Choice) > ::__IS_PART,
                "what this type stands in has no JSON schema; write a `Vec`, an `Option`, a map, or a tuple of at most 16"
            );
            true
        };
    }
};
