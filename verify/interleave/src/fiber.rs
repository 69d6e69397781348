//! A thread of the program under test, as a coroutine: it can be left at any depth of calls, and switching to
//! it costs tens of nanoseconds, not a trip through the operating system.
//!
//! Invariants:
//! * `RUNNING` points at the yielder of the fiber that runs, or is null while none does.
//! * A fiber is resumed only from outside any fiber.
//! * A fiber that is dropped before its end is leaked with all it holds: its destructors would wait for others.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::rc::Rc;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};

/// Bytes of stack; untouched pages cost nothing.
const STACK: usize = 1 << 20;

type Code = Coroutine<(), (), bool, DefaultStack>;
type Place = *const Yielder<(), ()>;

thread_local! {
    static RUNNING: Cell<Place> = const { Cell::new(ptr::null()) };
    /// Stacks of fibers that have ended, with their pages.
    static STACKS: RefCell<Vec<DefaultStack>> = const { RefCell::new(Vec::new()) };
}

/// What a fiber did when it was resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    Suspended,
    Ended { panicked: bool },
}

pub(crate) struct Fiber {
    code: Option<Code>,
    yielder: Rc<Cell<Place>>,
}

impl Fiber {
    /// A fiber that has not begun.
    ///
    /// # Panics
    /// When the system has no memory for a stack.
    pub(crate) fn new(body: Box<dyn FnOnce()>) -> Fiber {
        let spare = STACKS.with_borrow_mut(Vec::pop);
        let stack = spare.unwrap_or_else(|| match DefaultStack::new(STACK) {
            Ok(stack) => stack,
            Err(error) => panic!("no stack for a fiber: {error}"),
        });
        let yielder: Rc<Cell<Place>> = Rc::new(Cell::new(ptr::null()));
        let place = Rc::clone(&yielder);
        let code = Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
            place.set(yielder);
            RUNNING.set(yielder);
            catch_unwind(AssertUnwindSafe(body)).is_err()
        });
        Fiber {
            code: Some(code),
            yielder,
        }
    }

    /// Lets it run until it suspends itself or ends.
    pub(crate) fn resume(&mut self) -> Left {
        let Some(code) = &mut self.code else {
            return Left::Ended { panicked: false };
        };
        RUNNING.set(self.yielder.get());
        let left = code.resume(());
        RUNNING.set(ptr::null());
        match left {
            CoroutineResult::Yield(()) => Left::Suspended,
            CoroutineResult::Return(panicked) => {
                if let Some(code) = self.code.take() {
                    STACKS.with_borrow_mut(|stacks| stacks.push(code.into_stack()));
                }
                Left::Ended { panicked }
            }
        }
    }
}

impl Drop for Fiber {
    fn drop(&mut self) {
        std::mem::forget(self.code.take());
    }
}

/// Leaves the running fiber until it is resumed.
#[expect(
    unsafe_code,
    reason = "see the head of this file: the fiber reaches its own yielder"
)]
pub(crate) fn suspend() {
    let yielder = RUNNING.get();
    assert!(!yielder.is_null(), "suspended outside a fiber");
    // SAFETY: `RUNNING` is set only while a fiber runs, to the yielder that the coroutine gave to its own body.
    // It lives on that fiber's stack until the body returns, and this call is made from within the body.
    unsafe { (*yielder).suspend(()) };
}
