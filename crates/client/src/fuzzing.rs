//! Fuzz target: whatever a server says and however it is cut, no panic, and the same is understood of it.

use posthaste_mqi::{Gmo, Hobj, Md};

use crate::protocol::{Event, Protocol};
use crate::{Address, Connect};

/// A client that connects, asks for a message on each of its conversations and opens another one, twice.
pub struct Session {
    protocol: Protocol,
    connect: Connect,
    unread: Vec<u8>,
    opened: u32,
    /// What was understood, and what was said.
    pub events: Vec<String>,
    /// Everything that it has said.
    pub out: Vec<u8>,
}

impl Session {
    /// Its socket is shared or not.
    pub fn begin(shared: bool) -> Session {
        let address = Address::Tcp {
            host: String::new(),
            port: 0,
        };
        let connect = Connect {
            user: Some("fuzz".to_owned()),
            password: Some("secret".into()),
            conversations: if shared { 10 } else { 0 },
            ..Connect::new(address, "DEV.APP.SVRCONN", "QM1")
        };
        let mut out = Vec::new();
        Session {
            protocol: Protocol::begin(&connect, &mut out),
            connect,
            unread: Vec::new(),
            opened: 0,
            events: Vec::new(),
            out,
        }
    }

    /// Bytes have come from the server. Whether the socket goes on.
    pub fn read(&mut self, bytes: &[u8]) -> bool {
        self.unread.extend_from_slice(bytes);
        let unread = std::mem::take(&mut self.unread);
        let mut rest = unread.as_slice();
        loop {
            let event = match self.protocol.take(&mut rest, &mut self.out) {
                Ok(Some(event)) => event,
                Ok(None) => {
                    self.unread = rest.to_vec();
                    return true;
                }
                Err(cause) => {
                    let again = self.protocol.take(&mut rest, &mut self.out);
                    assert_eq!(again.err(), Some(cause), "an end stays");
                    self.events.push(format!("{cause:?}"));
                    return false;
                }
            };
            self.events(&event);
        }
    }

    fn events(&mut self, event: &Event<'_>) {
        match event {
            Event::Connected { conversation, .. } => {
                self.events.push(format!("{event:?}"));
                self.get(*conversation);
                if self.opened < 2 {
                    self.opened += 1;
                    self.protocol.another(&self.connect, &mut self.out);
                }
            }
            Event::Refused { conversation, .. } => {
                self.events.push(format!("{event:?}"));
                self.protocol.end(*conversation, &mut self.out);
            }
            Event::Reply(flow) => {
                self.events.push(format!("{} {:?}", flow.id, flow.decode()));
                if let (Ok(fields), Ok((_, posthaste_wire::Reply::Get(got)))) =
                    (flow.got(), flow.decode())
                {
                    assert_eq!(fields.length, got.length);
                    assert_eq!(fields.msg_id, got.md.msg_id);
                }
                self.get(flow.id);
            }
        }
    }

    fn get(&mut self, conversation: u32) {
        let (md, gmo) = (Md::default(), Gmo::default());
        let socket = self.protocol.socket();
        socket.get(&mut self.out, conversation, Hobj(1), &md, &gmo, 4_096);
    }
}

/// The first byte says whether the socket is shared and in which pieces the rest comes.
pub fn protocol(bytes: &[u8]) {
    let Some((how, bytes)) = bytes.split_first() else {
        return;
    };
    let (mut whole, mut cut) = (Session::begin(how & 1 == 1), Session::begin(how & 1 == 1));
    whole.read(bytes);
    for piece in bytes.chunks(usize::from(how >> 1) + 1) {
        if !cut.read(piece) {
            break;
        }
    }
    assert_eq!(whole.events, cut.events, "cutting changes nothing");
    assert_eq!(whole.out, cut.out, "nor what is answered");
}
