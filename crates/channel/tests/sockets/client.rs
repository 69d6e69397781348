//! A raw client: the protocol's client side over a stream, one verb at a time or many.

use posthaste_mqi::constants::{MQGMO_NO_WAIT, MQGMO_WAIT, MQOO_INPUT_SHARED, MQOO_OUTPUT};
use posthaste_mqi::{Chars, CompCode, Gmo, Hobj, Md, Name, Od, Pmo, Reason};
use posthaste_wire::client::{ClientOffer, ClientPut, ClientSocket, FromServer};
use posthaste_wire::identity::Authentication;
use posthaste_wire::reply::GetReply;
use posthaste_wire::request::{ConnRequest, OpenDefaults, OpenRequest};
use posthaste_wire::{Outcome, Reply, Request, Segment, Status};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Both directions of a stream.
pub(crate) trait Wire: AsyncRead + AsyncWrite + Unpin {}
impl<S: AsyncRead + AsyncWrite + Unpin> Wire for S {}

pub(crate) struct Client<S> {
    pub(crate) stream: S,
    pub(crate) socket: ClientSocket,
    pub(crate) out: Vec<u8>,
    received: Vec<u8>,
    /// Lengths of the segments that have come.
    pub(crate) lengths: Vec<usize>,
    /// The conversation that verbs are called on.
    pub(crate) id: u32,
}

/// What became of a socket.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Refused(Status),
    Ended(Status),
    Eof,
}

impl<S: Wire> Client<S> {
    pub(crate) fn offer(channel: &str) -> ClientOffer {
        ClientOffer {
            channel: Chars::new(channel),
            q_mgr: Name::new("QM1"),
            product: Chars::new("MQRU00010000"),
            process_id: 4711,
            ..ClientOffer::default()
        }
    }

    pub(crate) fn begin(stream: S, offer: &ClientOffer) -> Client<S> {
        let mut out = Vec::new();
        let socket = ClientSocket::begin(offer, &mut out);
        Client {
            stream,
            socket,
            out,
            received: Vec::new(),
            lengths: Vec::new(),
            id: 0,
        }
    }

    /// Negotiates.
    pub(crate) async fn agreed(stream: S, offer: &ClientOffer) -> Result<Client<S>, Fate> {
        let mut client = Self::begin(stream, offer);
        match client.event().await? {
            FromServer::Agreed(_) => {}
            FromServer::Refused(status) => return Err(Fate::Refused(status)),
            other => panic!("{other:?}"),
        }
        client.id = client.socket.first_conversation();
        Ok(client)
    }

    /// Negotiates and connects.
    pub(crate) async fn connected(stream: S, offer: &ClientOffer) -> Client<S> {
        let mut client = Self::agreed(stream, offer).await.unwrap();
        let (outcome, _) = client.call(Hobj::NONE, &conn("QM1")).await;
        assert_eq!(outcome.comp_code, CompCode::Ok, "{outcome:?}");
        client
    }

    /// Writes what has been appended.
    pub(crate) async fn flush(&mut self) {
        let out = std::mem::take(&mut self.out);
        self.stream.write_all(&out).await.unwrap();
    }

    /// The next event; writes before it waits.
    pub(crate) async fn event(&mut self) -> Result<FromServer, Fate> {
        loop {
            let limit = self.socket.limit();
            if let Some(segment) = Segment::next(&self.received, limit).unwrap() {
                let event = self.socket.receive(&segment, &mut self.out).unwrap();
                let length = segment.length;
                self.lengths.push(length);
                self.received.drain(..length);
                match event {
                    Some(event) => return Ok(event),
                    None => continue,
                }
            }
            let out = std::mem::take(&mut self.out);
            // A server that has closed already still has last words to be read.
            drop(self.stream.write_all(&out).await);
            let mut buffer = vec![0; 65_536];
            match self.stream.read(&mut buffer).await {
                Ok(0) | Err(_) => return Err(Fate::Eof),
                Ok(length) => self.received.extend_from_slice(&buffer[..length]),
            }
        }
    }

    /// Takes at most so many bytes off the socket, if it still is one.
    pub(crate) async fn read_some(&mut self, most: usize) {
        let mut buffer = vec![0; most];
        if let Ok(length) = self.stream.read(&mut buffer).await {
            self.received.extend_from_slice(&buffer[..length]);
        }
    }

    /// How the socket ends.
    pub(crate) async fn fate(&mut self) -> Fate {
        match self.event().await {
            Ok(FromServer::Ended(status)) => Fate::Ended(status),
            Ok(FromServer::Refused(status)) => Fate::Refused(status),
            Ok(other) => panic!("{other:?}"),
            Err(fate) => fate,
        }
    }

