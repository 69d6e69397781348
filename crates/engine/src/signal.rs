//! A broadcast signal made of nothing but std wakers.
//!
//! Invariant: a [`Signal::raise`] that happens after [`Signal::listen`] made its future is seen by
//! that future, whether or not it has been polled yet.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use posthaste_env::sync::Mutex;

#[derive(Default)]
struct State {
    epoch: u64,
    wakers: Vec<Waker>,
}

/// Something that happens now and then, and that others wait for.
#[derive(Default)]
pub(crate) struct Signal {
    state: Mutex<State>,
}

impl Signal {
    /// Lets every listener go on.
    pub(crate) fn raise(&self) {
        for waker in self.raised() {
            waker.wake();
        }
    }

    /// The same, but the listeners are the caller's to wake, once no lock is held.
    pub(crate) fn raised(&self) -> Vec<Waker> {
        let mut state = self.state.lock();
        state.epoch += 1;
        std::mem::take(&mut state.wakers)
    }

    /// A future that ends at the next [`raise`](Signal::raise) after this call.
    pub(crate) fn listen(&self) -> Listen<'_> {
        Listen {
            since: self.state.lock().epoch,
            signal: self,
        }
    }
}

/// See [`Signal::listen`].
pub(crate) struct Listen<'a> {
    signal: &'a Signal,
    since: u64,
}

impl Future for Listen<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.signal.state.lock();
        if state.epoch != self.since {
            return Poll::Ready(());
        }
        if !state.wakers.iter().any(|w| w.will_wake(context.waker())) {
            state.wakers.push(context.waker().clone());
        }
        Poll::Pending
    }
}

/// Waits for either of two futures; the loser is dropped. The first is preferred.
pub(crate) async fn either<A, B>(first: A, second: B) -> Either<A::Output, B::Output>
where
    A: Future,
    B: Future,
{
    let mut first = std::pin::pin!(first);
    let mut second = std::pin::pin!(second);
    std::future::poll_fn(move |context| {
        if let Poll::Ready(value) = first.as_mut().poll(context) {
            return Poll::Ready(Either::First(value));
        }
        if let Poll::Ready(value) = second.as_mut().poll(context) {
            return Poll::Ready(Either::Second(value));
        }
        Poll::Pending
    })
    .await
}

/// Which of two futures ended first.
pub(crate) enum Either<A, B> {
    /// The first did.
    First(A),
    /// The second did.
    Second(B),
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::task::Wake;

    struct Nobody;
    impl Wake for Nobody {
        fn wake(self: Arc<Self>) {}
    }

    #[test]
    fn a_raise_between_listen_and_poll_is_seen() {
        let signal = Signal::default();
        let waker = Waker::from(Arc::new(Nobody));
        let mut context = Context::from_waker(&waker);
        let mut early = std::pin::pin!(signal.listen());
        signal.raise();
        let mut late = std::pin::pin!(signal.listen());
        assert!(early.as_mut().poll(&mut context).is_ready());
        assert!(late.as_mut().poll(&mut context).is_pending());
        signal.raise();
        assert!(late.as_mut().poll(&mut context).is_ready());
    }
}
