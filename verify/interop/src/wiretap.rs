//! A relay before a queue manager that keeps what passes, and Wireshark's dissector, which reads it.
//!
//! Invariants: what a connection sent and was sent is kept in the order in which it passed; each connection is a capture of its
//! own.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Bytes of a packet of a capture; the length of one has 16 bits.
const PACKET: usize = 16 << 10;
/// The port that captures show for the queue manager.
const PORT: &str = "1414";

/// Who sent something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    Client,
    Server,
}

/// Structures that a server answers with, as the dissector calls their fields.
const STRUCTURES: [&str; 8] = [
    "mq.id.structid",
    "mq.fcno.structid",
    "mq.od.structid",
    "mq.md.structid",
    "mq.gmo.structid",
    "mq.pmo.structid",
    "mq.spib.structid",
    "mq.msh.structid",
];

/// What passed on one connection.
type Passed = Arc<Mutex<Vec<(From, Vec<u8>)>>>;

/// A relay. It ends with the process.
pub struct Wiretap {
    address: SocketAddr,
    connections: Arc<Mutex<Vec<Passed>>>,
}

/// What Wireshark says of captures.
#[derive(Debug, Default)]
pub struct Dissection {
    /// Segments that it knows, by their type.
    pub segments: BTreeMap<u8, usize>,
    /// Structures that it found in what the server sent, by their identifiers.
    pub structures: BTreeMap<String, usize>,
    /// Connections.
    pub connections: usize,
    /// What it calls malformed or an error in what the server sent, a line each.
    pub faults: Vec<String>,
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn pass(mut from: TcpStream, mut to: TcpStream, who: From, passed: &Passed) -> io::Result<()> {
    let mut buffer = vec![0; PACKET];
    loop {
        let read = from.read(&mut buffer)?;
        if read == 0 {
            return to.shutdown(Shutdown::Write);
        }
        let bytes = buffer[..read].to_vec();
        // Kept before it passes, so that an answer stands behind its question.
        let mut kept = passed.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push((who, bytes));
        drop(kept);
        to.write_all(&buffer[..read])?;
    }
}

/// Passes on one way in a thread of its own.
fn relay(from: &TcpStream, to: &TcpStream, who: From, passed: &Passed) -> io::Result<()> {
    let (from, to, passed) = (from.try_clone()?, to.try_clone()?, Arc::clone(passed));
    thread::spawn(move || {
        // How a connection ends is the cases' affair.
        if pass(from, to.try_clone()?, who, &passed).is_err() {
            to.shutdown(Shutdown::Both)?;
        }
        io::Result::Ok(())
    });
    Ok(())
}

impl Wiretap {
    /// Listens, and passes on to a queue manager.
    ///
    /// # Errors
    /// No address can be had.
    pub fn before(server: SocketAddr) -> Result<Wiretap, String> {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(text)?;
        let address = listener.local_addr().map_err(text)?;
        let connections: Arc<Mutex<Vec<Passed>>> = Arc::default();
        let known = Arc::clone(&connections);
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, server) = (client?, TcpStream::connect(server)?);
                let passed = Passed::default();
                known
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(Arc::clone(&passed));
                relay(&client, &server, From::Client, &passed)?;
                relay(&server, &client, From::Server, &passed)?;
            }
            io::Result::Ok(())
        });
        Ok(Wiretap {
            address,
            connections,
        })
    }

    /// Where clients are to connect.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Has Wireshark read what has passed.
    ///
    /// # Errors
    /// One of its programs failed.
    pub fn dissect(&self, folder: &Path) -> Result<Dissection, String> {
        let mut found = Dissection::default();
        let connections = self
            .connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for (number, passed) in connections.iter().enumerate() {
            let passed = passed.lock().unwrap_or_else(PoisonError::into_inner);
            if passed.is_empty() {
                continue;
            }
            let dump = folder.join(format!("{number}.txt"));
            let capture = folder.join(format!("{number}.pcap"));
            fs::write(&dump, hexadecimal(&passed)).map_err(text)?;
            output(
                Command::new("text2pcap")
                    .args(["-q", "-D", "-T", &format!("50000,{PORT}")])
                    .args([&dump, &capture]),
            )?;
            found.connections += 1;
            found.read(&capture)?;
        }
        Ok(found)
    }
}

/// As text2pcap wants it: each packet with its direction, seen from the queue manager.
fn hexadecimal(passed: &[(From, Vec<u8>)]) -> String {
    let mut dump = String::new();
    for (from, bytes) in passed {
        dump.push_str(match from {
            From::Client => "I\n",
            From::Server => "O\n",
        });
        for (line, bytes) in bytes.chunks(64).enumerate() {
            // Writing to a String does not fail.
            let _ = write!(dump, "{:06x}", line * 64);
            for byte in bytes {
                let _ = write!(dump, " {byte:02x}");
            }
            dump.push('\n');
        }
        dump.push('\n');
    }
    dump
}

/// What a program writes.
fn output(command: &mut Command) -> Result<String, String> {
    let output = command.stdin(Stdio::null()).output().map_err(text)?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!(
            "{command:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

impl Dissection {
    fn read(&mut self, capture: &Path) -> Result<(), String> {
        let tshark = |filter: &str, fields: &[&str]| {
            let mut command = Command::new("tshark");
            command.arg("-r").arg(capture);
            command.args(["-d", &format!("tcp.port=={PORT},mq")]);
            command.args(["-o", "mq.desegment:TRUE", "-o", "mq.reassembly:TRUE"]);
            command.args(["-Y", filter, "-T", "fields"]);
            for field in fields {
                command.args(["-e", field]);
            }
            output(&mut command)
        };
        for kind in tshark("mq", &["mq.tsh.type"])?.split([',', '\n']) {
            let number = kind.strip_prefix("0x").unwrap_or(kind);
            if let Ok(number) = u8::from_str_radix(number, 16) {
                *self.segments.entry(number).or_default() += 1;
            }
        }
        let sent = format!("mq && tcp.srcport == {PORT}");
        for name in tshark(&sent, &STRUCTURES)?.split([',', '\n', '\t']) {
            if !name.is_empty() {
                *self.structures.entry(name.trim().to_owned()).or_default() += 1;
            }
        }
        // IBM's own XA requests are among what it calls so. Of distribution lists it reads the records, and calls them stray all
        // the same, in IBM's requests as in the answers; in one that opens a list in part (2136) it takes a name for a length.
        let lists = "mq.od.nbrrec > 0 || mq.api.reasoncode == 2136";
        let wrong = format!(
            "tcp.srcport == {PORT} && (_ws.malformed || _ws.expert.severity >= 0x00600000) && !({lists})"
        );
        let fields = [
            "frame.number",
            "mq.tsh.type",
            "_ws.expert.message",
            "_ws.col.Info",
        ];
        let faults = tshark(&wrong, &fields)?;
        let name = capture.file_name().unwrap_or_default().to_string_lossy();
        self.faults
            .extend(faults.lines().map(|line| format!("{name}: {line}")));
        Ok(())
    }
}
