//! MQSUB, MQSUBRQ and SPI SUBSCRIBE.
//!
//! The handle in the API header is that of the messages: of the application's own queue in a request, of whatever queue
//! they come to in a reply. The subscription's own handle is in the body, which a reply has also when its verb failed:
//! client libraries read it first.

use posthaste_engine::SubscribeOptions;
use posthaste_mqi::{Hobj, Name, Reason};
use posthaste_wire::reply::Answer;
use posthaste_wire::spi::SpiAnswer;
use posthaste_wire::subscribe::{SpiSubscribe, SubRequest, SubRqRequest};
use posthaste_wire::{Header, Outcome};

use super::{Dispatcher, outcome};

impl Dispatcher {
    pub(super) async fn subscribe(&self, header: &Header, handle: Hobj, sub: &mut SubRequest) {
        sub.sd.surrogates |= self.conversation.common.surrogates;
        let result = match &self.session {
            Some(session) => session.subscribe(&mut sub.sd, handle).await,
            None => Err(Reason::HCONN_ERROR),
        };
        let outcome = match result {
            Err(reason) => Outcome::failed(handle, reason),
            Ok(done) => {
                let (hobj, hsub) = done.value;
                sub.subscription = hsub;
                Outcome::done(hobj, done.warning)
            }
        };
        self.answer(header, outcome, &Answer::Sub(sub));
    }

    /// Client libraries of JMS subscribe so: they say whether the subscription is shared, how its queue is to be
    /// opened, and want to know which queue it is.
    pub(super) async fn spi_subscribe(
        &self,
        header: &Header,
        handle: Hobj,
        sub: &mut SpiSubscribe,
    ) {
        let Some(session) = &self.session else {
            return self.fail(header, handle, Reason::HCONN_ERROR);
        };
        sub.sd.surrogates |= self.conversation.common.surrogates;
        let with = SubscribeOptions {
            shared: sub.is_shared(),
            open_options: sub.open_options,
            joins: sub.joins().then_some(sub.id),
        };
        let outcome = match session.subscribe_with(&mut sub.sd, handle, with).await {
            Err(reason) => Outcome::failed(handle, reason),
            Ok(done) => {
                let (hobj, hsub) = done.value;
                sub.subscription = hsub;
                sub.id = session.subscription_id(hsub).unwrap_or(sub.id);
                // The handle may be on what is no queue, or not be one of ours any more.
                (sub.queue, sub.q_mgr) = session
                    .destination(hobj)
                    .unwrap_or((Name::BLANK, Name::BLANK));
                Outcome::done(hobj, done.warning)
            }
        };
        let answer = Answer::Spi(SpiAnswer::Subscribe(sub));
        self.answer(header, outcome, &answer);
    }

    pub(super) async fn subscription_request(
        &self,
        header: &Header,
        handle: Hobj,
        request: &mut SubRqRequest,
    ) {
        let SubRqRequest { action, sro } = request;
        let result = match &self.session {
            Some(session) => session.subscription_request(handle, *action, sro).await,
            None => Err(Reason::HCONN_ERROR),
        };
        self.answer(header, outcome(handle, &result), &Answer::SubRq(*request));
    }
}
