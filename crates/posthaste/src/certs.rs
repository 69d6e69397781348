//! `certs`: certificates for development, and what is in a key repository.
//!
//! Invariants: a file that is there is never overwritten; files with keys and passwords are for their owner alone.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use posthaste_server::{Exit, Failure};
use posthaste_tls::development::{Issued, KeyKind, Subject, password};
use posthaste_tls::{KeyStore, Shown};

use crate::cli::{Certs, CertsCommand, MakeCerts, ShowCerts};
use crate::output::Out;

/// The authority's files in a folder.
const AUTHORITY: &str = "authority.pem";
const AUTHORITY_KEY: &str = "authority.key";
/// What labels begin with, for queue managers and for users.
const LABEL: &str = "ibmwebspheremq";
const DAY: i64 = 24 * 60 * 60;
/// Clocks may differ so much.
const EARLIER: i64 = 60 * 60;

pub(crate) fn certs(args: &Certs) -> Result<Exit, Failure> {
    match &args.command {
        CertsCommand::Make(args) => make(args),
        CertsCommand::Show(args) => show(args),
    }
}

fn failed(what: impl AsRef<str>) -> Failure {
    Failure::new(Exit::BadParameter, "AMQ2231E", &[what.as_ref()])
}

/// Who a certificate is for.
struct Owner<'a> {
    /// The file's name without its ending.
    file: String,
    common_name: &'a str,
    hosts: Vec<&'a str>,
}

fn make(args: &MakeCerts) -> Result<Exit, Failure> {
    let folder = &args.directory;
    std::fs::create_dir_all(folder).map_err(|error| Failure::io(folder, &error))?;
    let now = jiff::Timestamp::now().as_second();
    let valid = (now - EARLIER, now + i64::from(args.days) * DAY);
    let key = if args.ec { KeyKind::Ec } else { KeyKind::Rsa };
    let mut out = Out::new();
    let authority = authority(folder, key, valid, &mut out)?;
    let queue_managers = args.queue_managers.iter().map(|name| Owner {
        file: name.to_lowercase(),
        common_name: name,
        hosts: args.hosts.iter().map(String::as_str).collect(),
    });
    let clients = args.clients.iter().map(|name| Owner {
        file: name.clone(),
        common_name: name,
        hosts: Vec::new(),
    });
    for owner in queue_managers.chain(clients) {
        let name = [("O", "Posthaste development"), ("CN", owner.common_name)];
        let subject = Subject {
            name: &name,
            hosts: &owner.hosts,
            key,
            valid,
        };
        let label = format!("{LABEL}{}", owner.common_name.to_lowercase());
        let issued = authority
            .issue(&subject)
            .map_err(|error| failed(error.to_string()))?;
        let password = password().map_err(|error| failed(error.to_string()))?;
        let store = issued.store(&label, &[&authority], &password);
        let store = store.map_err(|error| failed(error.to_string()))?;
        let path = folder.join(format!("{}.p12", owner.file));
        create(&path, &store)?;
        create(
            &path.with_extension("sth"),
            format!("{password}\n").as_bytes(),
        )?;
        out.line(&format!(
            "{}: certificate and key, label {label}",
            path.display()
        ))?;
    }
    out.line("Do not use these in production: the key of the authority lies beside them.")?;
    out.flush()?;
    Ok(Exit::Done)
}

/// The authority of a folder, made if there is none.
fn authority(
    folder: &Path,
    key: KeyKind,
    valid: (i64, i64),
    out: &mut Out,
) -> Result<Issued, Failure> {
    let (path, key_path) = (folder.join(AUTHORITY), folder.join(AUTHORITY_KEY));
    let words = |error: posthaste_tls::ErrorStack| failed(error.to_string());
    if path.exists() {
        let certificate = std::fs::read(&path).map_err(|error| Failure::io(&path, &error))?;
        let key = std::fs::read(&key_path).map_err(|error| Failure::io(&key_path, &error))?;
        return Issued::from_pem(&certificate, &key).map_err(words);
    }
    let name = [
        ("O", "Posthaste development"),
        ("CN", "Development authority"),
    ];
    let subject = Subject {
        name: &name,
        hosts: &[],
        key,
        valid,
    };
    let authority = Issued::authority(&subject).map_err(words)?;
    create(&key_path, &authority.key_pem().map_err(words)?)?;
    create(&path, &authority.certificate_pem().map_err(words)?)?;
    let shown = path.display();
    out.line(&format!(
        "{shown}: certificate of the authority, for clients that are to trust it"
    ))?;
    Ok(authority)
}

/// Writes a file that its owner alone reads, and that is not there.
fn create(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let opened = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    let mut file = opened.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => failed(format!("{} is there already", path.display())),
        _ => Failure::io(path, &error),
    })?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    written.map_err(|error| Failure::io(path, &error))
}

fn show(args: &ShowCerts) -> Result<Exit, Failure> {
    let password = args.password_file.as_deref().map(first_line).transpose()?;
    let store = KeyStore::load(&args.file, password.as_deref());
    let shown = store.and_then(|store| store.show());
    let shown = shown.map_err(|error| failed(error.to_string()))?;
    let now = jiff::Timestamp::now().as_second();
    let mut out = Out::new();
    for (number, one) in shown.iter().enumerate() {
        if number > 0 {
            out.line("")?;
        }
        for line in lines(one, now) {
            out.line(&line)?;
        }
    }
    out.flush()?;
    match shown.iter().all(|one| one.certificate.is_valid(now)) {
        true => Ok(Exit::Done),
        false => Ok(Exit::Warned),
    }
}

fn first_line(path: &Path) -> Result<String, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::io(path, &error))?;
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

fn lines(shown: &Shown, now: i64) -> Vec<String> {
    let certificate = &shown.certificate;
    let date = |second| {
        let stamp = jiff::Timestamp::from_second(second);
        stamp.map_or_else(
            |_| "?".to_owned(),
            |stamp| stamp.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        )
    };
    let what = match (shown.personal, certificate.authority) {
        (true, _) => "certificate with its private key",
        (false, true) => "certificate of an authority",
        (false, false) => "certificate of somebody else",
    };
    let (from, until) = certificate.valid;
    let left = match certificate.days_left(now) {
        _ if now < from => "not valid yet".to_owned(),
        days if days < 0 => "EXPIRED".to_owned(),
        days => format!("{days} days left"),
    };
    let mut lines = vec![what.to_owned()];
    if !shown.label.is_empty() {
        lines.push(format!("  label    {}", shown.label));
    }
    lines.extend([
        format!("  subject  {}", certificate.subject.parts_shown()),
        format!("  issuer   {}", certificate.issuer.parts_shown()),
        format!("  serial   {}", certificate.subject.serial),
        format!("  key      {}", certificate.key),
        format!("  valid    {} to {} ({left})", date(from), date(until)),
    ]);
    lines
}
