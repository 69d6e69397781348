//! A real directory server, where there is one; and servers that are none.

use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use super::*;

fn settings(servers: &str) -> DirectorySettings {
    DirectorySettings {
        servers: servers.to_owned(),
        tls: false,
        user: String::new(),
        password: PathBuf::new(),
        base: "cn=users".to_owned(),
        class: "testPerson".to_owned(),
        field: "uid".to_owned(),
        short: "uid".to_owned(),
    }
}

fn verdict(directory: &Directory, user: &str, password: &str) -> Verdict {
    let password = password.as_bytes().to_vec().into();
    directory.verdict(&Credentials::new(user, password))
}

fn check(directory: &Directory, user: &str, password: &str) -> Result<Option<String>, String> {
    let answer = verdict(directory, user, password).into_answer();
    answer.map_err(|unable| unable.0)
}

#[test]
fn what_makes_no_sense_is_refused() {
    for servers in [
        "", "h(", "h(x)", "h(70000)", "a b(1)", "h(1),", "h/x(1)", "u@h(1)",
    ] {
        assert!(Directory::new(settings(servers)).is_err(), "{servers}");
    }
    let blank = DirectorySettings {
        short: String::new(),
        ..settings("h(1)")
    };
    assert!(Directory::new(blank).is_err());
    let bad = DirectorySettings {
        field: "uid)(cn".to_owned(),
        ..settings("h(1)")
    };
    assert!(Directory::new(bad).is_err());
    let good = Directory::new(settings("h(1), [::1](2),h3")).ok().unwrap();
    assert_eq!(good.urls, ["ldap://h:1", "ldap://[::1]:2", "ldap://h3:389"]);
    assert_eq!(url("h", true).unwrap(), "ldaps://h:636");
}

#[test]
fn a_user_is_a_value_and_never_a_part_of_the_question() {
    let directory = Directory::new(settings("h(1)")).ok().unwrap();
    let filter = |user: &str| directory.wanted(user).map(|wanted| wanted.filter);
    let of = |assertion: &str| Some(format!("(&(objectClass=testPerson)({assertion}))"));
    assert_eq!(filter("alice"), of("uid=alice"));
    assert_eq!(filter("cn=alice"), of("cn=alice"));
    assert_eq!(filter("*"), of("uid=\\2a"));
    assert_eq!(filter("a)(uid=*"), None, "no name of a field");
    assert_eq!(filter("uid=a)(cn=*"), of("uid=a\\29\\28cn=\\2a"));
    let whole = directory.wanted("uid=alice,CN=users").unwrap();
    assert_eq!(
        (whole.scope, &*whole.base),
        (Scope::Base, "uid=alice,CN=users")
    );
    for elsewhere in [
        "uid=alice,cn=others",
        "uid=alice,ou=x,xcn=users",
        ",cn=users=,",
    ] {
        assert!(directory.wanted(elsewhere).is_none(), "{elsewhere}");
    }
}

/// Nobody there; somebody who never answers; the next in the list is asked, and the end comes in time.
#[test]
fn a_server_that_is_gone_or_silent_is_an_error_in_bounded_time() {
    let any: SocketAddr = ([127, 0, 0, 1], 0).into();
    let gone = TcpListener::bind(any).unwrap().local_addr().unwrap().port();
    let silent = TcpListener::bind(any).unwrap();
    let port = silent.local_addr().unwrap().port();
    let servers = format!("127.0.0.1({gone}),127.0.0.1({port})");
    let directory = Directory::new(settings(&servers)).ok().unwrap();
    let begun = Instant::now();
    let why = check(&directory, "alice", "right").unwrap_err();
    assert!(begun.elapsed() < TIMEOUT * 4, "{:?}", begun.elapsed());
    for part in [format!(":{gone}: "), format!(":{port}: ")] {
        assert!(why.contains(&part), "{why}");
    }
    assert_eq!(check(&directory, "alice", ""), Ok(None), "nobody is asked");
}

