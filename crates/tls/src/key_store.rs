//! A key repository (SSLKEYR): certificates with their private keys by label, those who are trusted to issue others, and
//! lists of what they have revoked.
//!
//! Invariants: a store that was loaded has at least one certificate; a file with private keys that everybody on the
//! machine can read is refused; passwords are overwritten when they are not needed any more.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use openssl::pkcs12::Pkcs12;
use openssl::pkey::{PKey, Private};
use openssl::x509::store::{X509Lookup, X509Store, X509StoreBuilder};
use openssl::x509::verify::X509VerifyFlags;
use openssl::x509::{X509, X509Crl, X509Ref};
use zeroize::Zeroizing;

use crate::certificate::Certificate;
use crate::development::Issued;
use crate::key_bags::key_bags;

/// Endings that are tried behind a name without one, in this order.
const ENDINGS: [&str; 3] = ["p12", "pfx", "pem"];
/// Beside a store: its password; lists of revoked certificates in PEM.
const STASH: &str = "sth";
const REVOKED: &str = "crl";
/// A store is at most this long.
const LONGEST: u64 = 16 * 1024 * 1024;

/// Why a store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyStoreError {
    /// A file cannot be read.
    #[error("{}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// Everybody on the machine can read it.
    #[error("{}: everybody can read it; take the permission from others (chmod o-rwx)", .0.display())]
    Exposed(PathBuf),
    /// It is none of the formats that are read.
    #[error("{}: {what}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// No password, or another.
    #[error("{}: its password is not right; it is read from {}", path.display(), stash.display())]
    Password {
        /// The store.
        path: PathBuf,
        /// Where the password is expected.
        stash: PathBuf,
    },
    /// No certificate with a key has this label.
    #[error("{}: no certificate with a private key has the label {label}", path.display())]
    NoLabel {
        /// The store.
        path: PathBuf,
        /// The label.
        label: String,
    },
    /// Suite B is asked for, and the key of a certificate or of an issuer of its is on none of its curves, or signs with another
    /// digest.
    #[error(
        "SUITEB: the certificate {label}, or one that it is issued by, is not of a key on {curves}, or not signed as that strength asks"
    )]
    SuiteB {
        /// The certificate.
        label: String,
        /// The curves, by their names.
        curves: String,
    },
    /// TLS cannot be set up with what is in it.
    #[error("{0}")]
    OpenSsl(#[from] openssl::error::ErrorStack),
}

/// A certificate with its private key.
#[derive(Clone)]
pub struct Personal {
    /// Its label.
    pub label: String,
    pub(crate) key: PKey<Private>,
    pub(crate) certificate: X509,
}

fn no_list(path: &Path) -> KeyStoreError {
    KeyStoreError::Format {
        path: path.to_owned(),
        what: "there is no list of revoked certificates in it (PEM)".to_owned(),
    }
}

/// A key repository that was read.
#[derive(Clone)]
pub struct KeyStore {
    path: PathBuf,
    personal: Vec<Personal>,
    trusted: Vec<X509>,
    /// Lists of revoked certificates, if there are any.
    revoked: Option<PathBuf>,
}

/// What a store shows of a certificate.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Its label; empty if it has none.
    pub label: String,
    /// Its private key is there.
    pub personal: bool,
    /// What it says.
    pub certificate: Certificate,
}

impl KeyStore {
    /// Reads a store: PKCS#12 or PEM, by what is in it. `name` may lack its ending. The password is in a file beside it
    /// with the ending `sth`, unless it is given.
    ///
    /// # Errors
    /// It is not there, cannot be read, is no such store, or its password is another.
    pub fn load(name: &Path, password: Option<&str>) -> Result<KeyStore, KeyStoreError> {
        let path = locate(name);
        let bytes = Zeroizing::new(read(&path)?);
        let stash = path.with_extension(STASH);
        let password = match password {
            Some(password) => Zeroizing::new(password.to_owned()),
            None => stashed(&stash)?,
        };
        let opened = Opened {
            path: &path,
            stash: &stash,
            password: &password,
        };
        let text = std::str::from_utf8(&bytes)
            .ok()
            .filter(|text| text.contains("-----BEGIN "));
        let (personal, trusted) = match text {
            Some(text) => opened.pem(text)?,
            None => opened.pkcs12(&bytes)?,
        };
        if !personal.is_empty() && is_exposed(&path)? {
            return Err(KeyStoreError::Exposed(path));
        }
        if personal.is_empty() && trusted.is_empty() {
            return Err(opened.format("there is no certificate in it"));
        }
        let revoked = path.with_extension(REVOKED);
        Ok(KeyStore {
            revoked: is_there(&revoked).then_some(revoked),
            path,
            personal,
            trusted,
        })
    }

