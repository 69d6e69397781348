//! Certificates for development and tests: an authority, and certificates that it issues.
//!
//! Invariant: nothing in here is for production: the authority's key lies beside what it has issued.

use openssl::asn1::{Asn1Integer, Asn1Time};
use openssl::bn::{BigNum, MsbOption};
use openssl::ec::{EcGroup, EcKey};
use openssl::error::ErrorStack;
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkcs12::Pkcs12;
use openssl::pkey::{PKey, Private};
use openssl::rsa::Rsa;
use openssl::stack::Stack;
use openssl::x509::extension::{
    AuthorityKeyIdentifier, BasicConstraints, ExtendedKeyUsage, KeyUsage, SubjectAlternativeName,
    SubjectKeyIdentifier,
};
use openssl::x509::{X509, X509Builder, X509Name, X509NameBuilder};

/// Length of RSA keys in bits.
const RSA_BITS: u32 = 2048;
/// Random bits of serial numbers.
const SERIAL_BITS: i32 = 127;

/// A password that nobody guesses: 160 random bits in hexadecimal digits.
///
/// # Errors
/// The system gives no random bytes.
pub fn password() -> Result<String, ErrorStack> {
    let mut bytes = [0; 20];
    openssl::rand::rand_bytes(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// What kind of key a certificate is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeyKind {
    /// RSA of 2,048 bits.
    #[default]
    Rsa,
    /// On the curve P-256.
    Ec,
    /// On the curve P-384, which signs with SHA-384.
    Ec384,
}

/// What a certificate is to say.
#[derive(Clone, Debug)]
pub struct Subject<'a> {
    /// Its name: kinds by OpenSSL's short names and values, the highest unit first.
    pub name: &'a [(&'a str, &'a str)],
    /// Hosts and addresses that it is for.
    pub hosts: &'a [&'a str],
    /// What kind of key.
    pub key: KeyKind,
    /// From when until when, in seconds from 1970 on.
    pub valid: (i64, i64),
}

/// A certificate with its key.
#[derive(Clone)]
pub struct Issued {
    key: PKey<Private>,
    certificate: X509,
}

impl Issued {
    /// An authority, which has signed its own certificate.
    ///
    /// # Errors
    /// A part of the name is none.
    pub fn authority(subject: &Subject<'_>) -> Result<Issued, ErrorStack> {
        Issued::issuer(subject, None)
    }

    /// An authority below this one.
    ///
    /// # Errors
    /// A part of the name is none.
    pub fn intermediate(&self, subject: &Subject<'_>) -> Result<Issued, ErrorStack> {
        Issued::issuer(subject, Some(self))
    }

    fn issuer(subject: &Subject<'_>, above: Option<&Issued>) -> Result<Issued, ErrorStack> {
        let key = key(subject.key)?;
        let name = name(subject)?;
        let signed_by = above.map_or(&*name, |above| above.certificate.subject_name());
        let mut builder = begin(subject, &name, signed_by, &key)?;
        builder.append_extension(BasicConstraints::new().critical().ca().build()?)?;
        let usage = KeyUsage::new()
            .critical()
            .key_cert_sign()
            .crl_sign()
            .build()?;
        builder.append_extension(usage)?;
        let identifier = SubjectKeyIdentifier::new().build(&builder.x509v3_context(None, None))?;
        builder.append_extension(identifier)?;
        finish(builder, key, above.map(|above| &above.key))
    }

    /// A certificate that this authority issues.
    ///
    /// # Errors
    /// A part of the name is none.
    pub fn issue(&self, subject: &Subject<'_>) -> Result<Issued, ErrorStack> {
        let key = key(subject.key)?;
        let name = name(subject)?;
        let mut builder = begin(subject, &name, self.certificate.subject_name(), &key)?;
        builder.append_extension(BasicConstraints::new().build()?)?;
        let usage = KeyUsage::new().critical().digital_signature().build()?;
        builder.append_extension(usage)?;
        let usage = ExtendedKeyUsage::new()
            .server_auth()
            .client_auth()
            .build()?;
        builder.append_extension(usage)?;
        if !subject.hosts.is_empty() {
            let mut names = SubjectAlternativeName::new();
            for host in subject.hosts {
                match host.parse::<std::net::IpAddr>() {
                    Ok(_) => names.ip(host),
                    Err(_) => names.dns(host),
                };
            }
            let names = names.build(&builder.x509v3_context(Some(&self.certificate), None))?;
            builder.append_extension(names)?;
        }
        let context = builder.x509v3_context(Some(&self.certificate), None);
        let identifier = SubjectKeyIdentifier::new().build(&context)?;
        let issuer = AuthorityKeyIdentifier::new().keyid(true).build(&context)?;
        builder.append_extension(identifier)?;
        builder.append_extension(issuer)?;
        finish(builder, key, Some(&self.key))
    }

