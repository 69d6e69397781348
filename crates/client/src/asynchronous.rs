//! Asynchronous puts: sent, and not waited for (manual: "Putting messages asynchronously", "MQPMO_ASYNC_RESPONSE").
//!
//! Invariants:
//! * What can be known here is refused here (no connection, no such handle, contradictory options, too long); the
//!   rest is counted by the queue manager for MQSTAT.
//! * Identifiers that the queue manager would have made are made here, so that the application has them: 12 random
//!   bytes a connection and a number, between which and the queue manager's own no other identifier fits.
//! * Fields that only the queue manager knows (`PutDate`, `PutTime`, resolved names) come back as they were sent, or
//!   blank.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};

use posthaste_mqi::constants::{
    MQAT_UNIX, MQPMO_ASYNC_RESPONSE, MQPMO_NEW_CORREL_ID, MQPMO_NEW_MSG_ID, MQPMO_NO_CONTEXT,
    MQPMO_PASS_ALL_CONTEXT, MQPMO_PASS_IDENTITY_CONTEXT, MQPMO_SET_ALL_CONTEXT,
    MQPMO_SET_IDENTITY_CONTEXT, MQPMO_SYNC_RESPONSE, MQPRT_ASYNC_RESPONSE,
};
use posthaste_mqi::{Chars, Done, Hobj, Md, MsgId, Name, Od, Pmo, Reason};
use posthaste_wire::client::{ClientPut, ClientPut1, ClientSocket};
use posthaste_wire::request::OpenDefaults;

use crate::{Call, ClientError, Connection};

/// Options with which the context is not that of the application itself.
const OTHER_CONTEXT: i32 = MQPMO_NO_CONTEXT
    | MQPMO_PASS_IDENTITY_CONTEXT
    | MQPMO_PASS_ALL_CONTEXT
    | MQPMO_SET_IDENTITY_CONTEXT
    | MQPMO_SET_ALL_CONTEXT;
const NEW_IDS: i32 = MQPMO_NEW_MSG_ID | MQPMO_NEW_CORREL_ID;

/// What a connection knows for its asynchronous puts.
pub(crate) struct AsyncPuts {
    /// Open handles, and whether puts on them are asynchronous where the application leaves it to the queue.
    handles: BTreeMap<i32, bool>,
    /// What all identifiers made here begin with.
    prefix: [u8; 16],
    next: u64,
    application: Chars<28>,
}

impl AsyncPuts {
    pub(crate) fn new(application: &str) -> AsyncPuts {
        // Every one of these hashers has keys that the system drew at random.
        let random = |salt: u64| {
            let mut hasher = RandomState::new().build_hasher();
            hasher.write_u64(salt);
            hasher.finish().to_be_bytes()
        };
        let mut prefix = *b"AMQ             ";
        prefix[4..12].copy_from_slice(&random(1));
        prefix[12..].copy_from_slice(&random(2)[..4]);
        AsyncPuts {
            handles: BTreeMap::new(),
            prefix,
            next: 0,
            application: Chars::new(application),
        }
    }

    pub(crate) fn opened(&mut self, handle: Hobj, defaults: Option<&OpenDefaults>) {
        let asynchronous = defaults.is_some_and(|d| d.put_response == MQPRT_ASYNC_RESPONSE);
        self.handles.insert(handle.0, asynchronous);
    }

    pub(crate) fn closed(&mut self, handle: Hobj) {
        self.handles.remove(&handle.0);
    }

    /// Whether options say that nothing is waited for; `None` leaves it to the queue.
    pub(crate) fn is_asked_by_options(options: i32) -> Result<Option<bool>, ClientError> {
        match options & (MQPMO_ASYNC_RESPONSE | MQPMO_SYNC_RESPONSE) {
            0 => Ok(None),
            MQPMO_ASYNC_RESPONSE => Ok(Some(true)),
            MQPMO_SYNC_RESPONSE => Ok(Some(false)),
            _ => Err(ClientError::Reason(Reason::OPTIONS_ERROR)),
        }
    }

    /// Whether an MQPUT is not waited for.
    pub(crate) fn is_asked(&self, handle: Hobj, options: i32) -> Result<bool, ClientError> {
        let by_queue = self.handles.get(&handle.0);
        match (AsyncPuts::is_asked_by_options(options)?, by_queue) {
            (Some(true), None) => Err(ClientError::Reason(Reason::HOBJ_ERROR)),
            (Some(asked), _) => Ok(asked),
            (None, by_queue) => Ok(by_queue == Some(&true)),
        }
    }

    fn new_id(&mut self) -> MsgId {
        let mut id = [0; 24];
        id[..16].copy_from_slice(&self.prefix);
        id[16..].copy_from_slice(&self.next.to_be_bytes());
        self.next += 1;
        id
    }

