//! Whose certificates are believed, and what is wrong with one that is not.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::CertificateError;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

use crate::error::{ErrorKind, Kinded, Remedy};

/// Whose certificates are believed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Trust {
    /// Those of the authorities that browsers believe, as Mozilla lists them; the list is part of
    /// the program.
    #[default]
    Public,
    /// Those of the authorities in a file, and no others.
    File(Authorities),
}

/// The certificates of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authorities {
    path: PathBuf,
    /// In DER format.
    certificates: Vec<Vec<u8>>,
}

/// Why a file of certificates cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// It cannot be read.
    #[error("cannot read the certificates in `{path}`")]
    File {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// It holds no certificate.
    #[error(
        "`{path}` holds no certificate that can be read; it must be in PEM format, with a line \
         -----BEGIN CERTIFICATE-----"
    )]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

impl Kinded for TrustError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::File { .. } => ErrorKind::Missing,
            Self::Empty { .. } => ErrorKind::Input,
        }
    }
}

impl Trust {
    /// The authorities in a file in PEM format, and no others. It may be the certificate of a
    /// server that signed itself.
    ///
    /// # Errors
    ///
    /// `TrustError` if it cannot be read, or holds no certificate, or one that cannot be read.
    pub fn from_file(path: &Path) -> Result<Self, TrustError> {
        let text = std::fs::read(path)
            .map_err(|source| TrustError::File { path: path.to_owned(), source })?;
        let empty = || TrustError::Empty { path: path.to_owned() };
        let mut certificates = Vec::new();
        for item in parse_pem(&text) {
            // A file may hold the server's key, too; that is no affair of ours.
            if let PemItem::Certificate(certificate) = item.map_err(|_| empty())? {
                certificates.push(certificate.der().to_vec());
            }
        }
        if certificates.is_empty() {
            return Err(empty());
        }
        Ok(Self::File(Authorities { path: path.to_owned(), certificates }))
    }

    /// What the HTTP client has to know.
    pub(crate) fn tls_config(&self) -> TlsConfig {
        let roots = match self {
            Self::Public => RootCerts::WebPki,
            Self::File(Authorities { certificates, .. }) => {
                let read = certificates.iter().map(|der| Certificate::from_der(der).to_owned());
                RootCerts::Specific(Arc::new(read.collect()))
            }
        };
        TlsConfig::builder().root_certs(roots).build()
    }
}

impl fmt::Display for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Public => f.write_str("authorities that browsers believe (built in)"),
            Self::File(Authorities { path, certificates }) => {
                write!(f, "{} certificates in `{}`, no others", certificates.len(), path.display())
            }
        }
    }
}

/// Why a server is not believed to be who it says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Distrust {
    /// Nobody who is believed signed its certificate; it may have signed itself.
    UnknownAuthority,
    /// Its certificate has expired.
    Expired,
    /// Its certificate is not valid yet.
    NotYetValid,
    /// Its certificate is for other names.
    OtherName {
        /// For which, as far as they are known.
        names: Vec<String>,
    },
    /// It shows the certificate of an authority as its own.
    AuthorityAsServer,
    /// Its certificate is not good for another reason.
    Other {
        /// What the checker said.
        reason: String,
    },
    /// It does not speak TLS.
    NoTls,
}

impl Distrust {
    /// What would help, if it is a setting.
    pub(crate) fn remedy(&self) -> Option<Remedy> {
        matches!(self, Self::UnknownAuthority).then_some(Remedy::NameAuthority)
    }
}

impl fmt::Display for Distrust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownAuthority => {
                write!(f, "its certificate is not signed by an authority that is believed here")
            }
            Self::Expired => {
                write!(f, "its certificate has expired; renew it, and check this machine's clock")
            }
            Self::NotYetValid => {
                write!(f, "its certificate is not valid yet; check this machine's clock")
            }
            Self::OtherName { names } if names.is_empty() => {
                write!(f, "its certificate is for another name; use that name in the address")
            }
            Self::OtherName { names } => write!(
                f,
                "its certificate is for another name ({}); use that name in the address",
                names.join(", ")
            ),
            Self::AuthorityAsServer => write!(
                f,
                "its certificate is that of an authority, which cannot stand for a server; make it \
                 one with basicConstraints=CA:FALSE"
            ),
            Self::Other { reason } => write!(f, "its certificate is not good ({reason})"),
            Self::NoTls => write!(f, "it does not speak TLS; its address may start with http://"),
        }
    }
}

/// What is wrong with a server's certificate, if that is why a connection failed.
pub(crate) fn distrust(error: &ureq::Error) -> Option<Distrust> {
    let error = match error {
        ureq::Error::Rustls(error) => error,
        ureq::Error::Io(error) => error.get_ref()?.downcast_ref()?,
        _ => return None,
    };
    let problem = match error {
        rustls::Error::InvalidCertificate(problem) => problem,
        rustls::Error::InvalidMessage(_) => return Some(Distrust::NoTls),
        _ => return None,
    };
    Some(match problem {
        CertificateError::UnknownIssuer => Distrust::UnknownAuthority,
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => Distrust::Expired,
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            Distrust::NotYetValid
        }
        CertificateError::NotValidForName => Distrust::OtherName { names: Vec::new() },
        CertificateError::NotValidForNameContext { presented, .. } => {
            Distrust::OtherName { names: presented.clone() }
        }
        CertificateError::Other(other) => {
            let reason = other.source().map_or_else(|| other.to_string(), ToString::to_string);
            // The checker's own error is no part of the interface.
            if reason.contains("CaUsedAsEndEntity") {
                Distrust::AuthorityAsServer
            } else {
                Distrust::Other { reason }
            }
        }
        other => Distrust::Other { reason: other.to_string() },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_certificates_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ca.pem");
        let missing = Trust::from_file(&path).unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::Missing);
        for text in ["", "hello", "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n"] {
            std::fs::write(&path, text).unwrap();
            let error = Trust::from_file(&path).unwrap_err();
            assert!(error.to_string().contains("PEM format"), "{text}: {error}");
        }
    }

    #[test]
    fn failures_of_other_kinds_are_no_distrust() {
        let reset = ureq::Error::Io(io::ErrorKind::ConnectionReset.into());
        assert_eq!(distrust(&reset), None);
        let inside = rustls::Error::InvalidCertificate(CertificateError::Expired);
        let wrapped = io::Error::new(io::ErrorKind::InvalidData, inside);
        assert_eq!(distrust(&ureq::Error::Io(wrapped)), Some(Distrust::Expired));
    }
}
