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
    /// The proxy for `host` under `scheme`; `None` if it is reached directly.
    ///
    /// The own machine is always reached directly: a proxy could not find it.
    pub fn choose(&self, scheme: &str, host: &str) -> Option<&str> {
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