    /// Makes the identifiers that are to be made; gives the options to send.
    fn identify(&mut self, md: &mut Md, options: i32) -> i32 {
        if options & MQPMO_NEW_MSG_ID != 0 || md.msg_id == [0; 24] {
            md.msg_id = self.new_id();
        }
        if options & MQPMO_NEW_CORREL_ID != 0 {
            md.correl_id = self.new_id();
        }
        (options & !NEW_IDS) | MQPMO_ASYNC_RESPONSE
    }

    /// What the manual guarantees to come back ("MQPMO_ASYNC_RESPONSE").
    fn fill(&self, md: &mut Md, pmo: &mut Pmo) {
        if pmo.options & OTHER_CONTEXT == 0 {
            md.appl_identity_data = Chars::default();
            md.put_appl_type = MQAT_UNIX;
            md.put_appl_name = self.application;
            md.appl_origin_data = Chars::default();
        }
        pmo.resolved_q_name = Name::default();
        pmo.resolved_q_mgr_name = Name::default();
    }
}

impl Connection {
    /// An MQPUT that is not waited for.
    pub(crate) fn put_async(
        &mut self,
        handle: Hobj,
        md: &mut Md,
        pmo: &mut Pmo,
        data: &[u8],
    ) -> Call<()> {
        self.async_puts(md, pmo, data, |socket, out, id, md, pmo| {
            let put = ClientPut {
                handle,
                md,
                pmo,
                data,
                answered: false,
            };
            socket.put(out, id, &put);
        })
    }

    /// An MQPUT1 that is not waited for.
    pub(crate) fn put1_ahead(
        &mut self,
        od: &Od,
        md: &mut Md,
        pmo: &mut Pmo,
        data: &[u8],
    ) -> Call<()> {
        self.async_puts(md, pmo, data, |socket, out, id, md, pmo| {
            let put = ClientPut1 {
                od,
                md,
                pmo,
                data,
                answered: false,
            };
            socket.put1(out, id, &put);
        })
    }

    fn async_puts(
        &mut self,
        md: &mut Md,
        pmo: &mut Pmo,
        data: &[u8],
        encode: impl FnOnce(&mut ClientSocket, &mut Vec<u8>, u32, &Md, &Pmo),
    ) -> Call<()> {
        self.check_length(data)?;
        let asked = pmo.options;
        pmo.options = self.async_puts.identify(md, asked);
        let sent = self.gather(|socket, out, id| encode(socket, out, id, md, pmo));
        pmo.options = asked;
        sent?;
        self.async_puts.fill(md, pmo);
        Ok(Done::ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_come_before_the_queue() {
        let mut async_puts = AsyncPuts::new("test");
        for (handle, put_response) in [(1, 1), (2, MQPRT_ASYNC_RESPONSE), (3, -1)] {
            let defaults = OpenDefaults {
                put_response,
                ..OpenDefaults::default()
            };
            async_puts.opened(Hobj(handle), Some(&defaults));
        }
        let both = MQPMO_ASYNC_RESPONSE | MQPMO_SYNC_RESPONSE;
        for (handle, options, expected) in [
            (1, 0, Ok(false)),
            (2, 0, Ok(true)),
            (3, 0, Ok(false)),
            (1, MQPMO_ASYNC_RESPONSE, Ok(true)),
            (2, MQPMO_SYNC_RESPONSE, Ok(false)),
            (2, both, Err(Reason::OPTIONS_ERROR)),
            (9, MQPMO_ASYNC_RESPONSE, Err(Reason::HOBJ_ERROR)),
            // What is waited for is refused by the queue manager.
            (9, 0, Ok(false)),
        ] {
            let asked = async_puts.is_asked(Hobj(handle), options);
            assert_eq!(
                asked.map_err(|e| e.reason()),
                expected,
                "{handle} {options}"
            );
        }
        async_puts.closed(Hobj(2));
        assert!(!async_puts.is_asked(Hobj(2), 0).unwrap());
    }

    #[test]
    fn identifiers_are_made_where_asked_and_never_twice() {
        let (mut one, mut two) = (AsyncPuts::new("test"), AsyncPuts::new("test"));
        let mut seen = std::collections::BTreeSet::new();
        for async_puts in [&mut one, &mut two] {
            for _ in 0..3 {
                let mut md = Md::default();
                let sent = async_puts.identify(&mut md, NEW_IDS);
                assert_eq!(sent, MQPMO_ASYNC_RESPONSE);
                assert!(seen.insert(md.msg_id) && seen.insert(md.correl_id));
            }
        }
        let mut own = Md {
            msg_id: [7; 24],
            correl_id: [8; 24],
            ..Md::default()
        };
        one.identify(&mut own, 0);
        assert_eq!((own.msg_id, own.correl_id), ([7; 24], [8; 24]));
        let mut none = Md::default();
        one.identify(&mut none, 0);
        assert!(seen.insert(none.msg_id), "no identifier means a new one");
        assert_eq!(none.correl_id, [0; 24]);
    }
}
