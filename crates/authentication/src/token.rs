//! Authentication tokens: JSON Web Tokens, signed by an issuer that is trusted (RFC 7515, RFC 7519).
//!
//! Invariants: a token is looked at only behind its signature; the algorithm has to be one of the two that are known here and
//! belong to the key, whatever the token says of it; one that has no end, or whose time is not now, is refused, and so is one
//! signed by the key of a certificate whose time is not now. Keys are read with [`Tokens::load`] and not again.
//!
//! What tokens have to hold: manual, "Requirements for authentication tokens"; where keys are: "AuthToken stanza of the
//! qm.ini file".

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use openssl::asn1::{Asn1Time, Asn1TimeRef};
use openssl::bn::BigNum;
use openssl::ec::{EcGroup, EcKey};
use openssl::ecdsa::EcdsaSig;
use openssl::error::ErrorStack;
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::{Id, PKey, Public};
use openssl::rsa::Rsa;
use openssl::sign::Verifier;
use openssl::x509::{X509, X509Ref};
use serde_json::Value;

use crate::{Credentials, Method, Unable, Verdict};

/// A longer one is none (manual: "MQCSP", TokenLength).
pub const LONGEST_TOKEN: usize = 8_192;
/// The claim that names the user, if nothing else was chosen.
const USER_CLAIM: &str = "sub";
/// Shorter RSA keys sign nothing that is trusted.
const LEAST_RSA_BITS: u32 = 2_048;
/// More keys are a mistake.
const MOST_KEYS: usize = 32;
/// A longer file is, too.
const LONGEST_FILE: u64 = 1_024 * 1_024;
/// Bytes of each half of a signature by ES256.
const P256: usize = 32;
const BEFORE_1970: &str = "the clock is before 1970";

/// Where issuers' keys are, and what of a token is the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenSettings {
    /// A PEM file of public keys and certificates, or a JSON Web Key Set (RFC 7517).
    pub keys: PathBuf,
    /// UserClaim; blank is `sub`.
    pub user_claim: String,
    /// The issuer (`iss`) that a token has to name; blank: none.
    pub issuer: String,
    /// Whom a token has to be for (`aud`); blank: for whoever it is.
    pub audience: String,
}

/// How a key signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Algorithm {
    Rs256,
    Es256,
}

struct Key {
    /// Its name, if it has one: a token that names its key is looked at with that one only.
    id: Option<String>,
    algorithm: Algorithm,
    key: PKey<Public>,
    /// Of its certificate, if it has one.
    valid: Option<Validity>,
}

/// The first and the last second in which a certificate is valid, from 1970 on.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Validity {
    from: f64,
    until: f64,
}

impl Validity {
    fn of(certificate: &X509Ref) -> Result<Validity, ErrorStack> {
        let epoch = Asn1Time::from_unix(0)?;
        let second = |time: &Asn1TimeRef| {
            let since = epoch.diff(time)?;
            Ok::<f64, ErrorStack>(f64::from(since.days) * 86_400.0 + f64::from(since.secs))
        };
        Ok(Validity {
            from: second(certificate.not_before())?,
            until: second(certificate.not_after())?,
        })
    }

    fn has(self, now: f64) -> bool {
        // The last second is in it to its end.
        (self.from..self.until + 1.0).contains(&now)
    }
}

/// What a file of keys holds.
#[derive(Default)]
struct KeyFile {
    keys: Vec<Key>,
    /// The names of the certificates in it whose time is not now. Of those that are valid later the keys are there.
    not_valid: Vec<String>,
}

/// Issuers' keys.
pub struct Tokens {
    keys: Vec<Key>,
    not_valid: Vec<String>,
    user_claim: String,
    issuer: String,
    audience: String,
}

fn words(error: ErrorStack) -> String {
    error.to_string()
}

