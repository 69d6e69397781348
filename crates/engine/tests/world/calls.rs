//! Calls of the MQ Interface in one line each.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;
use posthaste_engine::{Inquired, Session};
use posthaste_env::block_on;
use posthaste_mqi::constants::*;
use posthaste_mqi::{ByteOrder, Chars, Gmo, Hobj, Md, Name, Od, Pmo, PointerSize, Reason, Rfh2};

pub const LOCAL: &str = "SYSTEM.DEFAULT.LOCAL.QUEUE";
pub const MODEL: &str = "SYSTEM.DEFAULT.MODEL.QUEUE";
pub const DEAD: &str = "SYSTEM.DEAD.LETTER.QUEUE";
pub const IN_OUT: i32 = MQOO_INPUT_SHARED | MQOO_OUTPUT;
pub const PERSISTENT: i32 = MQPER_PERSISTENT;
pub const NOT_PERSISTENT: i32 = MQPER_NOT_PERSISTENT;

/// What a get came to.
#[derive(Debug, Clone)]
pub struct Taken {
    pub md: Md,
    pub gmo: Gmo,
    pub data: Bytes,
    pub length: usize,
    pub warning: Reason,
}

impl Taken {
    pub fn text(&self) -> String {
        String::from_utf8(self.data.to_vec()).unwrap()
    }
}

pub fn object(name: &str) -> Od {
    Od {
        object_name: Name::new(name),
        ..Od::default()
    }
}

pub fn open(s: &Session, name: &str, options: i32) -> Hobj {
    try_open(s, name, options).unwrap()
}

pub fn try_open(s: &Session, name: &str, options: i32) -> Result<Hobj, Reason> {
    open_od(s, &mut object(name), options)
}

/// A topic, by its string.
pub fn topic(string: &str) -> Od {
    Od {
        version: MQOD_VERSION_4,
        object_type: MQOT_TOPIC,
        object_string: string.to_owned(),
        ..Od::default()
    }
}

/// Opens what a descriptor names; there must be no warning.
pub fn open_od(s: &Session, od: &mut Od, options: i32) -> Result<Hobj, Reason> {
    let done = block_on(s.open(od, options))?;
    assert_eq!(done.warning, Reason::NONE);
    Ok(done.value)
}

/// Closes; the value is the warning.
pub fn close(s: &Session, h: Hobj, options: i32) -> Result<Reason, Reason> {
    block_on(s.close(h, options)).map(|d| d.warning)
}

pub fn pmo(options: i32) -> Pmo {
    Pmo {
        options,
        ..Pmo::default()
    }
}

/// The body of a message that has a folder of properties in front.
pub fn with_folder(folder: &str, body: &[u8]) -> Vec<u8> {
    let header = Rfh2 {
        format: Chars::new("MQSTR"),
        folders: vec![folder.to_owned()],
        ..Rfh2::default()
    };
    let mut data = Vec::new();
    header.encode(&mut data, ByteOrder::Little, PointerSize::Four);
    data.extend_from_slice(body);
    data
}

/// A version 2 descriptor.
pub fn md(persistence: i32) -> Md {
    Md {
        version: MQMD_VERSION_2,
        persistence,
        ..Md::default()
    }
}

/// Puts; the value is the warning.
pub fn try_put(
    s: &Session,
    h: Hobj,
    md: &mut Md,
    options: i32,
    data: &[u8],
) -> Result<Reason, Reason> {
    let data = Bytes::copy_from_slice(data);
    block_on(s.put(h, md, &mut pmo(options), data)).map(|d| d.warning)
}

/// Puts without any warning; returns the descriptor as the call left it.
pub fn send(s: &Session, h: Hobj, md: Md, options: i32, data: &[u8]) -> Md {
    let mut md = md;
    assert_eq!(try_put(s, h, &mut md, options, data), Ok(Reason::NONE));
    md
}

/// The same as soon as there is room: on a disk that was full, puts are refused until the reserve for checkpoints is
/// whole again.
pub fn send_in_time(s: &Session, h: Hobj, md: Md, options: i32, data: &[u8]) {
    until("room", || {
        match try_put(s, h, &mut md.clone(), options, data) {
            Err(Reason::Q_SPACE_NOT_AVAILABLE) => false,
            done => {
                assert_eq!(done, Ok(Reason::NONE));
                true
            }
        }
    });
}

pub fn put(s: &Session, h: Hobj, persistence: i32, options: i32, data: &[u8]) -> Md {
    send(s, h, md(persistence), options, data)
}

/// MQPUT1; the value is the warning.
pub fn put1(
    s: &Session,
    name: &str,
    md: &mut Md,
    options: i32,
    data: &[u8],
) -> Result<Reason, Reason> {
    let data = Bytes::copy_from_slice(data);
    block_on(s.put1(&mut object(name), md, &mut pmo(options), data)).map(|d| d.warning)
}

