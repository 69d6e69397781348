//! Why a handshake or a connection failed, in the words that an operator can act on.
//!
//! Invariant: whatever OpenSSL reports becomes one of these, with its own words where there is nothing better.

use openssl::error::ErrorStack;
use openssl::ssl::{ErrorCode, SslRef, SslVersion};
use openssl::x509::X509VerifyResult;

/// OpenSSL's numbers of reasons (`SSL_R_...`).
const NO_SHARED_CIPHER: i32 = 193;
const NO_SUITABLE_SIGNATURE: i32 = 118;
const NO_SHARED_SIGNATURE: i32 = 376;
const NO_SHARED_GROUPS: i32 = 410;
const VERIFY_FAILED: i32 = 134;
const UNSUPPORTED_PROTOCOL: i32 = 258;
const VERSION_TOO_LOW: i32 = 396;
const UNEXPECTED_END: i32 = 294;
/// What a client of TLS 1.2 says that wanted to renegotiate and was told that it may not.
const HANDSHAKE_FAILURE: i32 = 1040;
/// Alerts of the peer have these numbers, beginning with this.
const ALERT: i32 = 1000;
/// The last alert that there can be.
const LAST_ALERT: i32 = ALERT + 255;

/// Why TLS failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The two sides have no version, or no CipherSpec, in common.
    #[error("the two ends have no CipherSpec in common ({0})")]
    NothingInCommon(String),
    /// The partner's certificate is not to be trusted.
    #[error("the partner's certificate is refused: {why}")]
    BadCertificate {
        /// Why.
        why: String,
        /// It was valid once, or will be.
        expired: bool,
        /// Whom it says that it is for. Nobody has vouched for that.
        subject: Option<String>,
    },
    /// The partner broke the handshake or the connection off with an alert.
    #[error("the partner broke off: {0}")]
    Alert(String),
    /// The partner has closed the connection without saying so.
    #[error("the connection ended in the middle of a record or without the partner's farewell")]
    Truncated,
    /// A connection cannot even begin: memory, or the key repository.
    #[error("TLS cannot begin: {0}")]
    Unable(String),
    /// The certificate that the channel is to show cannot be used.
    #[error("the channel's certificate cannot be used: {0}")]
    NoCertificate(String),
    /// What came is not TLS, or was changed on its way.
    #[error("what came is no valid TLS: {0}")]
    BadRecord(String),
}

/// That TLS with a partner has failed, and what is known of that partner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Why.
    pub failure: Failure,
    /// The channel that a client has named.
    pub channel: Option<String>,
}

impl Failure {
    /// The same with whom a certificate that was refused is for.
    pub(crate) fn of_subject(self, name: Option<String>) -> Failure {
        match self {
            Failure::BadCertificate { why, expired, .. } => Failure::BadCertificate {
                why,
                expired,
                subject: name,
            },
            other => other,
        }
    }

    /// What an error of a connection means.
    pub(crate) fn of(error: &openssl::ssl::Error, ssl: &SslRef) -> Failure {
        match error.ssl_error() {
            Some(stack) => of_stack(stack, ssl),
            None if [ErrorCode::ZERO_RETURN, ErrorCode::SYSCALL].contains(&error.code()) => {
                Failure::Truncated
            }
            None => Failure::BadRecord(error.to_string()),
        }
    }

    /// The same when the handshake was done before.
    pub(crate) fn of_data(error: &openssl::ssl::Error, ssl: &SslRef) -> Failure {
        let first = error.ssl_error().and_then(|stack| stack.errors().first());
        let reason = first.map(|error| error.reason_code());
        match Failure::of(error, ssl) {
            Failure::Alert(words)
                if reason == Some(HANDSHAKE_FAILURE)
                    && ssl.version2() == Some(SslVersion::TLS1_2) =>
            {
                Failure::Alert(format!(
                    "{words}: it may not renegotiate; new keys after so many bytes need TLS 1.3"
                ))
            }
            failure => failure,
        }
    }
}

fn of_stack(stack: &ErrorStack, ssl: &SslRef) -> Failure {
    let first = stack.errors().first();
    let words = first
        .and_then(|error| error.reason())
        .unwrap_or("no reason is known");
    let words = words.to_owned();
    match first.map(|error| error.reason_code()) {
        Some(
            NO_SHARED_CIPHER
            | NO_SUITABLE_SIGNATURE
            | NO_SHARED_SIGNATURE
            | NO_SHARED_GROUPS
            | UNSUPPORTED_PROTOCOL
            | VERSION_TOO_LOW,
        ) => Failure::NothingInCommon(words),
        Some(VERIFY_FAILED) => bad_certificate(ssl.verify_result()),
        Some(UNEXPECTED_END) => Failure::Truncated,
        Some(ALERT..=LAST_ALERT) => Failure::Alert(words),
        _ => Failure::BadRecord(words),
    }
}

fn bad_certificate(result: X509VerifyResult) -> Failure {
    /// `X509_V_ERR_CERT_NOT_YET_VALID` and `X509_V_ERR_CERT_HAS_EXPIRED`.
    const OUT_OF_TIME: [i32; 2] = [9, 10];
    Failure::BadCertificate {
        why: result.error_string().to_owned(),
        expired: OUT_OF_TIME.contains(&result.as_raw()),
        subject: None,
    }
}