    /// The reply that is awaited on a conversation.
    pub(crate) async fn reply(&mut self, wanted: u32) -> (Outcome, Reply) {
        match self.event().await.unwrap() {
            FromServer::Reply { id, outcome, reply } => {
                assert_eq!(id, wanted, "{reply:?}");
                (outcome, reply)
            }
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn send(&mut self, handle: Hobj, request: &Request) {
        self.socket.request(&mut self.out, self.id, handle, request);
    }

    pub(crate) async fn call(&mut self, handle: Hobj, request: &Request) -> (Outcome, Reply) {
        self.send(handle, request);
        self.reply(self.id).await
    }

    /// Another conversation on the socket, connected.
    pub(crate) async fn another(&mut self) -> u32 {
        let id = self.socket.start_conversation(&mut self.out).unwrap();
        match self.event().await.unwrap() {
            FromServer::Conversation {
                id: started,
                status: Status::OK,
            } => assert_eq!(started, id),
            other => panic!("{other:?}"),
        }
        let before = std::mem::replace(&mut self.id, id);
        let (outcome, _) = self.call(Hobj::NONE, &conn("QM1")).await;
        assert_eq!(outcome.comp_code, CompCode::Ok);
        self.id = before;
        id
    }

    pub(crate) async fn try_open(&mut self, od: Od, options: i32) -> (Outcome, Reply) {
        let open = OpenRequest {
            od,
            options,
            defaults: Some(OpenDefaults::default()),
        };
        self.call(Hobj::NONE, &Request::Open(Box::new(open))).await
    }

    pub(crate) async fn open(&mut self, queue: &str) -> Hobj {
        self.open_for(queue, MQOO_OUTPUT | MQOO_INPUT_SHARED).await
    }

    pub(crate) async fn open_for(&mut self, queue: &str, options: i32) -> Hobj {
        let od = Od {
            object_name: Name::new(queue),
            ..Od::default()
        };
        let (outcome, _) = self.try_open(od, options).await;
        assert_eq!(outcome.comp_code, CompCode::Ok, "{queue}: {outcome:?}");
        outcome.handle
    }

    pub(crate) fn send_put(&mut self, handle: Hobj, md: &Md, options: i32, data: &[u8]) {
        let pmo = Pmo {
            version: 2,
            options,
            ..Pmo::default()
        };
        let answered = options & posthaste_mqi::constants::MQPMO_ASYNC_RESPONSE == 0;
        let put = ClientPut {
            handle,
            md,
            pmo: &pmo,
            data,
            answered,
        };
        self.socket.put(&mut self.out, self.id, &put);
    }

    pub(crate) async fn try_put(
        &mut self,
        handle: Hobj,
        md: &Md,
        options: i32,
        data: &[u8],
    ) -> Result<Md, Reason> {
        self.send_put(handle, md, options, data);
        match self.reply(self.id).await {
            (outcome, Reply::Put { md, .. }) => {
                assert_eq!(outcome.comp_code, CompCode::Ok);
                Ok(md)
            }
            (outcome, _) => Err(outcome.reason),
        }
    }

    /// Writes credentials, which come before the MQCONN that they are for.
    pub(crate) fn give(&mut self, user: &[u8], password: &[u8]) {
        let credentials = Authentication {
            user: user.to_vec(),
            password: password.to_vec().into(),
            ..Authentication::default()
        };
        self.socket
            .authenticate(&mut self.out, self.id, &credentials);
    }

    /// The same, until they have been taken.
    pub(crate) async fn authenticate(&mut self, user: &[u8], password: &[u8]) {
        self.give(user, password);
        self.taken().await;
    }

    /// Gives a token by MQCSP, until it has been taken.
    pub(crate) async fn give_token(&mut self, token: &[u8]) {
        let credentials = Authentication {
            token: token.to_vec().into(),
            ..Authentication::default()
        };
        self.socket
            .authenticate(&mut self.out, self.id, &credentials);
        self.taken().await;
    }

    async fn taken(&mut self) {
        match self.event().await.unwrap() {
            FromServer::Conversation {
                status: Status::OK, ..
            } => {}
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn put(&mut self, handle: Hobj, options: i32, data: &[u8]) -> Md {
        self.try_put(handle, &Md::default(), options, data)
            .await
            .unwrap()
    }

    /// Asks for a message; `wait` in milliseconds, 0 for not at all.
    pub(crate) fn send_get(&mut self, handle: Hobj, options: i32, wait: i32, room: i32) {
        let waits = if wait == 0 { MQGMO_NO_WAIT } else { MQGMO_WAIT };
        let gmo = Gmo {
            version: 2,
            options: options | waits,
            wait_interval: wait,
            ..Gmo::default()
        };
        self.socket
            .get(&mut self.out, self.id, handle, &Md::default(), &gmo, room);
    }

    pub(crate) async fn got(&mut self) -> Result<(Reason, GetReply), Reason> {
        match self.reply(self.id).await {
            (outcome, Reply::Get(got)) => Ok((outcome.reason, got)),
            (outcome, _) => Err(outcome.reason),
        }
    }

    pub(crate) async fn get(
        &mut self,
        handle: Hobj,
        options: i32,
        wait: i32,
    ) -> Result<GetReply, Reason> {
        self.send_get(handle, options, wait, 1 << 20);
        self.got().await.map(|(_, got)| got)
    }

    /// Its socket, with nothing more to come from it.
    pub(crate) fn into_stream(self) -> S {
        self.stream
    }

    /// Disconnects the way client libraries do.
    pub(crate) async fn disconnect(mut self) {
        let (outcome, _) = self.call(Hobj::NONE, &Request::Disc).await;
        assert_eq!(outcome.comp_code, CompCode::Ok);
        assert!(self.socket.end_conversation(&mut self.out, self.id));
        self.flush().await;
    }
}

pub(crate) fn conn(q_mgr: &str) -> Request {
    Request::Conn(Box::new(ConnRequest {
        q_mgr: Name::new(q_mgr),
        application: Chars::new("raw client"),
        application_type: 6,
        accounting_token: [0; 32],
        options: 1,
        connect_options: 0,
        fcno: ConnRequest::plain_fcno(posthaste_mqi::ByteOrder::Little),
    }))
}