    /// A store of no file: a certificate with its key, and who has issued it.
    pub(crate) fn of(issued: Issued, authority: &Issued) -> KeyStore {
        let (key, certificate) = issued.into_parts();
        let label = String::new();
        KeyStore {
            path: PathBuf::new(),
            personal: vec![Personal {
                label,
                key,
                certificate,
            }],
            trusted: vec![authority.clone().into_parts().1],
            revoked: None,
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The certificate with this label; without one the one with the label `otherwise`, or the only one there is.
    ///
    /// # Errors
    /// There is none.
    pub fn personal(
        &self,
        label: Option<&str>,
        otherwise: &str,
    ) -> Result<&Personal, KeyStoreError> {
        let labelled = |label: &str| self.personal.iter().find(|one| one.label == label);
        let found = match (label, self.personal.as_slice()) {
            (Some(label), _) => labelled(label),
            (None, [only]) => Some(only),
            (None, _) => labelled(otherwise),
        };
        found.ok_or_else(|| KeyStoreError::NoLabel {
            path: self.path.clone(),
            label: label.unwrap_or(otherwise).to_owned(),
        })
    }

    /// Everything that is in it.
    ///
    /// # Errors
    /// A certificate says what cannot be read.
    pub fn show(&self) -> Result<Vec<Shown>, KeyStoreError> {
        let shown = |label: &str, personal: bool, certificate: &X509Ref| {
            let certificate = Certificate::read(certificate)?;
            let label = label.to_owned();
            Ok(Shown {
                label,
                personal,
                certificate,
            })
        };
        let personal = self.personal.iter();
        let personal = personal.map(|one| shown(&one.label, true, &one.certificate));
        let trusted = self
            .trusted
            .iter()
            .map(|one| shown(&alias(one), false, one));
        personal.chain(trusted).collect()
    }

    /// Those who are trusted to issue certificates, with what they have revoked.
    pub(crate) fn trust(&self) -> Result<X509Store, KeyStoreError> {
        let mut store = X509StoreBuilder::new()?;
        for certificate in &self.trusted {
            store.add_cert(certificate.clone())?;
        }
        if let Some(path) = &self.revoked {
            if path.to_str().is_none() {
                return Err(KeyStoreError::Format {
                    path: path.clone(),
                    what: "its name is no text".to_owned(),
                });
            }
            let lists = store.add_lookup(X509Lookup::file())?;
            let read = lists.load_crl_file(path, openssl::ssl::SslFiletype::PEM);
            read.map_err(|_| no_list(path))?;
            // Alone, the first looks at the certificate that is shown, and at none of those who issued it.
            store.set_flags(X509VerifyFlags::CRL_CHECK | X509VerifyFlags::CRL_CHECK_ALL)?;
        }
        Ok(store.build())
    }

    /// The lists of revoked certificates.
    ///
    /// # Errors
    /// They cannot be read.
    pub(crate) fn lists(&self) -> Result<Vec<X509Crl>, KeyStoreError> {
        let Some(path) = &self.revoked else {
            return Ok(Vec::new());
        };
        let none = || no_list(path);
        let bytes = fs::read(path).map_err(|_| none())?;
        let text = String::from_utf8_lossy(&bytes);
        let begin = "-----BEGIN X509 CRL-----";
        let lists = text.split(begin).skip(1);
        let lists = lists.map(|rest| X509Crl::from_pem(format!("{begin}{rest}").as_bytes()));
        lists.collect::<Result<_, _>>().map_err(|_| none())
    }

    /// Who issued a certificate, who issued theirs and so on, without the one that everybody must know.
    pub(crate) fn chain(&self, of: &X509Ref) -> Vec<X509> {
        let mut chain: Vec<X509> = Vec::new();
        let issued = |issuer: &X509Ref, one: &X509Ref| {
            issuer.issued(one) == openssl::x509::X509VerifyResult::OK
        };
        let mut last = of.to_owned();
        while let Some(issuer) = self.trusted.iter().find(|issuer| issued(issuer, &last)) {
            if issued(issuer, issuer) || chain.contains(issuer) {
                break;
            }
            chain.push(issuer.clone());
            last = issuer.clone();
        }
        chain
    }

    /// The names of those who are trusted, for whoever has several certificates to choose from.
    pub(crate) fn authorities(&self) -> impl Iterator<Item = &X509> {
        self.trusted.iter()
    }
}

/// A store that is being read.
struct Opened<'a> {
    path: &'a Path,
    stash: &'a Path,
    password: &'a str,
}

type Contents = (Vec<Personal>, Vec<X509>);

impl Opened<'_> {
    fn format(&self, what: &str) -> KeyStoreError {
        KeyStoreError::Format {
            path: self.path.to_owned(),
            what: what.to_owned(),
        }
    }

