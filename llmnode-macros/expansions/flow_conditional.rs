#[cfg(a)]
::llmnode::flow! {
    Research(World) : Decide => end, #[cfg(not(a))] Other => end,
}
#[cfg(not(a))]
::llmnode::flow! {
    Research(World) : #[cfg(not(a))] Other => end,
}