impl Tokens {
    /// Reads the keys.
    ///
    /// # Errors
    /// Why they cannot be used.
    pub fn load(settings: &TokenSettings) -> Result<Tokens, String> {
        let path = &settings.keys;
        let of_file = |why: String| format!("{}: {why}", path.display());
        let text = read(path).map_err(of_file)?;
        let KeyFile { keys, not_valid } = key_file(&text, now()?).map_err(of_file)?;
        // Where all are passed over no token is right, and passwords are as good as ever.
        let none = keys.is_empty() && not_valid.is_empty();
        if none || keys.len() > MOST_KEYS {
            let why = format!(
                "it has {} keys for RS256 or ES256, and not 1 to {MOST_KEYS}",
                keys.len()
            );
            return Err(of_file(why));
        }
        let user_claim = match settings.user_claim.as_str() {
            "" => USER_CLAIM,
            claim => claim,
        };
        Ok(Tokens {
            keys,
            not_valid,
            user_claim: user_claim.to_owned(),
            issuer: settings.issuer.clone(),
            audience: settings.audience.clone(),
        })
    }

    /// The names of the certificates that were not valid when they were read.
    pub fn not_valid(&self) -> &[String] {
        &self.not_valid
    }

    /// Whose token this is, at a time in seconds from 1970 on; or why it is nobody's.
    fn user(&self, token: &[u8], now: f64) -> Result<String, &'static str> {
        if token.len() > LONGEST_TOKEN {
            return Err("it is too long");
        }
        let token = std::str::from_utf8(token).map_err(|_| "it is no text")?;
        let mut parts = token.split('.');
        let (Some(header), Some(payload), Some(signature), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err("it is not three parts with a dot between them");
        };
        let signed = format!("{header}.{payload}");
        let header = object(header).ok_or("its header is not a JSON object in base64url")?;
        let signature = base64url(signature).ok_or("its signature is not base64url")?;
        self.check_signature(&header, signed.as_bytes(), &signature, now)?;
        let claims = object(payload).ok_or("its claims are not a JSON object in base64url")?;
        self.check_claims(&claims, now)
    }

    fn check_signature(
        &self,
        header: &Value,
        signed: &[u8],
        signature: &[u8],
        now: f64,
    ) -> Result<(), &'static str> {
        let algorithm = match header.get("alg").and_then(Value::as_str) {
            Some("RS256") => Algorithm::Rs256,
            Some("ES256") => Algorithm::Es256,
            _ => return Err("its algorithm is neither RS256 nor ES256"),
        };
        // What has to be understood and is not.
        if header.get("crit").is_some() {
            return Err("its header demands an extension");
        }
        let named = header.get("kid").and_then(Value::as_str);
        let may_be = |key: &&Key| {
            let same = |(named, id): (&str, &String)| named == id;
            key.algorithm == algorithm && named.zip(key.id.as_ref()).is_none_or(same)
        };
        let keys = self.keys.iter().filter(may_be);
        let signs = |key: &&Key| key.has_signed(signed, signature).unwrap_or(false);
        let mut signers = keys.filter(signs).peekable();
        if signers.peek().is_none() {
            return Err("no trusted key has signed it");
        }
        let is_valid = |key: &Key| key.valid.is_none_or(|valid| valid.has(now));
        match signers.any(is_valid) {
            true => Ok(()),
            false => Err("the certificate of the key that has signed it is not valid now"),
        }
    }

    fn check_claims(&self, claims: &Value, now: f64) -> Result<String, &'static str> {
        let time = |claim: &str| claims.get(claim).map(Value::as_f64);
        match time("exp") {
            Some(Some(end)) if now < end => {}
            Some(Some(_)) => return Err("its time is over"),
            _ => return Err("it has no end (exp)"),
        }
        match time("nbf") {
            None => {}
            Some(Some(begin)) if begin <= now => {}
            _ => return Err("its time has not come (nbf)"),
        }
        let issuer = claims.get("iss").and_then(Value::as_str);
        if !self.issuer.is_empty() && issuer != Some(&*self.issuer) {
            return Err("it is of another issuer (iss)");
        }
        if !self.audience.is_empty() && !is_for(claims, &self.audience) {
            return Err("it is for somebody else (aud)");
        }
        let user = claims.get(&self.user_claim).and_then(Value::as_str);
        let user = user.filter(|user| !user.is_empty());
        user.map(str::to_owned).ok_or("it names no user")
    }
}