/// A directory server of this machine, with the users alice and bob.
struct Slapd {
    process: Child,
    port: u16,
    _folder: tempfile::TempDir,
}

impl Drop for Slapd {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Where it may be, beside the places for everybody's programs.
const FOLDERS: [&str; 3] = ["/usr/sbin", "/usr/local/sbin", "/usr/libexec"];

/// The program; none where there is none, which a run for a change must not pass over (`CI` is set).
fn program() -> Option<PathBuf> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&paths).chain(FOLDERS.map(PathBuf::from));
    let found = folders
        .map(|folder| folder.join("slapd"))
        .find(|path| path.exists());
    if found.is_none() {
        assert!(std::env::var_os("CI").is_none(), "there is no slapd here");
        // What a test prints is kept from whoever runs it, but not what is written like this.
        let why = "SKIPPED: there is no slapd here, which the tests of directories need\n";
        let _ = std::io::stderr().write_all(why.as_bytes());
    }
    found
}

const SCHEMA: &str = "\
objectclass ( 1.3.6.1.4.1.4203.666.99.1 NAME 'testPerson' SUP top STRUCTURAL
    MUST cn MAY ( uid $ userPassword $ description ) )
database ldif
suffix \"cn=users\"
rootdn \"cn=root,cn=users\"
rootpw rootpw
access to attrs=userPassword by anonymous auth by * none
";

const USERS: &str = "\
dn: cn=users
objectClass: testPerson
cn: users

dn: cn=qm,cn=users
objectClass: testPerson
cn: qm
userPassword: of the queue manager

dn: cn=Alice A.,cn=users
objectClass: testPerson
cn: Alice A.
uid: alice
userPassword: right

dn: cn=Bob,cn=users
objectClass: testPerson
cn: Bob
uid: bob
description: twin
userPassword: other

dn: cn=Bert,cn=users
objectClass: testPerson
cn: Bert
uid: bert
description: twin
userPassword: other

dn: cn=No short name,cn=users
objectClass: testPerson
cn: No short name
userPassword: right
";

impl Slapd {
    fn start(program: &Path, access: &str) -> Slapd {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("slapd.conf");
        let data = folder.path().join("data");
        std::fs::create_dir(&data).unwrap();
        let pid = folder.path().join("pid");
        let text = format!(
            "pidfile {}\n{SCHEMA}{access}\ndirectory {}\n",
            pid.display(),
            data.display()
        );
        std::fs::write(&config, text).unwrap();
        let users = folder.path().join("users.ldif");
        std::fs::write(&users, USERS).unwrap();
        let config = config.to_str().unwrap();
        let added = Command::new(program)
            .args(["-T", "add", "-f", config, "-l"])
            .arg(&users)
            .output()
            .unwrap();
        assert!(
            added.status.success(),
            "{}",
            String::from_utf8_lossy(&added.stderr)
        );
        // Another process may take the port in between: then another is tried.
        for _ in 0..20 {
            let any: SocketAddr = ([127, 0, 0, 1], 0).into();
            let port = TcpListener::bind(any).unwrap().local_addr().unwrap().port();
            let url = format!("ldap://127.0.0.1:{port}");
            let mut process = Command::new(program)
                .args(["-d", "0", "-f", config, "-h", &url])
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let deadline = Instant::now() + TIMEOUT * 12;
            while process.try_wait().unwrap().is_none() {
                assert!(Instant::now() < deadline, "it does not listen");
                if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                    return Slapd {
                        process,
                        port,
                        _folder: folder,
                    };
                }
                std::thread::yield_now();
            }
        }
        panic!("it does not listen");
    }

    fn settings(&self) -> DirectorySettings {
        settings(&format!("127.0.0.1({})", self.port))
    }
}

