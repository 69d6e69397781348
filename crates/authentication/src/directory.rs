//! Passwords by a directory server (LDAP): the user is looked for, and then the server is asked whether it lets him in with
//! his password.
//!
//! Invariants: a server that is gone or slow costs a thread [`TIMEOUT`] for each step and address at most; nothing is kept
//! between two questions, so that a server that comes back is used at once; what a user writes is a value in what is
//! asked for, and never a part of the question; an empty password is asked about nowhere (it would be let in as nobody);
//! nothing that is there of a user is told, nor acted on, before his password was right.
//!
//! How users are found: manual, "DEFINE AUTHINFO", BASEDNU, CLASSUSR, USRFIELD and SHORTUSR.

mod name;

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Duration;

use ldap3::{LdapConn, LdapConnSettings, LdapError, LdapResult, Scope, SearchEntry, SearchOptions};
use ldap3::{dn_escape, ldap_escape};
use zeroize::Zeroizing;

use crate::{Credentials, Method, Unable, Verdict};

/// How long a server may take to be connected to, and to answer.
const TIMEOUT: Duration = Duration::from_secs(5);
/// What users are if CLASSUSR is blank.
const CLASS: &str = "inetOrgPerson";
/// What others may not do with the file of the password.
const OTHERS: u32 = 0o077;
const PORT: u16 = 389;
const TLS_PORT: u16 = 636;

/// Results of LDAP (RFC 4511, appendix A).
const SUCCESS: u32 = 0;
const SIZE_LIMIT_EXCEEDED: u32 = 4;
const NO_SUCH_OBJECT: u32 = 32;
/// Those that say that this user is not let in with this password: constraintViolation and unwillingToPerform stand for
/// users that are locked, the others for unknown ones and wrong passwords.
const NOT_LET_IN: [u32; 7] = [19, 32, 34, 48, 49, 50, 53];

/// Where users are, and how they are found.
#[derive(Clone, Debug)]
pub struct DirectorySettings {
    /// CONNAME: servers, each host(port), in the order in which they are tried.
    pub servers: String,
    /// Over TLS; the server's certificate is trusted if the system trusts its issuer (SECCOMM).
    pub tls: bool,
    /// The queue manager's own name there (LDAPUSER); blank to be nobody.
    pub user: String,
    /// The file whose first line is its password.
    pub password: PathBuf,
    /// BASEDNU.
    pub base: String,
    /// CLASSUSR.
    pub class: String,
    /// USRFIELD.
    pub field: String,
    /// SHORTUSR.
    pub short: String,
}

/// Asks a directory.
pub struct Directory {
    settings: DirectorySettings,
    urls: Vec<String>,
}

/// Who was found.
struct Found {
    /// His whole name.
    name: String,
    /// The value of the field that SHORTUSR names; none if he has no such field.
    short: Option<String>,
}

/// Who is looked for.
struct Wanted {
    base: String,
    scope: Scope,
    filter: String,
}

impl Directory {
    /// With settings that make sense.
    ///
    /// # Errors
    /// Which does not.
    pub fn new(settings: DirectorySettings) -> Result<Directory, String> {
        if settings.short.is_empty() {
            return Err("SHORTUSR is blank: nobody could be told by a short name".to_owned());
        }
        for (keyword, field) in [("SHORTUSR", &settings.short), ("USRFIELD", &settings.field)] {
            if !field.is_empty() && !is_field(field) {
                return Err(format!("{keyword}({field}) is no name of a field"));
            }
        }
        let urls = settings
            .servers
            .split(',')
            .map(|server| url(server, settings.tls));
        let urls = urls.collect::<Result<Vec<String>, String>>()?;
        Ok(Directory { settings, urls })
    }

    /// How the user of credentials is looked for; none if there can be no such user.
    fn wanted(&self, user: &str) -> Option<Wanted> {
        let settings = &self.settings;
        let class = match settings.class.as_str() {
            "" => CLASS,
            class => class,
        };
        let below = |field: &str, value: &str| Wanted {
            base: settings.base.clone(),
            scope: Scope::Subtree,
            filter: format!(
                "(&(objectClass={})({field}={}))",
                ldap_escape(class),
                ldap_escape(value)
            ),
        };
        match user.split_once('=') {
            None if settings.field.is_empty() => None,
            None => Some(below(&settings.field, user)),
            // A whole name, of somebody below the base.
            Some(_) if user.contains(',') => name::is_below(user, &settings.base).then(|| Wanted {
                base: user.to_owned(),
                scope: Scope::Base,
                filter: format!("(objectClass={})", ldap_escape(class)),
            }),
            Some((field, value)) => is_field(field).then(|| below(field, value)),
        }
    }

    fn own_password(&self) -> Result<Zeroizing<String>, String> {
        let path = &self.settings.password;
        let unreadable = |error: std::io::Error| format!("{}: {error}", path.display());
        let mode = std::fs::metadata(path).map_err(unreadable)?.mode() & 0o777;
        if mode & OTHERS != 0 {
            return Err(format!(
                "{}: its permissions are {mode:03o}, and nobody but its owner may read it",
                path.display()
            ));
        }
        let text = std::fs::read_to_string(path).map(Zeroizing::new);
        let text = text.map_err(unreadable)?;
        match text.lines().next() {
            Some(line) if !line.is_empty() => Ok(Zeroizing::new(line.to_owned())),
            _ => Err(format!("{}: its first line is empty", path.display())),
        }
    }

