//! Keys and certificates of the queue manager and of its clients, in a folder of their own.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use posthaste_tls::ErrorStack;
use posthaste_tls::development::{Issued, KeyKind, Subject};

const DAY: i64 = 86_400;
/// Of all clients' stores.
const PASSWORD: &str = "secret";

/// The folder: `authority.pem`; `client.p12`, `expired.p12` and `stranger.p12` (of an authority that nobody trusts);
/// `issuer.p12`, by whose key tokens are signed.
pub struct Keys {
    folder: tempfile::TempDir,
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn subject<'a>(name: &'a [(&'a str, &'a str)], key: KeyKind, days: i64) -> Subject<'a> {
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    let now = i64::try_from(since.as_secs()).unwrap_or_default();
    Subject {
        name,
        hosts: &["localhost", "127.0.0.1"],
        key,
        valid: (now - 2 * DAY, now + days * DAY),
    }
}

impl Keys {
    /// Makes them.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn make() -> Result<Keys, String> {
        let keys = Keys {
            folder: tempfile::tempdir().map_err(text)?,
        };
        for (name, bytes) in files().map_err(text)? {
            let mut options = OpenOptions::new();
            let options = options.write(true).create_new(true).mode(0o600);
            let mut file = options.open(keys.folder.path().join(name)).map_err(text)?;
            file.write_all(&bytes).map_err(text)?;
        }
        Ok(keys)
    }

    /// Where they are.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The key repository of the queue manager: an RSA key under the label that its name gives, an EC key under `ec`.
    pub fn queue_manager(&self) -> PathBuf {
        self.folder.path().join("qm1.pem")
    }

    /// The certificates of those whose tokens the queue manager trusts.
    pub fn issuers(&self) -> PathBuf {
        self.folder.path().join("issuers.pem")
    }
}

fn files() -> Result<Vec<(String, Vec<u8>)>, ErrorStack> {
    let authority = |name| Issued::authority(&subject(&[("CN", name)], KeyKind::Rsa, 9));
    let (trusted, other) = (authority("authority")?, authority("other authority")?);
    let mut store = trusted.certificate_pem()?;
    for (label, key) in [("ibmwebspheremqqm1", KeyKind::Rsa), ("ec", KeyKind::Ec)] {
        let issued = trusted.issue(&subject(&[("O", "Interop"), ("CN", "QM1")], key, 8))?;
        store.extend(format!("friendlyName: {label}\n").bytes());
        store.extend(issued.certificate_pem()?);
        store.extend(issued.key_pem()?);
    }
    let mut files = vec![
        ("authority.pem".to_owned(), trusted.certificate_pem()?),
        ("qm1.pem".to_owned(), store),
    ];
    for (name, authority, days) in [
        ("client", &trusted, 8),
        ("expired", &trusted, -1),
        ("stranger", &other, 8),
        ("issuer", &trusted, 8),
    ] {
        let issued = authority.issue(&subject(&[("CN", name)], KeyKind::Rsa, days))?;
        if name == "issuer" {
            files.push(("issuers.pem".to_owned(), issued.certificate_pem()?));
        }
        let store = issued.store(name, &[authority], PASSWORD)?;
        files.push((format!("{name}.p12"), store));
    }
    Ok(files)
}
