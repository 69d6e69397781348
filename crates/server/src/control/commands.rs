//! MQSC commands over the control socket: how `runmqsc` works on its own machine, whatever has become of the queues by which
//! commands and answers go elsewhere.
//!
//! A request is the word MQSC and the length of the command, which follows that line; the answer is OK and the number of
//! messages, and then the messages that answer an Escape command (manual: "Escape"), each behind its length.
//!
//! Invariants: a command is that of the user whose process sent it, by the kernel's word; nothing that is not whole is carried
//! out, or taken for an answer; the queue manager does not end, unless it breaks off, while a command is being answered.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::num::NonZeroU32;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use posthaste_command::pcf;
use posthaste_engine::Application;
use posthaste_mqi::constants::{MQAT_UNIX, MQCMD_ESCAPE};
use posthaste_mqi::{ByteOrder, Reason};
use posthaste_net::UnixPeer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{ANSWER, Door, TIMEOUT, no_answer, open};
use crate::failure::Failure;
use crate::failure::exit::Exit;
use crate::layout::Home;

/// The longest command, in bytes.
const LONGEST_COMMAND: usize = 4 << 20;
/// What whoever sends commands here is called.
const APPLICATION: &str = "runmqsc";

/// The request's line.
pub(super) fn write_request(length: usize) -> String {
    format!("MQSC {length}")
}

/// And read: the length of the command.
pub(super) fn read_request(line: &str) -> Option<usize> {
    let length = line.strip_prefix("MQSC ")?.parse().ok()?;
    (length <= LONGEST_COMMAND).then_some(length)
}

/// The process at the other end, as administration sees it.
pub(super) fn issuer(stream: &tokio::net::UnixStream, name: &str) -> io::Result<Application> {
    let peer = UnixPeer::of(stream)?;
    let number = peer.user;
    let user = posthaste_authentication::user_name(number);
    Ok(Application {
        name: name.to_owned(),
        user: user.unwrap_or_else(|| number.to_string()),
        pid: peer.process.map_or(0, NonZeroU32::get),
        appl_type: MQAT_UNIX,
        ..Application::default()
    })
}

/// Reads a command of this length, has it carried out and answers it.
pub(super) async fn serve(
    stream: &mut tokio::net::UnixStream,
    length: usize,
    door: &Door,
) -> io::Result<()> {
    let mut text = vec![0; length];
    tokio::time::timeout(TIMEOUT, stream.read_exact(&mut text)).await??;
    let Ok(text) = String::from_utf8(text) else {
        return stream.write_all(b"NO not a text\n").await;
    };
    let Some((_under_way, administration)) = door.enter() else {
        return stream.write_all(b"NO nothing is served\n").await;
    };
    let who = issuer(stream, APPLICATION)?;
    // It may be one on thousands of objects.
    let carried_out = move || administration.command(who, &text);
    let Some(reply) = tokio::task::spawn_blocking(carried_out).await? else {
        return stream.write_all(b"NO it has ended\n").await;
    };
    let messages = pcf::escape_replies(MQCMD_ESCAPE, &reply, ByteOrder::NATIVE);
    let mut answer = format!("OK {}\n", messages.len()).into_bytes();
    for message in messages {
        answer.extend_from_slice(format!("{}\n", message.len()).as_bytes());
        answer.extend_from_slice(&message);
    }
    tokio::time::timeout(ANSWER, stream.write_all(&answer)).await?
}

/// Has the process that runs a queue manager carry out a command; gives the messages that answer an Escape command.
///
/// # Errors
/// It is not running, or has not begun to serve; `AMQ2029E`: it did not answer within this time;
/// `AMQ2213E`: it has ended before the answer came, and the command may have been carried out.
pub fn command(home: &Home, text: &str, within: Duration) -> Result<Vec<Vec<u8>>, Failure> {
    // A time of none would be for ever.
    let within = within.max(Duration::from_millis(1));
    let mut stream = open(home, within)?;
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => no_answer(home, within),
        _ => {
            let reason = Reason::CONNECTION_BROKEN.to_string();
            Failure::new(Exit::CommandsFailed, "AMQ2213E", &[&home.name, &reason])
        }
    };
    let mut request = write_request(text.len()).into_bytes();
    request.push(b'\n');
    request.extend_from_slice(text.as_bytes());
    stream.write_all(&request).map_err(failed)?;
    match read_answer(&mut BufReader::new(stream)).map_err(failed)? {
        Some(messages) => Ok(messages),
        None => Err(Failure::not_running(&home.name)),
    }
}

/// None: the command was not taken.
fn read_answer(stream: &mut BufReader<UnixStream>) -> io::Result<Option<Vec<Vec<u8>>>> {
    let Some(count) = read_line(stream)?.strip_prefix("OK ").map(str::to_owned) else {
        return Ok(None);
    };
    let mut messages = Vec::new();
    for _ in 0..number(&count)? {
        let length = number(&read_line(stream)?)?;
        let mut message = Vec::new();
        stream.take(length).read_to_end(&mut message)?;
        if message.len() as u64 != length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        messages.push(message);
    }
    Ok(Some(messages))
}

fn read_line(stream: &mut BufReader<UnixStream>) -> io::Result<String> {
    let mut line = String::new();
    stream.take(64).read_line(&mut line)?;
    match line.strip_suffix('\n') {
        Some(whole) => Ok(whole.to_owned()),
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

fn number(text: &str) -> io::Result<u64> {
    text.parse().map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(bytes: &[u8]) -> io::Result<Option<Vec<Vec<u8>>>> {
        let (mut here, there) = UnixStream::pair().unwrap();
        here.write_all(bytes).unwrap();
        drop(here);
        read_answer(&mut BufReader::new(there))
    }

    #[test]
    fn only_whole_answers_are_taken() {
        let whole = b"OK 2\n3\nabc0\n";
        let messages = vec![b"abc".to_vec(), Vec::new()];
        assert_eq!(answered(whole).unwrap(), Some(messages));
        for end in 0..whole.len() {
            assert!(answered(&whole[..end]).is_err(), "{end}");
        }
        assert_eq!(answered(b"NO nothing is served\n").unwrap(), None);
        for wrong in [&b"OK two\n"[..], b"OK 1\n-1\n", b"OK 1\nx\n"] {
            assert!(answered(wrong).is_err());
        }
    }

    #[test]
    fn a_command_has_a_length() {
        assert_eq!(read_request(&write_request(17)), Some(17));
        let longest = write_request(LONGEST_COMMAND);
        assert_eq!(read_request(&longest), Some(LONGEST_COMMAND));
        let longer = write_request(LONGEST_COMMAND + 1);
        for wrong in ["MQSC", "MQSC ", "MQSC -1", "mqsc 1", longer.as_str()] {
            assert_eq!(read_request(wrong), None, "{wrong}");
        }
    }
}
