//! CipherSpecs: the names that SSLCIPH takes, and what each allows in a handshake.
//!
//! Invariant: the table is in order of preference, the order that is published for the aliases of this interface:
//! newer protocol first, then by strength. What a name allows is never empty.

use std::fmt;

/// A version of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// TLS 1.2.
    Tls12,
    /// TLS 1.3.
    Tls13,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Version::Tls12 => "TLS 1.2",
            Version::Tls13 => "TLS 1.3",
        })
    }
}

/// One combination of algorithms.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct CipherSpec {
    /// What SSLCIPH calls it.
    pub name: &'static str,
    /// The version of TLS it belongs to.
    pub version: Version,
    /// What OpenSSL calls it.
    pub suite: &'static str,
    /// The aliases allow it.
    pub by_default: bool,
    /// Its algorithms are approved by FIPS 140.
    pub fips: bool,
    /// The strength in bits at which Suite B (RFC 6460) has it.
    pub suite_b: Option<u16>,
}

const fn spec(
    name: &'static str,
    version: Version,
    suite: &'static str,
    fips: bool,
    suite_b: Option<u16>,
) -> CipherSpec {
    CipherSpec {
        name,
        version,
        suite,
        by_default: true,
        fips,
        suite_b,
    }
}

use Version::{Tls12, Tls13};

/// All of them, the most preferred first.
#[rustfmt::skip]
pub static CIPHER_SPECS: [CipherSpec; 13] = [
    spec("TLS_CHACHA20_POLY1305_SHA256", Tls13, "TLS_CHACHA20_POLY1305_SHA256", false, None),
    spec("TLS_AES_256_GCM_SHA384", Tls13, "TLS_AES_256_GCM_SHA384", true, None),
    spec("TLS_AES_128_GCM_SHA256", Tls13, "TLS_AES_128_GCM_SHA256", true, None),
    spec("TLS_AES_128_CCM_SHA256", Tls13, "TLS_AES_128_CCM_SHA256", true, None),
    spec("TLS_AES_128_CCM_8_SHA256", Tls13, "TLS_AES_128_CCM_8_SHA256", true, None),
    spec("ECDHE_ECDSA_AES_256_GCM_SHA384", Tls12, "ECDHE-ECDSA-AES256-GCM-SHA384", true, Some(192)),
    spec("ECDHE_RSA_AES_256_GCM_SHA384", Tls12, "ECDHE-RSA-AES256-GCM-SHA384", true, None),
    spec("ECDHE_ECDSA_AES_256_CBC_SHA384", Tls12, "ECDHE-ECDSA-AES256-SHA384", true, None),
    spec("ECDHE_RSA_AES_256_CBC_SHA384", Tls12, "ECDHE-RSA-AES256-SHA384", true, None),
    spec("ECDHE_ECDSA_AES_128_GCM_SHA256", Tls12, "ECDHE-ECDSA-AES128-GCM-SHA256", true, Some(128)),
    spec("ECDHE_RSA_AES_128_GCM_SHA256", Tls12, "ECDHE-RSA-AES128-GCM-SHA256", true, None),
    spec("ECDHE_ECDSA_AES_128_CBC_SHA256", Tls12, "ECDHE-ECDSA-AES128-SHA256", true, None),
    spec("ECDHE_RSA_AES_128_CBC_SHA256", Tls12, "ECDHE-RSA-AES128-SHA256", true, None),
];

/// Names that allow several, and the versions of TLS that they allow.
pub const ALIASES: [(&str, &[Version]); 4] = [
    ("ANY_TLS12", &[Tls12]),
    ("ANY_TLS12_OR_HIGHER", &[Tls12, Tls13]),
    ("ANY_TLS13", &[Tls13]),
    ("ANY_TLS13_OR_HIGHER", &[Tls13]),
];

/// What may be agreed on: some rows of the table, in its order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Allowed(Vec<&'static CipherSpec>);

/// The name stands for no CipherSpec.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is no CipherSpec")]
pub struct UnknownCipherSpec(pub String);

impl Allowed {
    /// Everything in the table: what is offered while it is not known which channel is asked for.
    pub fn all() -> Allowed {
        Allowed(CIPHER_SPECS.iter().collect())
    }

