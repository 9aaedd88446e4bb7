//! The open hosts of a thread, by number.
//!
//! A host is reached only on the thread that opened it, and not while it is in use; any other
//! number is refused. Kotlin holds the number and never an address, so a stale one cannot be a
//! dangling pointer. A host still open when its thread ends is leaked on purpose: freeing it would
//! need the JVM, which the thread has left.

use std::cell::RefCell;
use std::collections::HashMap;
use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::sync::atomic::{AtomicI64, Ordering};

use paceline_hashing_quickjs::{Host, Leaving, Running};

static NEXT: AtomicI64 = AtomicI64::new(1);

thread_local! {
    static HOSTS: RefCell<HashMap<i64, ManuallyDrop<Rc<Host>>>> = RefCell::new(HashMap::new());
}

/// Keeps `host` for this thread and returns its number.
pub(crate) fn add(host: Host) -> i64 {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    HOSTS.with_borrow_mut(|hosts| hosts.insert(number, ManuallyDrop::new(Rc::new(host))));
    number
}

/// Runs `work` on the host with that number, unless it is running already.
pub(crate) fn with<T>(
    number: i64,
    work: impl FnOnce(&Running<'_>) -> Result<T, Leaving>,
) -> Result<T, Leaving> {
    let host = HOSTS.with_borrow(|hosts| hosts.get(&number).map(|host| Rc::clone(host)));
    let host = host.ok_or_else(|| gone(number))?;
    work(&host.enter()?)
}

/// Closes the host with that number and frees its runtime.
pub(crate) fn close(number: i64) -> Result<(), Leaving> {
    // Refuses when it is running: its frames are below us on this stack.
    with(number, |_| Ok(()))?;
    let host = HOSTS
        .with_borrow_mut(|hosts| hosts.remove(&number))
        .ok_or_else(|| gone(number))?;
    let host = Rc::try_unwrap(ManuallyDrop::into_inner(host));
    host.map_err(|_| Leaving::State("the host is running".to_owned()))?
        .close();
    Ok(())
}

fn gone(number: i64) -> Leaving {
    let text = format!(
        "host {number} is closed, or belongs to another thread: use it where it was opened"
    );
    Leaving::State(text)
}
