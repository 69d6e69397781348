//! `posthaste run`: one command to a working queue manager, in this terminal.

use std::io::{self, IsTerminal};
use std::net::SocketAddr;
use std::path::Path;

use posthaste_command::ScriptReader;
use posthaste_server::{
    self as server, Access, Console, Created, Creation, DataDir, Exit, Failure, FirstUsers, Home,
    Ready, RunOptions,
};
use rustix::process::{Signal, getpid, kill_process};

use crate::cli;
use crate::control;
use crate::encryption;
use crate::output::{Out, complain};
use crate::typed::{data_dir_option, program, quoted};

/// Where a new queue manager listens unless told otherwise.
const HOST: &str = "127.0.0.1";
const PORT: u16 = 1414;

pub(crate) fn run(place: Option<&Path>, args: &cli::Run) -> Result<Exit, Failure> {
    let data = DataDir::find(place)?;
    let name = &args.queue_manager;
    let (home, users) = match server::find(&data, Some(name)) {
        Ok(home) => {
            encryption::must_be_encrypted(&args.encrypt, &home)?;
            (home, None)
        }
        Err(failure) if failure.exit == Exit::NotFound => {
            let created = create(&data, args)?;
            (created.home, created.users)
        }
        Err(failure) => return Err(failure),
    };
    crate::daemon::must_not_run(&data, &home)?;
    if args.insecure {
        server::allow_insecure_listeners(&home)?;
    }
    let options = RunOptions {
        data: data.clone(),
        home: home.clone(),
        port: args.port,
        host: args.bind.map(|address| address.to_string()),
        no_listeners: false,
        console: Console::Stderr,
        slowness: args.slowness.slowness(),
        plain_log: args.slowness.plain_log,
    };
    let env = posthaste_env::os();
    server::run(&env, &options, |ready| {
        if let Err(failure) = welcome(&data, &home, ready, users.as_ref()) {
            // Standard output is gone; that is no reason not to serve.
            complain(&failure.line());
        }
        if args.while_input && end_with_input().is_err() {
            complain("standard input is not watched: no thread can be started");
        }
    })?;
    Ok(Exit::Done)
}

/// Asks this process to end in order, as SIGTERM does, when standard input ends.
fn end_with_input() -> io::Result<()> {
    let watch = || {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        // End and failure mean the same: nobody owns this process any more. To signal oneself does not fail.
        let _ = kill_process(getpid(), Signal::TERM);
    };
    let named = std::thread::Builder::new().name("owner".to_owned());
    named.spawn(watch).map(|_| ())
}

fn create(data: &DataDir, args: &cli::Run) -> Result<Created, Failure> {
    let mut commands = match args.plain {
        true => Vec::new(),
        false => server::developer_objects(),
    };
    let host = args
        .bind
        .map_or(HOST.to_owned(), |address| address.to_string());
    commands.push(server::listener_object(args.port.unwrap_or(PORT), &host));
    if let Some(script) = &args.script {
        let text = std::fs::read_to_string(script);
        let text = text.map_err(|error| Failure::io(script, &error))?;
        commands.extend(ScriptReader::read(&text).into_iter().map(|(_, text)| text));
    }
    let creation = Creation {
        name: args.queue_manager.clone(),
        shape: control::shape(&args.shape)?,
        encryption: encryption::source(&args.encrypt)?,
        access: Access::Developer,
        commands,
        ..Creation::default()
    };
    control::create_with_progress(data, &creation, false)
}

fn welcome(
    data: &DataDir,
    home: &Home,
    ready: &Ready,
    users: Option<&FirstUsers>,
) -> Result<(), Failure> {
    let mut out = Out::new();
    let users = users.map(|first| user_lines(first, io::stdout().is_terminal()));
    for line in welcome_lines(&program(), data, home, ready, users) {
        out.line(&line)?;
    }
    out.flush()
}

/// Of a listener that waits or is refused: why, and what to type for another one.
fn waiting_lines(
    program: &str,
    waiting: &server::Waiting,
    queue_manager: &str,
    folder: &str,
) -> Vec<String> {
    let server::Waiting { plan, why, refused } = waiting;
    // What the address is left to is not typed.
    let (host, bind) = match plan.host.as_str() {
        "" => ("*", String::new()),
        host => (host, format!(" --bind {host} --port {}", plan.port)),
    };
    let place = format!("  Listening  not on {host}({})", plan.port);
    let type_it =
        |options: &str| format!("             {program} run {queue_manager} {options}{folder}");
    match refused {
        true => vec![
            format!("{place}: clients would come in unprotected (AMQ2049E, {why})."),
            "             With TLS: three commands in docs/security.md. All the same:".to_owned(),
            type_it(&format!("--insecure{bind}")),
        ],
        false => vec![
            format!("{place}: {why}. It is tried again. Any free port:"),
            type_it("--port 0"),
        ],
    }
}