#[test]
fn a_directory_server_knows_users_and_their_passwords() {
    let Some(program) = program() else { return };
    let slapd = Slapd::start(&program, "access to * by * read");
    let directory = Directory::new(slapd.settings()).ok().unwrap();
    let alice = Ok(Some("alice".to_owned()));
    for user in [
        "alice",
        "uid=alice",
        "cn=Alice A.",
        "cn=Alice A.,cn=users",
        "CN=alice a.,CN=Users",
    ] {
        assert_eq!(check(&directory, user, "right"), alice, "{user}");
        assert_eq!(check(&directory, user, "wrong"), Ok(None), "{user}");
        assert_eq!(check(&directory, user, ""), Ok(None), "{user}");
    }
    for (user, password) in [
        ("nobody", "right"),
        ("*", "right"),
        ("ali*", "right"),
        // Two of them.
        ("description=twin", "other"),
        ("alice", "other"),
        ("cn=root,cn=users", "rootpw"),
    ] {
        assert_eq!(check(&directory, user, password), Ok(None), "{user}");
    }
    // Whoever does not know the password learns nothing of the entry.
    assert_eq!(
        verdict(&directory, "cn=No short name", "wrong"),
        Verdict::Wrong
    );
    match verdict(&directory, "cn=No short name", "right") {
        Verdict::NoName(why) => assert!(why.contains("SHORTUSR"), "{why}"),
        other => panic!("{other:?}"),
    }
    // One that went away, and the next in the list.
    let gone = format!("127.0.0.1(1),127.0.0.1({})", slapd.port);
    let next = Directory::new(settings(&gone)).ok().unwrap();
    assert_eq!(check(&next, "alice", "right"), alice);
    drop(slapd);
    check(&directory, "alice", "right").unwrap_err();
}

#[test]
fn a_directory_server_that_lets_only_its_own_users_look() {
    let Some(program) = program() else { return };
    let slapd = Slapd::start(&program, "access to * by users read");
    let nobody = Directory::new(slapd.settings()).ok().unwrap();
    let alice = check(&nobody, "alice", "right");
    assert_ne!(alice, Ok(Some("alice".to_owned())), "it is not seen");
    let folder = tempfile::tempdir().unwrap();
    let password = folder.path().join("password");
    let of_qm = DirectorySettings {
        user: "cn=qm,cn=users".to_owned(),
        password: password.clone(),
        ..slapd.settings()
    };
    let directory = Directory::new(of_qm).ok().unwrap();
    let why = check(&directory, "alice", "right").unwrap_err();
    assert!(why.contains("password"), "{why}");
    std::fs::write(&password, "of the queue manager\n").unwrap();
    let mode = |mode| {
        let permissions = std::os::unix::fs::PermissionsExt::from_mode(mode);
        std::fs::set_permissions(&password, permissions).unwrap();
    };
    mode(0o644);
    let why = check(&directory, "alice", "right").unwrap_err();
    assert!(why.contains("644"), "{why}");
    mode(0o600);
    // Who has a name and no password there would be let in as nobody.
    std::fs::write(&password, "\n").unwrap();
    let why = check(&directory, "alice", "right").unwrap_err();
    assert!(why.contains("first line"), "{why}");
    std::fs::write(&password, "not this\n").unwrap();
    let why = check(&directory, "alice", "right").unwrap_err();
    assert!(why.contains("LDAPUSER"), "{why}");
    std::fs::write(&password, "of the queue manager\n").unwrap();
    assert_eq!(
        check(&directory, "alice", "right"),
        Ok(Some("alice".to_owned()))
    );
    assert_eq!(check(&directory, "alice", "wrong"), Ok(None));
}

#[test]
fn a_whole_name_is_looked_for_only_below_the_base() {
    let settings = DirectorySettings {
        base: "ou=people,dc=x".to_owned(),
        ..settings("h(1)")
    };
    let directory = Directory::new(settings).ok().unwrap();
    let base = |user: &str| directory.wanted(user).map(|wanted| wanted.base);
    let alice = "cn=alice,ou=people,dc=x";
    assert_eq!(base(alice).as_deref(), Some(alice));
    // An entry directly below dc=x, whoever made that.
    assert_eq!(base("cn=mallory\\,ou=people,dc=x"), None);
}