impl Key {
    fn of(key: PKey<Public>, id: Option<String>) -> Result<Option<Key>, ErrorStack> {
        let algorithm = match key.id() {
            Id::RSA if key.bits() >= LEAST_RSA_BITS => Algorithm::Rs256,
            Id::EC if key.ec_key()?.group().curve_name() == Some(Nid::X9_62_PRIME256V1) => {
                Algorithm::Es256
            }
            _ => return Ok(None),
        };
        Ok(Some(Key {
            id,
            algorithm,
            key,
            valid: None,
        }))
    }

    fn has_signed(&self, signed: &[u8], signature: &[u8]) -> Result<bool, ErrorStack> {
        let mut verifier = Verifier::new(MessageDigest::sha256(), &self.key)?;
        verifier.update(signed)?;
        match self.algorithm {
            Algorithm::Rs256 => verifier.verify(signature),
            Algorithm::Es256 => {
                if signature.len() != 2 * P256 {
                    return Ok(false);
                }
                let (r, s) = signature.split_at(P256);
                let (r, s) = (BigNum::from_slice(r)?, BigNum::from_slice(s)?);
                verifier.verify(&EcdsaSig::from_private_components(r, s)?.to_der()?)
            }
        }
    }
}

fn read(path: &Path) -> Result<String, String> {
    let length = std::fs::metadata(path)
        .map_err(|error| error.to_string())?
        .len();
    if length > LONGEST_FILE {
        return Err(format!("it is longer than {LONGEST_FILE} bytes"));
    }
    std::fs::read_to_string(path).map_err(|error| error.to_string())
}

/// Bytes in base64url without padding (RFC 7515, 2).
fn base64url(text: &str) -> Option<Vec<u8>> {
    let good = |c: u8| c.is_ascii_alphanumeric() || c == b'-' || c == b'_';
    if text.len() % 4 == 1 || !text.bytes().all(good) {
        return None;
    }
    let mut standard = text.replace('-', "+").replace('_', "/");
    standard.extend(std::iter::repeat_n('=', (4 - text.len() % 4) % 4));
    openssl::base64::decode_block(&standard).ok()
}

fn object(part: &str) -> Option<Value> {
    let value: Value = serde_json::from_slice(&base64url(part)?).ok()?;
    value.is_object().then_some(value)
}

/// Whether `aud`, one name or several (RFC 7519, 4.1.3), has this one.
fn is_for(claims: &Value, audience: &str) -> bool {
    match claims.get("aud") {
        Some(Value::String(one)) => one == audience,
        Some(Value::Array(several)) => several.iter().any(|one| one == audience),
        _ => false,
    }
}

/// The seconds since 1970.
fn now() -> Result<f64, String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_err(|_| BEFORE_1970.to_owned())?;
    Ok(now.as_secs_f64())
}

fn key_file(text: &str, now: f64) -> Result<KeyFile, String> {
    if !text.trim_start().starts_with('{') {
        return pem(text, now);
    }
    key_set(text).map(|keys| KeyFile {
        keys,
        ..KeyFile::default()
    })
}

/// Public keys and certificates, one behind the other. Certificates whose time is over are passed over: one that has
/// expired takes nobody's trust away but its issuer's.
fn pem(text: &str, now: f64) -> Result<KeyFile, String> {
    const END: &str = "-----END ";
    let mut found = KeyFile::default();
    let mut rest = text;
    while let Some(at) = rest.find(END) {
        let end = rest.get(at..).and_then(|tail| tail.find('\n'));
        let end = end.map_or(rest.len(), |line| at + line + 1);
        let (block, behind) = rest.split_at(end);
        rest = behind;
        if block.contains("BEGIN CERTIFICATE") {
            certified(block, now, &mut found).map_err(words)?;
        } else {
            let key = PKey::public_key_from_pem(block.as_bytes()).map_err(words)?;
            found.keys.extend(Key::of(key, None).map_err(words)?);
        }
    }
    Ok(found)
}

