//! The tiles of the AMX unit of Intel's server processors since 2023, which Linux lends.
//!
//! A product of tiles is one instruction, TDPBF16PS: 16 rows and 16 columns, 32 terms each. Intel (2024),
//! "Intel 64 and IA-32 Architectures Software Developer's Manual", volume 1, chapter 18.

use std::arch::asm;
use std::arch::x86_64::{__cpuid, __cpuid_count};

use super::{BLOCK, Line, SIDE};

/// Proof that this process may use the unit.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tiles(());

/// How LDTILECFG reads the shapes of the eight tiles.
#[repr(C, align(64))]
struct Shapes {
    palette: u8,
    start: u8,
    reserved: [u8; 14],
    bytes_in_a_row: [u16; 16],
    rows: [u8; 16],
}

/// Every tile has 16 rows of 64 bytes.
static SHAPES: Shapes = Shapes {
    palette: 1,
    start: 0,
    reserved: [0; 14],
    bytes_in_a_row: [64, 64, 64, 64, 64, 64, 64, 64, 0, 0, 0, 0, 0, 0, 0, 0],
    rows: [16, 16, 16, 16, 16, 16, 16, 16, 0, 0, 0, 0, 0, 0, 0, 0],
};

/// Whether the processor has eight tiles of 16 rows of 64 bytes, and products of numbers in 16 bits.
fn there() -> bool {
    /// AMX-BF16 and AMX-TILE in EDX of leaf 7.
    const WANTED: u32 = 1 << 22 | 1 << 24;
    if __cpuid(0).eax < 0x1d || __cpuid_count(7, 0).edx & WANTED != WANTED {
        return false;
    }
    // Palette 1: bytes of a tile; tiles and bytes of a row; rows.
    let palette = __cpuid_count(0x1d, 1);
    palette.eax >> 16 == 1024 && palette.ebx == 8 << 16 | 64 && palette.ecx & 0xffff == 16
}

impl Tiles {
    /// Asks the system for the unit, which changes nothing else; `None` without it.
    pub(super) fn detect() -> Option<Self> {
        /// `ARCH_REQ_XCOMP_PERM` of `asm/prctl.h`, since Linux 5.16.
        const ASK: libc::c_long = 0x1023;
        /// The state that holds the tiles.
        const TILES: libc::c_long = 18;
        if !there() {
            return None;
        }
        // SAFETY: with this code `arch_prctl` takes two numbers and no address, so it reads and writes no
        // memory of this process. It either grants the permission to all of its threads or fails.
        #[expect(unsafe_code, reason = "the system is asked")]
        let answer = unsafe { libc::syscall(libc::SYS_arch_prctl, ASK, TILES) };
        (answer == 0).then_some(Self(()))
    }

    /// Writes [`BLOCK`] rows and columns of a product, whose rows start `stride` numbers apart.
    pub(super) fn product(
        _: Self,
        product: &mut [f32],
        stride: usize,
        left: &[Line],
        right: &[Line],
    ) {
        let steps = left.len() / BLOCK;
        assert!(steps > 0 && stride >= BLOCK, "an empty product");
        assert!((BLOCK - 1) * stride + BLOCK <= product.len(), "product too short");
        assert!(BLOCK * steps <= right.len(), "right matrix too short");
        let (of_left, of_product) = (steps * size_of::<Line>(), stride * size_of::<f32>());
        // SAFETY: A `Tiles` exists only where `detect` found the instructions, the shapes of palette 1 and
        // the system's permission, which holds for every thread of the process to its end, so no
        // instruction faults. Registers of tiles are set up, written, read and released in this one
        // block, and are named as overwritten. Memory: with all tiles of 16 rows of 64 bytes, a tile is
        // read or written in 16 pieces of 64 bytes, `stride` bytes apart.
        // - `left` is read at rows 0 to 31, `steps` lines apart, in each step one line of every row: up
        //   to line 31 steps + steps - 1, which is within the first `BLOCK * steps` lines.
        // - `right` is read from its start on without gaps, in each step 2 * 16 lines: `BLOCK * steps`.
        // - `product` is written at rows 0 to 31, `stride` numbers apart, 32 numbers of each: up to
        //   number 31 stride + 31.
        // The first lies within its slice by what `steps` is, the others by the assertions; a slice has at
        // most isize::MAX bytes, so no stride overflows. `product` is borrowed mutably, so it overlaps no other. Lines and numbers
        // are plain bits: any are allowed. Flags change only by `dec`, the stack is not used.
        #[expect(unsafe_code, reason = "the standard library has no stable words for the AMX unit")]
        unsafe {
            asm!(
                "ldtilecfg [{shapes}]",
                "tilezero tmm0",
                "tilezero tmm1",
                "tilezero tmm2",
                "tilezero tmm3",
                "2:",
                "tileloadd tmm6, [{right} + {line} * 1]",
                "tileloadd tmm4, [{upper} + {of_left} * 1]",
                "tileloadd tmm7, [{right} + {line} * 1 + 1024]",
                "tdpbf16ps tmm0, tmm4, tmm6",
                "tileloadd tmm5, [{lower} + {of_left} * 1]",
                "tdpbf16ps tmm1, tmm4, tmm7",
                "tdpbf16ps tmm2, tmm5, tmm6",
                "tdpbf16ps tmm3, tmm5, tmm7",
                "add {upper}, 64",
                "add {lower}, 64",
                "add {right}, 2048",
                "dec {steps}",
                "jnz 2b",
                "tilestored [{product} + {of_product} * 1], tmm0",
                "tilestored [{product} + {of_product} * 1 + 64], tmm1",
                "tilestored [{below} + {of_product} * 1], tmm2",
                "tilestored [{below} + {of_product} * 1 + 64], tmm3",
                "tilerelease",
                shapes = in(reg) &raw const SHAPES,
                line = in(reg) size_of::<Line>(),
                right = inout(reg) right.as_ptr() => _,
                upper = inout(reg) left.as_ptr() => _,
                lower = inout(reg) left[SIDE * steps..].as_ptr() => _,
                of_left = in(reg) of_left,
                steps = inout(reg) steps => _,
                product = in(reg) product.as_mut_ptr(),
                below = in(reg) product.as_mut_ptr().wrapping_add(SIDE * stride),
                of_product = in(reg) of_product,
                out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                options(nostack),
            );
        }
    }
}
