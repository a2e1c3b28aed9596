//! How one thread stops and another goes on.
//!
//! Every thread is a real one, made by the system, with its own stack and thread-locals. The
//! portable way to run one at a time is a baton: each sleeps in the kernel on its own word. That
//! takes microseconds each time. On x86-64 there is a faster one: a new thread lends its stack and
//! its thread-locals and never runs again; the process's first thread hops from stack to stack, and
//! takes with it the register that says where the thread-locals are. A hop takes 20 ns. Where the
//! processor or the system forbids that, and with `LAB_BATON=1`, the baton goes round. Both do the
//! same in the machine's time.

use super::system;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Where a thread stopped.
#[repr(C)]
pub(crate) struct Context {
    stack: u64,
    locals: u64,
    word: AtomicU32,
}

static HOPS: AtomicBool = AtomicBool::new(false);

/// Chooses between hop and baton.
pub(crate) fn choose() {
    HOPS.store(
        std::env::var_os("LAB_BATON").is_none_or(|v| v == "0") && fast::is_possible(),
        Ordering::Relaxed,
    );
}

fn hops() -> bool {
    HOPS.load(Ordering::Relaxed)
}

/// Whether threads lend their stacks and thread-locals, and so never end for the system.
pub(crate) fn threads_stay() -> bool {
    hops()
}

impl Context {
    pub(crate) const fn new() -> Self {
        Self {
            stack: 0,
            locals: 0,
            word: AtomicU32::new(0),
        }
    }

    /// Waits, in a thread just born, until [`switch`] leads here for the first time.
    ///
    /// # Safety
    /// The context lives as long as the thread, which is called from nowhere else.
    pub(crate) unsafe fn adopt(this: *mut Self) {
        if hops() {
            // SAFETY: a duty of the caller.
            unsafe { fast::lend(this) };
        } else {
            // SAFETY: as above.
            wait(unsafe { &(*this).word });
        }
    }

    /// Waits until the thread of this context can be switched to.
    ///
    /// # Safety
    /// As for `adopt`.
    pub(crate) unsafe fn wait_until_lent(this: *const Self) {
        // SAFETY: a duty of the caller.
        let word = unsafe { &(*this).word };
        // Acquire: pairs with the store in `lend`, which comes after all that it lends.
        while hops() && word.load(Ordering::Acquire) == 0 {
            std::hint::spin_loop();
        }
    }
}

/// Stops here as `from`, and goes on as `to`; comes back when another switches to `from`.
///
/// # Safety
/// `from` is the calling thread's, `to` another's that waits; both live.
pub(crate) unsafe fn switch(from: *mut Context, to: *const Context) {
    if hops() {
        // SAFETY: duties of the caller.
        unsafe { fast::hop(from, to) };
    } else {
        // SAFETY: as above.
        pass(unsafe { &(*to).word });
        // SAFETY: as above.
        wait(unsafe { &(*from).word });
    }
}

/// Goes on as `to`, for the last time.
///
/// # Safety
/// As for [`switch`].
pub(crate) unsafe fn leave(from: *mut Context, to: *const Context) {
    if hops() {
        // SAFETY: duties of the caller.
        unsafe { fast::hop(from, to) };
    } else {
        // SAFETY: as above.
        pass(unsafe { &(*to).word });
    }
}

fn wait(word: &AtomicU32) {
    // Acquire: pairs with `pass`.
    while word.swap(0, Ordering::Acquire) == 0 {
        system::sleep_on(word, 0);
    }
}

fn pass(word: &AtomicU32) {
    // Release: pairs with `wait`.
    word.store(1, Ordering::Release);
    system::rouse(word);
}

#[cfg(target_arch = "x86_64")]
mod fast {
    use super::Context;

    /// Whether a process may write its `fs` register.
    pub(super) fn is_possible() -> bool {
        const FSGSBASE: u64 = 1 << 1;
        // SAFETY: no preconditions.
        unsafe { libc::getauxval(libc::AT_HWCAP2) & FSGSBASE != 0 }
    }

    std::arch::global_asm!(
        // (from: rdi, to: rsi): registers that the calling convention preserves are pushed; the
        // caller expects to lose the rest.
        ".text",
        ".p2align 4",
        ".globl tine_lab_hop",
        "tine_lab_hop:",
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov [rdi], rsp",
        "rdfsbase rax",
        "mov [rdi + 8], rax",
        "mov rax, [rsi + 8]",
        "mov rsp, [rsi]",
        "wrfsbase rax",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
        // (this: rdi): leaves the same behind, says so, and sleeps in the kernel for ever, with
        // registers alone: the stack is no longer this thread's.
        ".p2align 4",
        ".globl tine_lab_lend",
        "tine_lab_lend:",
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov [rdi], rsp",
        "rdfsbase rax",
        "mov [rdi + 8], rax",
        "add rdi, 16",
        "mov dword ptr [rdi], 1",
        "2:",
        // futex(word, WAIT | PRIVATE, 1, no limit)
        "mov eax, 202",
        "mov esi, 128",
        "mov edx, 1",
        "xor r10d, r10d",
        "syscall",
        "jmp 2b",
    );

    unsafe extern "C" {
        #[link_name = "tine_lab_hop"]
        pub(super) fn hop(from: *mut Context, to: *const Context);
        #[link_name = "tine_lab_lend"]
        pub(super) fn lend(this: *mut Context);
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod fast {
    use super::Context;

    pub(super) fn is_possible() -> bool {
        false
    }

    // SAFETY: unsafe like its twin above, so that callers are the same; it touches nothing.
    pub(super) unsafe fn hop(_: *mut Context, _: *const Context) {
        unreachable!("not here");
    }

    // SAFETY: as for `hop`.
    pub(super) unsafe fn lend(_: *mut Context) {
        unreachable!("not here");
    }
}
