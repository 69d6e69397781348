//! What a certificate says, as far as anybody here asks.
//!
//! Invariant: nothing in here decides whether a certificate is to be trusted; that is the handshake's.

use openssl::asn1::{Asn1Time, Asn1TimeRef};
use openssl::error::ErrorStack;
use openssl::nid::Nid;
use openssl::x509::{X509NameRef, X509Ref};

use posthaste_chlauth::DistinguishedName;

/// Seconds of a day.
const DAY: i64 = 24 * 60 * 60;

/// What a certificate says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// Whom it is for.
    pub subject: DistinguishedName,
    /// Who issued it, with the same serial number.
    pub issuer: DistinguishedName,
    /// Its first and its last second, from 1970 on.
    pub valid: (i64, i64),
    /// What kind of key it is for, and of how many bits.
    pub key: String,
    /// It may issue others.
    pub authority: bool,
}

impl Certificate {
    /// Reads one.
    ///
    /// # Errors
    /// Its dates or its serial number cannot be read.
    pub(crate) fn read(certificate: &X509Ref) -> Result<Certificate, ErrorStack> {
        let serial = hexadecimal(&certificate.serial_number().to_bn()?.to_vec());
        let public = certificate.public_key()?;
        let key = match public.id() {
            openssl::pkey::Id::RSA => "RSA",
            openssl::pkey::Id::EC => "EC",
            openssl::pkey::Id::ED25519 => "Ed25519",
            _ => "other",
        };
        Ok(Certificate {
            subject: name(certificate.subject_name(), &serial),
            issuer: name(certificate.issuer_name(), &serial),
            valid: (
                seconds(certificate.not_before())?,
                seconds(certificate.not_after())?,
            ),
            key: format!("{key} {}", public.bits()),
            authority: certificate.issued(certificate) == openssl::x509::X509VerifyResult::OK
                || certificate.pathlen().is_some(),
        })
    }

    /// Days before its end from which on it is told of: time enough to have a new one issued.
    pub const EARLY: i64 = 30;

    /// Whether it is valid at a time, in seconds from 1970 on.
    pub fn is_valid(&self, now: i64) -> bool {
        (self.valid.0..=self.valid.1).contains(&now)
    }

    /// Whole days from a time until it ends; negative when it has ended.
    pub fn days_left(&self, now: i64) -> i64 {
        (self.valid.1 - now).div_euclid(DAY)
    }
}

/// Whom a certificate says that it is for, whether or not anything else in it can be read.
pub(crate) fn subject(certificate: &X509Ref) -> String {
    let serial = certificate.serial_number().to_bn();
    let serial = serial.map(|number| hexadecimal(&number.to_vec()));
    name(certificate.subject_name(), &serial.unwrap_or_default()).to_string()
}

fn hexadecimal(bytes: &[u8]) -> String {
    let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    bytes.join(":")
}

pub(crate) fn seconds(time: &Asn1TimeRef) -> Result<i64, ErrorStack> {
    let epoch = Asn1Time::from_unix(0)?;
    let difference = epoch.diff(time)?;
    Ok(i64::from(difference.days) * DAY + i64::from(difference.secs))
}

fn name(name: &X509NameRef, serial: &str) -> DistinguishedName {
    let part = |entry: &openssl::x509::X509NameEntryRef| {
        let nid = entry.object().nid();
        let kind = match nid {
            Nid::UNDEF => entry.object().to_string(),
            nid => nid.short_name().unwrap_or_default().to_owned(),
        };
        let data = entry.data();
        let otherwise = |_| String::from_utf8_lossy(data.as_slice()).into_owned();
        let value = data.to_string().unwrap_or_else(otherwise);
        (kind, value)
    };
    DistinguishedName {
        serial: serial.to_owned(),
        parts: name.entries().map(part).collect(),
    }
}
