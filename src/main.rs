//! The `caz` binary: chooses the allocator, runs the command line, and ends with its exit code.

use std::alloc::{GlobalAlloc, Layout};
use std::io::Write;
use std::process::ExitCode;

// Embedding allocates and frees large buffers all the time; the system allocator gives them back
// to the kernel and takes page faults for it.
#[global_allocator]
static ALLOCATOR: Telling = Telling(mimalloc::MiMalloc);

/// An allocator that ends the program with a message where there is no memory. What Rust does by itself, a
/// signal, can leave an image of the memory on the disk.
struct Telling(mimalloc::MiMalloc);

impl Telling {
    fn checked(memory: *mut u8, bytes: usize) -> *mut u8 {
        if memory.is_null() { no_memory(bytes) } else { memory }
    }
}

// SAFETY: every call goes to the allocator inside, unchanged, and so does what it gives; where it gives
// nothing, the call never returns.
#[expect(unsafe_code, reason = "an allocator is made of such functions")]
unsafe impl GlobalAlloc for Telling {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        Self::checked(unsafe { self.0.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        Self::checked(unsafe { self.0.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        Self::checked(unsafe { self.0.realloc(memory, layout, bytes) }, bytes)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        unsafe { self.0.dealloc(memory, layout) }
    }
}

/// Ends the program; what it writes takes no memory.
#[expect(clippy::exit, reason = "there is no memory to go on with")]
fn no_memory(bytes: usize) -> ! {
    let _ = writeln!(
        std::io::stderr(),
        "error: there is no memory left ({bytes} bytes more were needed); give less data at once, or a machine \
         with more"
    );
    std::process::exit(caz::cli::PANICKED)
}

/// The number of mimalloc's option `mi_option_purge_delay`, in milliseconds.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

fn main() -> ExitCode {
    // What is freed goes back to the system soon and not after a second, in which more is taken: of 388
    // reviews with MiniLM 196 MB in place of 254, of 76,000 by default 2.0 GB in place of 2.2. At once takes a
    // twentieth more time, and as much memory. `MIMALLOC_PURGE_DELAY` goes first.
    // SAFETY: this stores a number in a table of the allocator, whose other side is a read of that number
    // when memory is freed. No other thread runs yet.
    #[expect(unsafe_code, reason = "the allocator has no other way to be told")]
    unsafe {
        libmimalloc_sys::mi_option_set_default(PURGE_DELAY, 20);
    }
    caz::cli::main().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_the_option_is_that_of_the_delay() {
        // SAFETY: this reads a number.
        #[expect(unsafe_code, reason = "the allocator has no other way to be asked")]
        let default = unsafe { libmimalloc_sys::mi_option_get(PURGE_DELAY) };
        // What mimalloc's manual says of the delay, and of no other option.
        assert_eq!(default, 1000);
    }
}
