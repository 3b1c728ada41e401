flow! {
    #[derive(Clone)]
    pub(crate) Translate(Shared<'static>) -> Outcome {
        file: PathBuf => state.part.current,
        pub language: Language,
    }, steps = 50, name = "other", crate = crate::llm:
    Decide => match { Answer => end(Outcome::Done), "x" | "y" => First, _ => todo!("later") },
    Inner { text: state.text.clone() } as First in state.part => Again,
    nodes::Ask<u8> { n: 1 } as Again => Part,
    Part in state.0 => Gather,
    (Weather, News) as Gather => end(Outcome::Late),
}