    fn wrong_password(&self) -> KeyStoreError {
        KeyStoreError::Password {
            path: self.path.to_owned(),
            stash: self.stash.to_owned(),
        }
    }

    fn pkcs12(&self, bytes: &[u8]) -> Result<Contents, KeyStoreError> {
        let what = "it is neither PKCS#12 nor PEM (a repository in CMS format, .kdb, is converted with runmqakm)";
        let file = Pkcs12::from_der(bytes).map_err(|_| self.format(what))?;
        if self.password.contains('\0') {
            return Err(self.wrong_password());
        }
        let parsed = file
            .parse2(self.password)
            .map_err(|_| self.wrong_password())?;
        let mut keys: Vec<PKey<Private>> = parsed.pkey.into_iter().collect();
        for bag in key_bags(bytes) {
            let key = PKey::private_key_from_pkcs8_passphrase(bag, self.password.as_bytes())
                .or_else(|_| PKey::private_key_from_pkcs8(bag));
            match key {
                Ok(key) if !keys.iter().any(|known| known.public_eq(&key)) => keys.push(key),
                Ok(_) => {}
                Err(_) => return Err(self.format("one of its private keys cannot be read")),
            }
        }
        let mut certificates: Vec<X509> = parsed.cert.into_iter().collect();
        certificates.extend(parsed.ca.into_iter().flatten());
        let labelled = certificates.into_iter().map(|one| (alias(&one), one));
        self.paired(keys, labelled.collect())
    }

    fn pem(&self, text: &str) -> Result<Contents, KeyStoreError> {
        let (mut keys, mut certificates) = (Vec::new(), Vec::new());
        for block in blocks(text) {
            let unreadable =
                || self.format(&format!("a block of it ({}) cannot be read", block.kind));
            if block.kind.ends_with("PRIVATE KEY") {
                let encrypted = block.text.contains("ENCRYPTED");
                let password = self.password.as_bytes();
                let key = PKey::private_key_from_pem_passphrase(block.text.as_bytes(), password);
                keys.push(key.map_err(|_| match encrypted {
                    true => self.wrong_password(),
                    false => unreadable(),
                })?);
            } else if block.kind.ends_with("CERTIFICATE") {
                let certificate =
                    X509::from_pem(block.text.as_bytes()).map_err(|_| unreadable())?;
                certificates.push((block.label.to_owned(), certificate));
            }
        }
        self.paired(keys, certificates)
    }

