//! Messages that are delivered some time after their put, as JMS has them (delivery delay): the verb of the second interface by
//! which they come.
//!
//! Invariant: how long a message is delayed it says itself, in an MQRFH2 in front of its data (`<mqext><Dly>`, milliseconds); one
//! that does not is refused.

use bytes::Bytes;
use posthaste_mqi::{Done, Hobj, Md, Pmo};
use posthaste_wire::spi::{SpiPut, SpiReply, SpiRequest};
use posthaste_wire::{Reply, Request};

use crate::{Call, Connection};

impl Connection {
    /// MQPUT of a message that is delivered later. The descriptor and the options come back filled.
    ///
    /// # Errors
    /// Those of [`Connection::put`]; the reason for which the queue manager cannot delay it.
    pub fn put_delayed(
        &mut self,
        handle: Hobj,
        md: &mut Md,
        pmo: &mut Pmo,
        data: Bytes,
    ) -> Call<()> {
        self.check_length(&data)?;
        let put = SpiPut {
            md: md.clone(),
            pmo: pmo.clone(),
            options: 0,
            data,
        };
        let request = Request::Spi(SpiRequest::Put(Box::new(put)));
        match self.call(handle, &request)? {
            (_, warning, Reply::Spi(SpiReply::Put(filled))) => {
                (*md, *pmo) = *filled;
                Ok(Done { value: (), warning })
            }
            _ => Err(self.wrong_reply()),
        }
    }
}
