//! caz: does this person's review or label add information beyond what an LLM already says?

pub mod data;
pub mod text;
