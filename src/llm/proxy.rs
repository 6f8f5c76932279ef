//! Which proxy to use for an address.

use std::fmt;

/// What the environment says about proxies; the address may hold a password, so `Debug` hides it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ProxySettings {
    /// For addresses that start with `http://`.
    pub http: Option<String>,
    /// For addresses that start with `https://`.
    pub https: Option<String>,
    /// Hosts that are reached directly, separated by commas: `host`, `.domain`, `*.domain`, `*`.
    pub direct: String,
}

impl fmt::Debug for ProxySettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hidden = |proxy: &Option<String>| proxy.as_ref().map(|_| "***");
        f.debug_struct("ProxySettings")
            .field("http", &hidden(&self.http))
            .field("https", &hidden(&self.https))
            .field("direct", &self.direct)
            .finish()
    }
}

impl ProxySettings {
    /// Reads the settings from environment variables, given by a function so that the library
    /// itself does not look at the environment. An empty variable counts as unset.
    ///
    /// `http_proxy`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`, in upper and lower case. The
    /// upper-case form of the first is read by convention only outside of CGI, which this is not.
    pub(crate) fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let get = |name: &str| lookup(name).filter(|value| !value.trim().is_empty());
        let either = |first: &str, second: &str| get(first).or_else(|| get(second));
        let all = either("ALL_PROXY", "all_proxy");
        Self {
            http: either("http_proxy", "HTTP_PROXY").or_else(|| all.clone()),
            https: either("HTTPS_PROXY", "https_proxy").or(all),
            direct: either("NO_PROXY", "no_proxy").unwrap_or_default(),
        }
    }

    /// The proxy for `host` under `scheme`; `None` if it is reached directly.
    ///
    /// The own machine is always reached directly: a proxy could not find it.
    pub(crate) fn choose(&self, scheme: &str, host: &str) -> Option<&str> {
        let proxy = if scheme == "https" { &self.https } else { &self.http };
        let proxy = proxy.as_deref().filter(|proxy| !proxy.trim().is_empty())?;
        let host = host.trim_matches(['[', ']']).to_ascii_lowercase();
        let own = host == "localhost" || host == "::1" || host.starts_with("127.");
        let listed = self.direct.split(',').any(|entry| matches_host(entry, &host));
        (!own && !listed).then_some(proxy)
    }
}

fn matches_host(entry: &str, host: &str) -> bool {
    let entry = entry.trim().to_ascii_lowercase();
    let entry = entry.rsplit_once(':').map_or(entry.as_str(), |(name, port)| {
        if port.bytes().all(|byte| byte.is_ascii_digit()) { name } else { &entry }
    });
    if entry == "*" {
        return true;
    }
    let name = entry.trim_start_matches('*').trim_start_matches('.');
    !name.is_empty() && (host == name || host.strip_suffix(name).is_some_and(|h| h.ends_with('.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_machine_and_listed_hosts_are_reached_directly() {
        let proxies = ProxySettings {
            http: Some("http://p:1".into()),
            https: Some("http://user:secret@p:2".into()),
            direct: "lab.example, .corp.example:443,*.intra".into(),
        };
        let cases = [
            ("https", "api.example", Some("http://user:secret@p:2")),
            ("http", "api.example", Some("http://p:1")),
            ("http", "127.0.0.1", None),
            ("http", "[::1]", None),
            ("http", "LOCALHOST", None),
            ("https", "lab.example", None),
            ("https", "gpu.lab.example", None),
            ("https", "notlab.example", Some("http://user:secret@p:2")),
            ("https", "a.corp.example", None),
            ("https", "x.intra", None),
        ];
        for (scheme, host, expected) in cases {
            assert_eq!(proxies.choose(scheme, host), expected, "{scheme} {host}");
        }
        assert!(!format!("{proxies:?}").contains("secret"));
    }

    #[test]
    fn variables_are_read_in_both_cases_and_empty_ones_count_as_unset() {
        let read = |variables: &[(&str, &str)]| {
            ProxySettings::from_lookup(|name| {
                let found = variables.iter().find(|(key, _)| *key == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        let all = read(&[("all_proxy", "http://a:1"), ("HTTPS_PROXY", " ")]);
        assert_eq!(all.http.as_deref(), Some("http://a:1"));
        assert_eq!(all.https.as_deref(), Some("http://a:1"));
        let own = read(&[
            ("http_proxy", "http://l:1"),
            ("HTTP_PROXY", "http://u:1"),
            ("https_proxy", "http://s:1"),
            ("ALL_PROXY", "http://a:1"),
            ("no_proxy", "x"),
        ]);
        assert_eq!(own.http.as_deref(), Some("http://l:1"));
        assert_eq!(own.https.as_deref(), Some("http://s:1"));
        assert_eq!(own.direct, "x");
    }

    #[test]
    fn a_star_and_an_empty_proxy_mean_no_proxy() {
        let all = ProxySettings {
            http: Some("http://p:1".into()),
            direct: "*".into(),
            ..ProxySettings::default()
        };
        assert_eq!(all.choose("http", "a.example"), None);
        let empty = ProxySettings { http: Some(" ".into()), ..ProxySettings::default() };
        assert_eq!(empty.choose("http", "a.example"), None);
    }
}
