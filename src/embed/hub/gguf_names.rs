//! Names of language models in one file.

/// How they end.
pub(super) const ENDING: &str = ".gguf";

/// Whether a file of a repository is a model that can be fetched and loaded.
pub(super) fn is_whole(name: &str) -> bool {
    is_file_name(name) && !is_part(name)
}

/// A name that is a path in the cache and part of an address as it stands.
pub(super) fn is_file_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.+=,~()".contains(&byte);
    name.ends_with(ENDING)
        && name
            .split('/')
            .all(|part| !part.is_empty() && !part.starts_with('.') && part.bytes().all(is_plain))
}

/// Whether it is one of several files of a model, `NAME-00001-of-00003.gguf`.
pub(super) fn is_part(name: &str) -> bool {
    let digits = |text: &str| text.len() == 5 && text.bytes().all(|byte| byte.is_ascii_digit());
    let rest = name.strip_suffix(ENDING).and_then(|stem| stem.rsplit_once("-of-"));
    rest.is_some_and(|(before, count)| {
        digits(count) && before.rsplit_once('-').is_some_and(|(_, number)| digits(number))
    })
}