/// Match options for nothing at all, version 2.
pub fn gmo(options: i32) -> Gmo {
    Gmo {
        version: MQGMO_VERSION_2,
        options,
        match_options: MQMO_NONE,
        ..Gmo::default()
    }
}

/// A get that owns all it needs, so that it can be polled and dropped at will.
pub async fn getting(
    s: Session,
    h: Hobj,
    md: Md,
    gmo: Gmo,
    buffer: usize,
) -> Result<Taken, Reason> {
    let (mut md, mut gmo) = (md, gmo);
    let done = s.get(h, &mut md, &mut gmo, buffer).await?;
    Ok(Taken {
        md,
        gmo,
        data: done.value.data,
        length: done.value.length,
        warning: done.warning,
    })
}

/// A put that owns all it needs.
pub async fn putting(
    s: Session,
    h: Hobj,
    md: Md,
    options: i32,
    data: &'static [u8],
) -> Result<Md, Reason> {
    let mut md = md;
    s.put(h, &mut md, &mut pmo(options), Bytes::from_static(data))
        .await?;
    Ok(md)
}

pub fn take(s: &Session, h: Hobj, md: Md, gmo: Gmo, buffer: usize) -> Result<Taken, Reason> {
    block_on(getting(s.clone(), h, md, gmo, buffer))
}

/// Gets whatever is next.
pub fn next(s: &Session, h: Hobj, options: i32) -> Result<Taken, Reason> {
    take(s, h, md(0), gmo(options), 1 << 20)
}

pub fn get(s: &Session, h: Hobj, options: i32) -> Result<(Md, Bytes), Reason> {
    next(s, h, options).map(|taken| (taken.md, taken.data))
}

/// Gets every message there is outside syncpoint, as text.
pub fn drain(s: &Session, h: Hobj) -> Vec<String> {
    let mut out = Vec::new();
    loop {
        match next(s, h, 0) {
            Ok(taken) => out.push(taken.text()),
            Err(Reason::NO_MSG_AVAILABLE) => return out,
            Err(reason) => panic!("{reason}"),
        }
    }
}

/// Browses every message there is, as text.
pub fn browse(s: &Session, h: Hobj) -> Vec<String> {
    let mut out = Vec::new();
    let mut how = MQGMO_BROWSE_FIRST;
    loop {
        match next(s, h, how) {
            Ok(taken) => out.push(taken.text()),
            Err(Reason::NO_MSG_AVAILABLE) => return out,
            Err(reason) => panic!("{reason}"),
        }
        how = MQGMO_BROWSE_NEXT;
    }
}

pub fn commit(s: &Session) {
    assert_eq!(block_on(s.commit()).map(|d| d.warning), Ok(Reason::NONE));
}

pub fn backout(s: &Session) {
    assert_eq!(block_on(s.backout()).map(|d| d.warning), Ok(Reason::NONE));
}

/// Inquires; the second value is the warning.
pub fn inquire(s: &Session, h: Hobj, selectors: &[i32]) -> Result<(Inquired, Reason), Reason> {
    block_on(s.inquire(h, selectors)).map(|d| (d.value, d.warning))
}

/// A call in progress: polled by hand, and droppable at any moment.
pub struct Call<T> {
    future: Pin<Box<dyn Future<Output = T>>>,
    woken: Arc<Count>,
}

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl<T> Call<T> {
    /// Begins the call; it must not end at once.
    pub fn begin(future: impl Future<Output = T> + 'static) -> Self {
        let mut call = Call::of(future);
        assert!(call.poll().is_none(), "the call did not have to wait");
        call
    }

    /// A call that has not begun.
    pub fn of(future: impl Future<Output = T> + 'static) -> Self {
        Call {
            future: Box::pin(future),
            woken: Arc::default(),
        }
    }

    /// Begins a call and looks once: its result, or `None` if it would have to wait; it is dropped then.
    pub fn attempt(future: impl Future<Output = T>) -> Option<T> {
        let mut future = std::pin::pin!(future);
        match future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        }
    }

    /// Its result, if it has come to one.
    pub fn poll(&mut self) -> Option<T> {
        let waker = Waker::from(self.woken.clone());
        match self.future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        }
    }

    /// How often it was told to go on.
    pub fn woken(&self) -> usize {
        self.woken.0.load(Ordering::SeqCst)
    }

    /// Waits for its result.
    pub fn finish(self) -> T {
        block_on(self.future)
    }
}

/// Begins a get with an unlimited wait.
pub fn wait(s: &Session, h: Hobj, md: Md, gmo: Gmo) -> Call<Result<Taken, Reason>> {
    let gmo = Gmo {
        options: gmo.options | MQGMO_WAIT,
        wait_interval: MQWI_UNLIMITED,
        ..gmo
    };
    Call::begin(getting(s.clone(), h, md, gmo, 1 << 20))
}

/// Waits until something is so: what maintenance does, it does in its own time.
pub fn until(what: &str, so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !so() {
        assert!(Instant::now() < deadline, "{what} did not happen");
        std::thread::yield_now();
    }
}
