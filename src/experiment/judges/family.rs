//! Which models are relatives, by how their names begin.

/// Beginnings of names, in lower case, with the family.
const FAMILIES: [(&str, &str); 22] = [
    ("gpt", "openai"),
    ("chatgpt", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
    ("text-davinci", "openai"),
    ("claude", "anthropic"),
    ("llama", "llama"),
    ("codellama", "llama"),
    ("alpaca", "llama"),
    ("vicuna", "llama"),
    ("palm", "google"),
    ("bard", "google"),
    ("gemini", "google"),
    ("gemma", "google"),
    ("mistral", "mistral"),
    ("mixtral", "mistral"),
    ("qwen", "qwen"),
    ("falcon", "falcon"),
    ("deepseek", "deepseek"),
    ("phi", "microsoft"),
    ("smollm", "smollm"),
];

/// The family of a model or judge; `None` for people and models not known here.
///
/// Fine-tuned models belong to the model they were made from.
pub(super) fn family(name: &str) -> Option<&'static str> {
    let name = name.trim().to_lowercase();
    // `owner/model` is how hubs name them.
    let name = name.rsplit('/').next().unwrap_or_default();
    FAMILIES.iter().find(|(beginning, _)| name.starts_with(beginning)).map(|(_, family)| *family)
}

#[cfg(test)]
mod tests {
    use super::family;

    #[test]
    fn relatives_are_known_by_the_beginning_of_the_name() {
        assert_eq!(family("gpt4_pair"), family("gpt-3.5-turbo"));
        assert_eq!(family("meta-llama/Llama-2-70b-hf"), family("vicuna-13b-v1.2"));
        assert_ne!(family("claude-v1"), family("gpt-4"));
        assert_eq!(family("expert_1"), None);
    }
}