    /// What one server says of a user and his password.
    fn ask(&self, url: &str, user: &str, password: &str) -> Result<Verdict, String> {
        let words = |error: LdapError| format!("{url}: {error}");
        let settings = LdapConnSettings::new().set_conn_timeout(TIMEOUT);
        let mut ldap = LdapConn::with_settings(settings, url).map_err(words)?;
        if !self.settings.user.is_empty() {
            let own = self.own_password()?;
            let bound = ldap
                .with_timeout(TIMEOUT)
                .simple_bind(&self.settings.user, &own);
            let bound = bound.map_err(words)?;
            if bound.rc != SUCCESS {
                return Err(format!("{url}: LDAPUSER is not let in: {}", shown(&bound)));
            }
        }
        let found = match self.wanted(user) {
            Some(wanted) => self
                .find(&mut ldap, &wanted)
                .map_err(|why| format!("{url}: {why}"))?,
            None => None,
        };
        // Whoever is not there takes as long as whoever is.
        let nobody = || format!("cn={},{}", dn_escape(user), self.settings.base);
        let name = found
            .as_ref()
            .map_or_else(nobody, |found| found.name.clone());
        let bound = ldap.with_timeout(TIMEOUT).simple_bind(&name, password);
        let bound = bound.map_err(words)?;
        // What it answers to that does not matter.
        let _ = ldap.with_timeout(TIMEOUT).unbind();
        match (bound.rc, found) {
            (SUCCESS, Some(found)) => Ok(self.known(found)),
            (SUCCESS, None) => Ok(Verdict::Wrong),
            (result, _) if NOT_LET_IN.contains(&result) => Ok(Verdict::Wrong),
            _ => Err(format!("{url}: {}", shown(&bound))),
        }
    }

    /// What comes of a user whose password is right.
    fn known(&self, found: Found) -> Verdict {
        match found.short {
            Some(short) => Verdict::Right(short),
            None => Verdict::NoName(format!(
                "{} has no {}, which SHORTUSR names",
                found.name, self.settings.short
            )),
        }
    }

    /// The one user who is wanted, if there is one.
    fn find(&self, ldap: &mut LdapConn, wanted: &Wanted) -> Result<Option<Found>, String> {
        let short = self.settings.short.as_str();
        let two = SearchOptions::new().sizelimit(2);
        ldap.with_search_options(two).with_timeout(TIMEOUT);
        let searched = ldap.search(&wanted.base, wanted.scope, &wanted.filter, [short]);
        let ldap3::SearchResult(entries, result) = searched.map_err(|error| error.to_string())?;
        match result.rc {
            SUCCESS | SIZE_LIMIT_EXCEEDED => {}
            NO_SUCH_OBJECT if wanted.scope == Scope::Base => return Ok(None),
            _ => return Err(shown(&result)),
        }
        let mut entries: Vec<SearchEntry> =
            entries.into_iter().map(SearchEntry::construct).collect();
        // Two of a name are nobody.
        let Some(entry) = entries.pop().filter(|_| entries.is_empty()) else {
            return Ok(None);
        };
        let mut attrs = entry.attrs.into_iter();
        let of_short = attrs.find(|(name, _)| name.eq_ignore_ascii_case(short));
        let value = of_short.and_then(|(_, values)| values.into_iter().next());
        Ok(Some(Found {
            name: entry.dn,
            short: value.filter(|value| !value.is_empty()),
        }))
    }
}

fn shown(result: &LdapResult) -> String {
    format!("result {} {}", result.rc, result.text)
        .trim_end()
        .to_owned()
}

/// Whether this can be the name of a field.
fn is_field(name: &str) -> bool {
    let good = |c: char| c.is_ascii_alphanumeric() || c == '-';
    name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(good)
}

/// A server as MQ writes it, `host(port)`, for the library.
fn url(server: &str, tls: bool) -> Result<String, String> {
    let bad = || format!("CONNAME({server}) is not host(port)");
    let (host, port) = match server.trim().split_once('(') {
        None => (server.trim(), None),
        Some((host, rest)) => (host.trim(), Some(rest.strip_suffix(')').ok_or_else(bad)?)),
    };
    let port = match port {
        Some(port) => port.trim().parse().map_err(|_| bad())?,
        None if tls => TLS_PORT,
        None => PORT,
    };
    let good = |c: char| c.is_ascii_alphanumeric() || ".-_:[]".contains(c);
    if host.is_empty() || !host.chars().all(good) {
        return Err(bad());
    }
    let scheme = if tls { "ldaps" } else { "ldap" };
    Ok(format!("{scheme}://{host}:{port}"))
}

impl Method for Directory {
    fn check(&self, credentials: &Credentials) -> Result<Option<String>, Unable> {
        self.verdict(credentials).into_answer()
    }

    fn verdict(&self, credentials: &Credentials) -> Verdict {
        // What is no text is nobody's password there.
        let Ok(password) = std::str::from_utf8(&credentials.secret) else {
            return Verdict::Wrong;
        };
        if password.is_empty() {
            return Verdict::Wrong;
        }
        let mut why = Vec::new();
        for url in &self.urls {
            match self.ask(url, &credentials.user, password) {
                Ok(verdict) => return verdict,
                Err(unable) => why.push(unable),
            }
        }
        Verdict::Unable(Unable(why.join("; ")))
    }
}

#[cfg(test)]
mod tests;