    /// Tells those whose key is here from the others. One key may have several: a renewal keeps it.
    fn paired(
        &self,
        keys: Vec<PKey<Private>>,
        certificates: Vec<(String, X509)>,
    ) -> Result<Contents, KeyStoreError> {
        let (mut personal, mut trusted) = (Vec::new(), Vec::new());
        let mut keys: Vec<_> = keys.into_iter().map(|key| (key, false)).collect();
        for (label, certificate) in certificates {
            let public = certificate.public_key()?;
            let mut own = None;
            // A file may hold the same key more than once.
            for (key, used) in keys.iter_mut().filter(|(key, _)| key.public_eq(&public)) {
                *used = true;
                own = Some(key.clone());
            }
            match own {
                Some(key) => personal.push(Personal {
                    label: match label.is_empty() {
                        true => common_name(&certificate)?,
                        false => label,
                    },
                    key,
                    certificate,
                }),
                None => trusted.push(certificate),
            }
        }
        match keys.iter().all(|(_, used)| *used) {
            true => Ok((personal, trusted)),
            false => Err(self.format("there is no certificate for one of its private keys")),
        }
    }
}

fn common_name(certificate: &X509Ref) -> Result<String, KeyStoreError> {
    let subject = Certificate::read(certificate)?.subject;
    Ok(subject.part("CN").unwrap_or_default().to_owned())
}

fn alias(certificate: &X509Ref) -> String {
    let alias = certificate.alias().unwrap_or_default();
    String::from_utf8_lossy(alias).into_owned()
}

/// A block of a PEM file.
struct Block<'a> {
    kind: &'a str,
    /// What `friendlyName` says before it.
    label: &'a str,
    /// From its first to its last line.
    text: &'a str,
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("-----BEGIN ") {
        let Some((kind, _)) = after.split_once("-----") else {
            break;
        };
        let end = format!("-----END {kind}-----");
        let Some(length) = after.find(&end).map(|at| at + end.len()) else {
            break;
        };
        let label = before
            .lines()
            .rev()
            .find_map(|line| line.trim_matches(' ').strip_prefix("friendlyName:"));
        let begin = rest.len() - after.len() - "-----BEGIN ".len();
        blocks.push(Block {
            kind,
            label: label.unwrap_or_default().trim_matches(' '),
            text: rest
                .get(begin..begin + "-----BEGIN ".len() + length)
                .unwrap_or_default(),
        });
        rest = after.get(length..).unwrap_or_default();
    }
    blocks
}

/// The file that a name means.
fn locate(name: &Path) -> PathBuf {
    if name.is_file() {
        return name.to_owned();
    }
    let with = |ending: &str| {
        let mut path = name.as_os_str().to_owned();
        path.push(".");
        path.push(ending);
        PathBuf::from(path)
    };
    let mut candidates = ENDINGS.iter().map(|ending| with(ending));
    candidates
        .find(|path| path.is_file())
        .unwrap_or_else(|| name.to_owned())
}

fn read(path: &Path) -> Result<Vec<u8>, KeyStoreError> {
    let failed = |error| KeyStoreError::Read {
        path: path.to_owned(),
        error,
    };
    let length = fs::metadata(path).map_err(failed)?.len();
    if length > LONGEST {
        return Err(failed(io::ErrorKind::FileTooLarge.into()));
    }
    fs::read(path).map_err(failed)
}

/// Whether a name is taken, if only by a link that leads nowhere: what cannot be read is to be missed later.
fn is_there(path: &Path) -> bool {
    !matches!(fs::symlink_metadata(path), Err(error) if error.kind() == io::ErrorKind::NotFound)
}

fn is_exposed(path: &Path) -> Result<bool, KeyStoreError> {
    let metadata = fs::metadata(path).map_err(|error| KeyStoreError::Read {
        path: path.to_owned(),
        error,
    })?;
    Ok(metadata.permissions().mode() & 0o007 != 0)
}

/// The password in a file; empty if there is no such file.
fn stashed(path: &Path) -> Result<Zeroizing<String>, KeyStoreError> {
    match path.exists() {
        false => Ok(Zeroizing::default()),
        true if is_exposed(path)? => Err(KeyStoreError::Exposed(path.to_owned())),
        true => {
            let bytes = Zeroizing::new(read(path)?);
            let text = std::str::from_utf8(&bytes).map_err(|_| KeyStoreError::Format {
                path: path.to_owned(),
                what: "it is no text; write the password into it as it is".to_owned(),
            })?;
            let line = text.lines().next().unwrap_or_default();
            Ok(Zeroizing::new(line.to_owned()))
        }
    }
}
