flow! {
    #[cfg(b)]
    Research(World) { goal: String, #[cfg(a)] deep: bool => state.1 }:
    Decide => match { Decision::Answer => end, #[cfg(a)] Decision::Search(_) => Search },
    #[cfg(a)]
    Search => Decide,
}
