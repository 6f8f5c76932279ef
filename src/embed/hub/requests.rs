//! Requests to the hub and to the hosts that it redirects to.
//!
//! The hub keeps large files on other hosts. A redirect is followed here and not by the HTTP client,
//! so that the token goes to the hub alone and every host is reached by its own proxy.

use std::error::Error as StdError;

use ureq::http::{Response, Uri};
use ureq::{Agent, Body};

use super::settings::{HubSettings, Token, without_login};
use crate::llm::trust::{Distrust, distrust};

/// More would be a circle.
const MAX_REDIRECTS: usize = 10;

/// Why a request has no answer that can be used.
#[derive(Debug)]
pub(super) enum Failure {
    /// The status of the last host.
    Status(u16),
    /// This host may not be who it says.
    Distrust(String, Distrust),
    /// The connection failed, broke or was silent for too long.
    Connection(Box<dyn StdError + Send + Sync>),
    /// The answer is not what the hub's interface promises.
    Answer(String),
}

/// Asks the hub.
#[derive(Debug)]
pub(super) struct Client {
    agent: Agent,
    settings: HubSettings,
}

impl Client {
    pub(super) fn new(settings: &HubSettings) -> Self {
        let waits = settings.waits;
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_resolve(Some(waits.connection))
            .timeout_connect(Some(waits.connection))
            .timeout_recv_response(Some(waits.answer))
            .timeout_per_read(Some(waits.silence.max(waits.answer)))
            // Never from the environment: that is for the caller to read.
            .proxy(None)
            .tls_config(settings.trust.tls_config())
            .user_agent(concat!("caz/", env!("CARGO_PKG_VERSION")))
            .build();
        Self { agent: config.new_agent(), settings: settings.clone() }
    }

    /// What is at `path` of the hub, from byte `start`; follows redirects.
    pub(super) fn get(&self, path: &str, start: u64) -> Result<Response<Body>, Failure> {
        let endpoint = Place::parse(&self.settings.endpoint)?;
        let mut address = format!("{}/{path}", self.settings.endpoint);
        for _ in 0..=MAX_REDIRECTS {
            let place = Place::parse(&address)?;
            if endpoint.scheme == "https" && place.scheme != "https" {
                return Err(Failure::Answer("it redirects to an address without TLS".into()));
            }
            let proxy = match self.settings.proxy.choose(&place.scheme, &place.host) {
                None => None,
                // Its text is left out: it may hold a password.
                Some(url) => Some(
                    ureq::Proxy::new(url)
                        .map_err(|_| Failure::Connection("the proxy cannot be used".into()))?,
                ),
            };
            let mut request = self.agent.get(&address).config().proxy(proxy).build();
            if let Some(token) = self.settings.token.as_ref().filter(|_| place == endpoint) {
                request =
                    request.header("authorization", format!("Bearer {}", Token::expose(token)));
            }
            if start > 0 {
                request = request.header("range", format!("bytes={start}-"));
            }
            let response = request.call().map_err(|error| match distrust(&error) {
                Some(problem) => Failure::Distrust(place.host.clone(), problem),
                None => Failure::Connection(Box::new(error)),
            })?;
            match response.status().as_u16() {
                200..=299 => return Ok(response),
                301 | 302 | 303 | 307 | 308 => address = place.follow(&response)?,
                status => return Err(Failure::Status(status)),
            }
        }
        Err(Failure::Answer(format!("it redirects more than {MAX_REDIRECTS} times")))
    }
}

/// Whom an address belongs to.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    scheme: String,
    host: String,
    port: u16,
}

impl Place {
    fn parse(address: &str) -> Result<Self, Failure> {
        let unusable = || {
            let shown = without_login(without_query(address));
            Failure::Answer(format!("`{shown}` is no address"))
        };
        let uri: Uri = address.parse().map_err(|_| unusable())?;
        let scheme = uri.scheme_str().ok_or_else(unusable)?.to_ascii_lowercase();
        let port = match (uri.port_u16(), scheme.as_str()) {
            (Some(port), "http" | "https") => port,
            (None, "http") => 80,
            (None, "https") => 443,
            _ => return Err(unusable()),
        };
        let host = uri.host().ok_or_else(unusable)?.to_ascii_lowercase();
        Ok(Self { scheme, host, port })
    }

    /// The address that a redirect from here names.
    fn follow(&self, response: &Response<Body>) -> Result<String, Failure> {
        let location = response.headers().get("location").and_then(|value| value.to_str().ok());
        let location = location
            .ok_or_else(|| Failure::Answer("it redirects without saying where to".into()))?;
        Ok(if location.starts_with("//") {
            format!("{}:{location}", self.scheme)
        } else if location.starts_with('/') {
            format!("{}://{}:{}{location}", self.scheme, self.host, self.port)
        } else {
            location.to_owned()
        })
    }
}

/// The address without its query, which may hold a signature.
fn without_query(address: &str) -> &str {
    address.split('?').next().unwrap_or(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_scheme_host_and_port() {
        let place = |address: &str| Place::parse(address).unwrap();
        assert_eq!(place("https://Hub.example/a"), place("https://hub.example:443/b?c"));
        for other in ["http://hub.example", "https://hub.example:8443", "https://cdn.hub.example"] {
            assert_ne!(place("https://hub.example"), place(other), "{other}");
        }
        for bad in ["", "hub.example", "/a", "ftp://hub.example"] {
            assert!(Place::parse(bad).is_err(), "{bad}");
        }
    }
}
