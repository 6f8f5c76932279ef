//! Addresses of servers.

use crate::llm::error::ChatError;

/// Where a server is, up to and including the version of its protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    base: String,
    /// `http` or `https`.
    pub(super) scheme: &'static str,
    /// Host and port, without credentials.
    pub(super) host: String,
}

impl Address {
    /// Reads an address.
    pub(super) fn parse(url: &str) -> Result<Self, ChatError> {
        let (scheme, rest) = if let Some(rest) = url.strip_prefix("https://") {
            ("https", rest)
        } else if let Some(rest) = url.strip_prefix("http://") {
            ("http", rest)
        } else {
            let reason = "it must start with http:// or https://, e.g. http://localhost:8000/v1";
            return Err(ChatError::BadUrl { url: without_secrets(url).to_owned(), reason });
        };
        let bad = |reason| Err(ChatError::BadUrl { url: format!("{scheme}://…"), reason });
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if host.contains('@') {
            return bad("it holds credentials; put the key into the environment");
        }
        if rest.contains(['?', '#']) {
            return bad("it has a query or fragment; end it with the version, e.g. /v1");
        }
        if host.is_empty() || rest.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return bad("it names no host, or holds white space");
        }
        Ok(Self { base: url.trim_end_matches('/').to_owned(), scheme, host: host.to_owned() })
    }

    /// The address of `path`, e.g. `chat/completions`.
    pub(super) fn endpoint(&self, path: &str) -> String {
        format!("{}/{path}", self.base)
    }

    /// The host without its port.
    pub(super) fn host_name(&self) -> &str {
        match self.host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => &self.host,
        }
    }
}

/// The address if it holds nothing that may be a key.
fn without_secrets(url: &str) -> &str {
    if url.contains(['@', '?', '#']) { "…" } else { url }
}

/// Checks an address to which nothing is sent: it may be written somewhere.
///
/// # Errors
///
/// [`ChatError::BadUrl`].
pub(crate) fn check_address(url: &str) -> Result<(), ChatError> {
    Address::parse(url).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_refused_without_repeating_them() {
        for url in [
            "http://user:pass@host/v1",
            "https://pass@host",
            "ftp://user:pass@host",
            "ftp://host/v1?key=pass",
            "ftp://host/v1?key=user@pass",
            "host/v1#pass",
        ] {
            let error = Address::parse(url).unwrap_err().to_string();
            assert!(!error.contains("pass"), "{error}");
        }
    }

    #[test]
    fn addresses_that_cannot_work_are_refused() {
        for url in ["localhost:8000/v1", "http:///v1", "http://a b/v1", "http://h/v1?key=x", ""] {
            assert!(matches!(Address::parse(url), Err(ChatError::BadUrl { .. })), "{url}");
        }
    }

    #[test]
    fn endpoints_stand_below_the_base() {
        for url in ["http://h:8000/v1", "http://h:8000/v1/"] {
            let address = Address::parse(url).unwrap();
            assert_eq!(address.endpoint("chat/completions"), "http://h:8000/v1/chat/completions");
            assert_eq!((address.host.as_str(), address.host_name()), ("h:8000", "h"));
        }
    }
}
