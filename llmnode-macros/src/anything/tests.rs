mod corpus;
mod mutate;
mod templates;