    /// What a value of SSLCIPH allows.
    ///
    /// # Errors
    /// It names neither a CipherSpec nor an alias.
    pub fn parse(name: &str) -> Result<Allowed, UnknownCipherSpec> {
        let name = name.trim_matches(' ');
        if let Some((_, versions)) = ALIASES.iter().find(|(alias, _)| *alias == name) {
            let allowed = |spec: &&CipherSpec| spec.by_default && versions.contains(&spec.version);
            return Ok(Allowed(CIPHER_SPECS.iter().filter(allowed).collect()));
        }
        match CIPHER_SPECS.iter().find(|spec| spec.name == name) {
            Some(spec) => Ok(Allowed(vec![spec])),
            None => Err(UnknownCipherSpec(name.to_owned())),
        }
    }

    /// Those of them that `keep` says yes to; `None` if it does to none.
    pub fn only(&self, keep: impl Fn(&CipherSpec) -> bool) -> Option<Allowed> {
        let kept: Vec<_> = self.0.iter().copied().filter(|spec| keep(spec)).collect();
        (!kept.is_empty()).then_some(Allowed(kept))
    }

    /// Whether this one is allowed.
    pub fn contains(&self, spec: &CipherSpec) -> bool {
        self.0.contains(&spec)
    }

    /// Whether any of this version is.
    pub fn has(&self, version: Version) -> bool {
        self.0.iter().any(|spec| spec.version == version)
    }

    /// What OpenSSL is given for one version.
    pub(crate) fn suites(&self, version: Version) -> String {
        let of_version = self.0.iter().filter(|spec| spec.version == version);
        let suites: Vec<&str> = of_version.map(|spec| spec.suite).collect();
        suites.join(":")
    }
}

/// The row of what was agreed on, by OpenSSL's name.
pub(crate) fn by_suite(suite: &str) -> Option<&'static CipherSpec> {
    CIPHER_SPECS.iter().find(|spec| spec.suite == suite)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<&'static str> {
        let Allowed(rows) = Allowed::parse(text).unwrap();
        rows.iter().map(|spec| spec.name).collect()
    }

    #[test]
    fn a_name_allows_itself_and_an_alias_what_its_versions_have() {
        for spec in &CIPHER_SPECS {
            assert_eq!(names(spec.name), [spec.name]);
            assert_eq!(by_suite(spec.suite), Some(spec));
        }
        assert_eq!(names("ANY_TLS12").len(), 8);
        assert_eq!(names("ANY_TLS13"), names("ANY_TLS13_OR_HIGHER"));
        assert_eq!(names("ANY_TLS13").len(), 5);
        let both = names(" ANY_TLS12_OR_HIGHER ");
        assert_eq!(both.len(), 13);
        assert_eq!(both[0], "TLS_CHACHA20_POLY1305_SHA256", "newest first");
        for unknown in [
            "",
            "NULL_MD5",
            "tls_aes_128_gcm_sha256",
            "ANY",
            "TLS_RSA_WITH_AES_128_CBC_SHA256",
            // Only blanks around a name mean nothing.
            "ANY_TLS12\u{a0}",
            "\tANY_TLS12",
        ] {
            assert_eq!(
                Allowed::parse(unknown),
                Err(UnknownCipherSpec(unknown.to_owned()))
            );
        }
    }

    #[test]
    fn restrictions_leave_what_they_approve_of() {
        let all = Allowed::all();
        let fips = all.only(|spec| spec.fips).unwrap();
        assert!(!fips.contains(&CIPHER_SPECS[0]) && fips.contains(&CIPHER_SPECS[1]));
        let chacha = Allowed::parse("TLS_CHACHA20_POLY1305_SHA256").unwrap();
        assert_eq!(chacha.only(|spec| spec.fips), None);
        assert!(chacha.has(Tls13) && !chacha.has(Tls12));
        let suite_b = all.only(|spec| spec.suite_b >= Some(192)).unwrap();
        assert_eq!(suite_b.suites(Tls12), "ECDHE-ECDSA-AES256-GCM-SHA384");
        assert_eq!(suite_b.suites(Tls13), "");
    }
}