    /// Its key and the certificate.
    pub(crate) fn into_parts(self) -> (PKey<Private>, X509) {
        (self.key, self.certificate)
    }

    /// The certificate, in PEM.
    ///
    /// # Errors
    /// There is no memory.
    pub fn certificate_pem(&self) -> Result<Vec<u8>, ErrorStack> {
        self.certificate.to_pem()
    }

    /// Its private key, in PEM, not encrypted.
    ///
    /// # Errors
    /// There is no memory.
    pub fn key_pem(&self) -> Result<Vec<u8>, ErrorStack> {
        self.key.private_key_to_pem_pkcs8()
    }

    /// What [`Issued::certificate_pem`] and [`Issued::key_pem`] have written.
    ///
    /// # Errors
    /// It is something else.
    pub fn from_pem(certificate: &[u8], key: &[u8]) -> Result<Issued, ErrorStack> {
        Ok(Issued {
            certificate: X509::from_pem(certificate)?,
            key: PKey::private_key_from_pem(key)?,
        })
    }

    /// A key repository (PKCS#12) with this certificate and its key under a label, and whom to trust.
    ///
    /// # Errors
    /// The password contains a zero byte.
    pub fn store(
        &self,
        label: &str,
        trusted: &[&Issued],
        password: &str,
    ) -> Result<Vec<u8>, ErrorStack> {
        let mut authorities = Stack::new()?;
        for authority in trusted {
            authorities.push(authority.certificate.clone())?;
        }
        let mut builder = Pkcs12::builder();
        builder
            .name(label)
            .pkey(&self.key)
            .cert(&self.certificate)
            .ca(authorities);
        builder.build2(password)?.to_der()
    }
}

fn key(kind: KeyKind) -> Result<PKey<Private>, ErrorStack> {
    match kind {
        KeyKind::Rsa => PKey::from_rsa(Rsa::generate(RSA_BITS)?),
        KeyKind::Ec => on_curve(Nid::X9_62_PRIME256V1),
        KeyKind::Ec384 => on_curve(Nid::SECP384R1),
    }
}

fn on_curve(curve: Nid) -> Result<PKey<Private>, ErrorStack> {
    let group = EcGroup::from_curve_name(curve)?;
    PKey::from_ec_key(EcKey::generate(&group)?)
}

fn name(subject: &Subject<'_>) -> Result<X509Name, ErrorStack> {
    let mut builder = X509NameBuilder::new()?;
    for (kind, value) in subject.name {
        builder.append_entry_by_text(kind, value)?;
    }
    Ok(builder.build())
}

fn begin(
    subject: &Subject<'_>,
    name: &X509Name,
    issuer: &openssl::x509::X509NameRef,
    key: &PKey<Private>,
) -> Result<X509Builder, ErrorStack> {
    let mut builder = X509::builder()?;
    builder.set_version(2)?;
    let mut serial = BigNum::new()?;
    serial.rand(SERIAL_BITS, MsbOption::MAYBE_ZERO, false)?;
    let serial = Asn1Integer::from_bn(&serial)?;
    builder.set_serial_number(&serial)?;
    builder.set_subject_name(name)?;
    builder.set_issuer_name(issuer)?;
    builder.set_pubkey(key)?;
    let (from, until) = subject.valid;
    let from = Asn1Time::from_unix(from)?;
    let until = Asn1Time::from_unix(until)?;
    builder.set_not_before(&from)?;
    builder.set_not_after(&until)?;
    Ok(builder)
}

fn finish(
    mut builder: X509Builder,
    key: PKey<Private>,
    signer: Option<&PKey<Private>>,
) -> Result<Issued, ErrorStack> {
    let signer = signer.unwrap_or(&key);
    let curve = signer.ec_key().ok();
    let digest = match curve.and_then(|key| key.group().curve_name()) {
        Some(Nid::SECP384R1) => MessageDigest::sha384(),
        _ => MessageDigest::sha256(),
    };
    builder.sign(signer, digest)?;
    let certificate = builder.build();
    Ok(Issued { key, certificate })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) const NOW: i64 = 1_700_000_000;
    pub(crate) const EVER: (i64, i64) = (NOW - 1_000_000, 4_000_000_000);

    pub(crate) fn subject<'a>(name: &'a [(&'a str, &'a str)], key: KeyKind) -> Subject<'a> {
        Subject {
            name,
            hosts: &[],
            key,
            valid: EVER,
        }
    }

    pub(crate) fn store_with_one_key() -> Vec<u8> {
        let authority = Issued::authority(&subject(&[("CN", "authority")], KeyKind::Ec)).unwrap();
        let issued = authority
            .issue(&subject(&[("CN", "one")], KeyKind::Ec))
            .unwrap();
        issued.store("one", &[&authority], "password").unwrap()
    }
}