fn welcome_lines(
    program: &str,
    data: &DataDir,
    home: &Home,
    ready: &Ready,
    users: Option<Vec<String>>,
) -> Vec<String> {
    let name = &home.name;
    let queue_manager = quoted(name);
    let folder = data_dir_option(data);
    let mut lines = vec![
        format!("Queue manager {name} is running."),
        format!("  Data       {}", home.folder.display()),
    ];
    for listener in &ready.listeners {
        lines.push(format!("  Listening  {}", listener.address));
    }
    for waiting in &ready.waiting {
        lines.extend(waiting_lines(program, waiting, &queue_manager, &folder));
    }
    if ready.listeners.is_empty() && ready.waiting.is_empty() {
        lines.push("  Listening  nowhere: no listener starts with it; see --port".to_owned());
    }
    lines.push(String::new());
    lines.push("Type in another terminal:".to_owned());
    if ready.developer {
        lines.push(format!(
            "  echo Hello | {program} put DEV.QUEUE.1 {queue_manager}{folder}"
        ));
        lines.push(format!(
            "  {program} get DEV.QUEUE.1 {queue_manager}{folder}"
        ));
    }
    lines.push(format!(
        "  echo 'DISPLAY QLOCAL(DEV.*) CURDEPTH' | {program} mqsc {queue_manager}{folder}"
    ));
    if ready.developer {
        let addresses: Vec<_> = ready.listeners.iter().map(|l| l.address).collect();
        lines.extend(client_lines(&addresses));
    }
    match users {
        Some(users) => lines.extend(users),
        None => lines.extend(kept_line(&home.first_passwords())),
    }
    lines.push(String::new());
    lines.push("Ctrl-C ends it in order.".to_owned());
    lines
}

/// Passwords, which are shown when they were made and not again, and only to a person: what else takes standard output, as a
/// container's log, keeps it for others to read.
fn user_lines(first: &FirstUsers, terminal: bool) -> Vec<String> {
    let path = first.path.display();
    let mut lines = vec![String::new()];
    match terminal {
        true => {
            let users = first.users.iter();
            lines.push(format!(
                "Its users and their passwords, shown only now; only you can read them in {path}:"
            ));
            lines.extend(users.map(|(name, password)| format!("  {name:<6} {password}")));
        }
        false => {
            let names: Vec<&str> = first.users.iter().map(|(name, _)| *name).collect();
            let names = names.join(" and ");
            lines.push(format!(
                "The passwords of its users {names} are in {path}, which only you can read."
            ));
        }
    }
    let user = server::user_name();
    lines.push(format!(
        "Applications of user {user} on this machine come by loopback without one, as app, which may use DEV.**."
    ));
    lines
}

/// Where the passwords are that a first run has made, as long as that file is there. Who changes one does not
/// change it.
fn kept_line(path: &Path) -> Option<String> {
    let path = path.exists().then(|| path.display())?;
    Some(format!(
        "The passwords that the first run made are in {path}, unless they were changed since."
    ))
}

/// How clients get here: those elsewhere, if there is a way for them, or those of this machine.
fn client_lines(addresses: &[SocketAddr]) -> Vec<String> {
    let open = addresses.iter().find(|address| !address.ip().is_loopback());
    let Some(address) = open.or(addresses.first()) else {
        return Vec::new();
    };
    let system = rustix::system::uname();
    let host = match address.ip() {
        ip if ip.is_unspecified() => system.nodename().to_string_lossy().into_owned(),
        ip => ip.to_string(),
    };
    let who = match open {
        Some(_) => "Clients elsewhere connect by:",
        None => "Clients on this machine connect by:",
    };
    let port = address.port();
    vec![
        String::new(),
        who.to_owned(),
        format!("  export MQSERVER='DEV.APP.SVRCONN/TCP/{host}({port})'"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_welcome_has_lines_that_work_as_typed() {
        let home = Home {
            name: "QM1".to_owned(),
            folder: "/d e/qmgrs/QM1".into(),
        };
        let ready = Ready {
            listeners: Vec::new(),
            waiting: vec![server::Waiting {
                plan: server::Plan {
                    name: server::LISTENER.to_owned(),
                    port: 1414,
                    host: "127.0.0.1".to_owned(),
                    backlog: 0,
                    control: 0,
                    description: String::new(),
                },
                why: "in use".to_owned(),
                refused: false,
            }],
            developer: true,
        };
        let lines = welcome_lines("posthaste", &DataDir::at("/d e"), &home, &ready, None);
        assert!(!lines.iter().any(|line| line.contains("password")));
        let put = "  echo Hello | posthaste put DEV.QUEUE.1 QM1 --data-dir '/d e'";
        assert!(lines.iter().any(|line| line == put), "{lines:#?}");
        let free = "             posthaste run QM1 --port 0 --data-dir '/d e'";
        assert!(lines.iter().any(|line| line == free), "{lines:#?}");
        assert!(!lines.iter().any(|line| line.contains("MQSERVER")));
    }

    #[test]
    fn passwords_are_shown_to_a_terminal_only() {
        let first = FirstUsers {
            path: "/d/first-passwords".into(),
            users: vec![("admin", "s3cr3t".to_owned())],
        };
        let shown = |terminal| user_lines(&first, terminal).concat();
        assert!(shown(true).contains("s3cr3t"));
        assert!(!shown(false).contains("s3cr3t"));
        for terminal in [true, false] {
            assert!(shown(terminal).contains("/d/first-passwords"));
        }
    }

    #[test]
    fn clients_are_told_an_address_that_leads_here() {
        let lines = |addresses: &[&str]| {
            let parsed: Vec<SocketAddr> = addresses.iter().map(|a| a.parse().unwrap()).collect();
            client_lines(&parsed).split_off(1).join("")
        };
        let at = |who: &str, host: &str| {
            format!("Clients {who} connect by:  export MQSERVER='DEV.APP.SVRCONN/TCP/{host}(1414)'")
        };
        let here = "on this machine";
        assert_eq!(lines(&["127.0.0.1:1414"]), at(here, "127.0.0.1"));
        let both = ["127.0.0.1:1", "10.0.0.7:1414"];
        assert_eq!(lines(&both), at("elsewhere", "10.0.0.7"));
        let system = rustix::system::uname();
        let name = system.nodename().to_str().unwrap();
        assert_eq!(lines(&["0.0.0.0:1414"]), at("elsewhere", name));
        assert_eq!(lines(&["[::]:1414"]), at("elsewhere", name));
        assert_eq!(client_lines(&[]), Vec::<String>::new());
    }
}
