//! What needs the operating system itself: memory in use, processes that we started, and the end of the program.
#![expect(unsafe_code, reason = "calls of the system's library; each says why it is right")]

use std::sync::atomic::{AtomicI32, Ordering};

use selvedge_frontend::files;

use crate::exit::Exit;

/// The exit code of an abort in some thread, or zero.
static ABORTED: AtomicI32 = AtomicI32::new(0);

/// Ends the program at once: threads that are still at work end with it, and so do the processes that they started.
pub(crate) fn end(exit: Exit) -> ! {
    leave_nothing();
    leave(i32::from(exit.code()))
}

/// Ends the program if a thread has aborted.
pub(crate) fn end_after_abort() {
    let code = ABORTED.load(Ordering::Relaxed);
    if code != 0 {
        leave_nothing();
        leave(code);
    }
}

/// Ends what would outlive the program: processes that we started, and files that do not have their names yet.
fn leave_nothing() {
    kill_children();
    files::remove_unfinished();
}

/// Leaves without handlers and destructors, which threads at work could trip over. Everything is flushed where it is
/// printed.
fn leave(code: i32) -> ! {
    #[cfg(unix)]
    // SAFETY: it takes a number and does not return.
    unsafe {
        libc::_exit(code)
    }
    #[cfg(not(unix))]
    std::process::exit(code)
}

/// Makes aborts end with an exit code: a failed allocation and an overflow of the stack, which Rust and C++ answer with
/// an abort, are a lack of memory, and an abort in the middle of a panic is a defect.
pub(crate) fn catch_aborts() {
    #[cfg(unix)]
    // SAFETY: the handler calls nothing that is not allowed in one; a zeroed `sigaction` is a valid one. `SA_ONSTACK`
    // gives it the stack that Rust provides for its own handler of overflows.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = on_abort as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_ONSTACK;
        libc::sigaction(libc::SIGABRT, &action, std::ptr::null_mut());
    }
}

#[cfg(unix)]
extern "C" fn on_abort(_: libc::c_int) {
    let (exit, message) = if std::thread::panicking() {
        (Exit::Internal, "error: selvedge aborted in the middle of a panic\n")
    } else {
        (Exit::MemoryLimit, "error: there is not enough memory: an allocation failed, or a stack is full\n")
    };
    let is_first = ABORTED.swap(i32::from(exit.code()), Ordering::Relaxed) == 0;
    // SAFETY: both calls are allowed in handlers; the text lives as long as the program.
    unsafe {
        if is_first {
            libc::write(2, message.as_ptr().cast(), message.len());
            // The thread that watches kills our solvers and ends the program meanwhile, unless it is this one.
            for _ in 0..50 {
                libc::usleep(10_000);
            }
        }
        libc::_exit(i32::from(exit.code()))
    }
}

/// Kills the processes that we started and that still run, with those that they started. A thread that is still at
/// work may start another one meanwhile, so that this is repeated until none is left; a process that cannot be killed
/// is left in the end.
fn kill_children() {
    #[cfg(target_os = "linux")]
    for _ in 0..50 {
        if !has_children() {
            return;
        }
        for pid in children().into_iter().flatten().filter_map(|pid| i32::try_from(pid).ok()) {
            // SAFETY: it takes two numbers.
            unsafe { libc::kill(pid, libc::SIGKILL) };
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Returns whether there are processes that we started, other than those that have ended, which this forgets.
#[cfg(target_os = "linux")]
fn has_children() -> bool {
    loop {
        // SAFETY: it takes numbers. A thread that waits for the same process finds none, and does not matter any more.
        match unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) } {
            0 => return true,
            pid if pid < 0 => return false,
            _ => {}
        }
    }
}

/// Lists the processes that descend from this one, if the system tells.
#[cfg(target_os = "linux")]
pub(crate) fn children() -> Option<Vec<u32>> {
    let name = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok();
    let pids = std::fs::read_dir("/proc").ok()?.flatten().filter_map(name);
    // The parent is the second word behind the name, which is in parentheses and may have any characters.
    let parent = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?;
        Some((pid, parent))
    };
    let parents: Vec<(u32, u32)> = pids.filter_map(parent).collect();
    let mut found = vec![std::process::id()];
    let mut at = 0;
    while at < found.len() {
        let of = found[at];
        found.extend(parents.iter().filter(|(_, parent)| *parent == of).map(|(pid, _)| *pid));
        at += 1;
    }
    Some(found.split_off(1))
}

/// Returns the bytes of memory of a process that no file backs; without a number, of this one.
#[cfg(target_os = "linux")]
pub(crate) fn resident(pid: Option<u32>) -> Option<u64> {
    let path = pid.map_or("/proc/self/statm".to_string(), |pid| format!("/proc/{pid}/statm"));
    let text = std::fs::read_to_string(path).ok()?;
    let mut pages = text.split_whitespace().skip(1).map_while(|word| word.parse::<u64>().ok());
    let (resident, shared) = (pages.next()?, pages.next()?);
    // SAFETY: it takes a number and returns one.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    Some(resident.saturating_sub(shared) * u64::try_from(page).ok()?)
}

/// Returns the bytes of memory that this program may hope for: those of the machine, or those that its container has.
#[cfg(target_os = "linux")]
pub(crate) fn memory() -> Option<u64> {
    // SAFETY: it takes a number and returns one.
    let (pages, page) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    let machine = u64::try_from(pages).ok()?.checked_mul(u64::try_from(page).ok()?)?;
    let container = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let container = container.and_then(|text| text.trim().parse().ok());
    Some(container.map_or(machine, |limit: u64| limit.min(machine)))
}

/// Returns nothing: the memory in use is not known well enough here to end a check.
#[cfg(not(target_os = "linux"))]
pub(crate) fn memory() -> Option<u64> {
    None
}

/// Gives memory back to the system that was freed.
pub(crate) fn trim() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it looks at free memory only.
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn processes_that_we_started_are_known_and_measured() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("`sleep` is there");
        assert!(children().is_some_and(|all| all.contains(&child.id())));
        assert!(resident(Some(child.id())).is_some());
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        assert!(resident(None) > Some(100_000));
    }
}