/// The key of a certificate, for as long as it is valid.
fn certified(block: &str, now: f64, found: &mut KeyFile) -> Result<(), ErrorStack> {
    let certificate = X509::from_pem(block.as_bytes())?;
    let valid = Validity::of(&certificate)?;
    if !valid.has(now) {
        let name = format!("{:?}", certificate.subject_name());
        found.not_valid.push(name);
    }
    if valid.until < now {
        return Ok(());
    }
    let key = Key::of(certificate.public_key()?, None)?;
    found.keys.extend(key.map(|key| Key {
        valid: Some(valid),
        ..key
    }));
    Ok(())
}

/// A JSON Web Key Set. Keys for something else than to sign, and of other kinds, are passed over.
fn key_set(text: &str) -> Result<Vec<Key>, String> {
    let set: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let keys = set.get("keys").and_then(Value::as_array);
    let keys = keys.ok_or("it is no JSON Web Key Set")?;
    let mut found = Vec::new();
    for key in keys {
        let text = |name: &str| key.get(name).and_then(Value::as_str);
        if text("use").is_some_and(|purpose| purpose != "sig") {
            continue;
        }
        let number = |name: &str| {
            let bytes = text(name).and_then(base64url);
            let bytes = bytes.ok_or_else(|| format!("a key in it has no {name}"))?;
            BigNum::from_slice(&bytes).map_err(words)
        };
        let made = match (text("kty"), text("crv")) {
            (Some("RSA"), _) => rsa(number("n")?, number("e")?),
            (Some("EC"), Some("P-256")) => ec(&number("x")?, &number("y")?),
            _ => continue,
        };
        let id = text("kid").map(str::to_owned);
        found.extend(Key::of(made.map_err(words)?, id).map_err(words)?);
    }
    Ok(found)
}

fn rsa(modulus: BigNum, exponent: BigNum) -> Result<PKey<Public>, ErrorStack> {
    PKey::from_rsa(Rsa::from_public_components(modulus, exponent)?)
}

fn ec(x: &BigNum, y: &BigNum) -> Result<PKey<Public>, ErrorStack> {
    let group = EcGroup::from_curve_name(Nid::X9_62_PRIME256V1)?;
    let key = EcKey::from_public_key_affine_coordinates(&group, x, y)?;
    // On the curve, and not at infinity.
    key.check_key()?;
    PKey::from_ec_key(key)
}

impl Method for Tokens {
    fn check(&self, credentials: &Credentials) -> Result<Option<String>, Unable> {
        self.verdict(credentials).into_answer()
    }

    fn verdict(&self, credentials: &Credentials) -> Verdict {
        let now = match now() {
            Ok(now) => now,
            Err(why) => return Verdict::Unable(Unable(why)),
        };
        match self.user(&credentials.secret, now) {
            Ok(user) => Verdict::Right(user),
            Err(why) => Verdict::BadToken(why),
        }
    }
}

/// Fuzz target: whatever a token and a file of keys hold, no panic, and nobody's token is somebody's.
#[doc(hidden)]
pub fn fuzz(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (file, token) = text.split_once('\u{0}').unwrap_or(("", &text));
    let KeyFile { keys, not_valid } = key_file(file, 0.0).unwrap_or_default();
    let tokens = Tokens {
        keys,
        not_valid,
        user_claim: USER_CLAIM.to_owned(),
        issuer: "issuer".to_owned(),
        audience: "audience".to_owned(),
    };
    let user = tokens.user(token.as_bytes(), 0.0);
    assert!(!tokens.keys.is_empty() || user.is_err());
    if let Some(claims) = object(token) {
        let _ = tokens.check_claims(&claims, 0.0);
    }
}

#[cfg(test)]
mod tests;
