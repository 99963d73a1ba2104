//! One kernel and any number of drivers: programs in the spirit of the device drivers of La Torre, Madhusudan and
//! Parlato (2010), section 6, generated from fixed seeds.
//!
//! A program is made of *devices*: a spin lock, an open count, a timer, an interrupt, a service queue and so on, each
//! with routines of the drivers and of the kernel, and one property. A device is right, broken, or right but abstracted
//! too coarsely, so that a condition has become a choice. Some are broken only for three drivers or more.

use std::fmt::Write as _;

use selvedge_testkit::rng::Rng;

/// The quality of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quality {
    /// It is correct.
    Right,
    /// It has an error.
    Broken,
    /// It is correct, but a condition has been abstracted to a choice.
    Coarse,
}

/// A device as text.
pub(super) struct Device {
    shared: String,
    /// A routine of the drivers, and one of the kernel.
    driver: String,
    kernel: String,
}

type Make = fn(Quality) -> Device;

/// All devices, with their names.
pub(super) const DEVICES: [(&str, Make); 9] = [
    ("spin_lock", spin_lock),
    ("single_open", single_open),
    ("timer", timer),
    ("interrupt", interrupt),
    ("users", users),
    ("queue", queue),
    ("discipline", discipline),
    ("watchdog", watchdog),
    ("buffer", buffer),
];

/// Generates a program with this device and others that are right, by the numbers of a stream.
pub(super) fn program(rng: &mut Rng, number: usize, quality: Quality) -> String {
    let named = |number: usize, quality| (DEVICES[number].0, DEVICES[number].1(quality));
    let mut devices = vec![named(number, quality)];
    for _ in 0..rng.below(2) {
        let other = rng.below(DEVICES.len());
        if other != number {
            devices.push(named(other, Quality::Right));
        }
    }
    let mut text = String::new();
    for (name, device) in &devices {
        let _ = writeln!(text, "// {name}\n{}", device.shared);
    }
    let noise = rng.below(3);
    for bit in 0..noise {
        let _ = writeln!(text, "shared decl status{bit} := 0;");
    }
    let mut process = |head: &str, routine: fn(&Device) -> &str, noise: &str| {
        let _ = writeln!(text, "process {head} begin");
        for (name, device) in &devices {
            let _ = writeln!(text, "  void {name}() begin\n{}  end", routine(device));
        }
        let calls: Vec<String> = devices.iter().map(|(name, _)| format!("    {name}();")).collect();
        let work = format!("{noise}{}", calls.join("\n"));
        let body = if rng.coin() { format!("    while * do\n{work}\n    od;") } else { work };
        let _ = writeln!(text, "  void main() begin\n{body}\n  end\nend");
    };
    let write = (0..noise).map(|bit| format!("    if * then status{bit} := *; fi;\n")).collect::<String>();
    process("driver", |device| &device.driver, &write);
    process("kernel once", |device| &device.kernel, "");
    text
}

/// Takes a lock: at once, by testing first and taking later, or without knowing whether it was free.
fn take(lock: &str, quality: Quality) -> String {
    match quality {
        Quality::Right => format!("    atomic_begin; assume(!{lock}); {lock} := 1; atomic_end;\n"),
        Quality::Broken => format!("    assume(!{lock}); {lock} := 1;\n"),
        Quality::Coarse => format!("    atomic_begin; assume(*); {lock} := 1; atomic_end;\n"),
    }
}

/// Returns a condition, true where the device lacks it, or a choice where it is abstracted.
fn guard(condition: &str, quality: Quality) -> String {
    match quality {
        Quality::Right => condition.to_string(),
        Quality::Broken => "1".to_string(),
        Quality::Coarse => "*".to_string(),
    }
}

fn spin_lock(quality: Quality) -> Device {
    let take = take("lock", quality);
    Device {
        shared: "shared decl lock := 0, inside := 0;".into(),
        driver: format!("{take}    assert(!inside); inside := 1; inside := 0; lock := 0;\n"),
        kernel: "    atomic_begin; assume(!lock); lock := 1; atomic_end;\n    assert(!inside); lock := 0;\n".into(),
    }
}

fn single_open(quality: Quality) -> Device {
    let opened = match quality {
        Quality::Right => "    atomic_begin; was := opened; opened := 1; atomic_end;\n",
        Quality::Broken => "    was := opened; opened := 1;\n",
        Quality::Coarse => "    atomic_begin; was := *; opened := 1; atomic_end;\n",
    };
    Device {
        shared: "shared decl opened := 0, writing := 0;".into(),
        driver: format!(
            "    decl was;\n{opened}    if !was then\n      assert(!writing); writing := 1; writing := 0; opened := \
             0;\n    fi;\n"
        ),
        kernel: "    skip;\n".into(),
    }
}

fn timer(quality: Quality) -> Device {
    let idle = guard("!armed", quality);
    Device {
        shared: "shared decl armed := 0, loaded := 1;".into(),
        driver: "    atomic_begin; if loaded then armed := 1; fi; atomic_end;\n".into(),
        kernel: format!(
            "    if * then\n      atomic_begin; if armed then assert(loaded); armed := 0; fi; atomic_end;\n    \
             else\n      atomic_begin; assume({idle}); loaded := 0; atomic_end;\n      assert(!armed);\n    fi;\n"
        ),
    }
}

fn interrupt(quality: Quality) -> Device {
    let calm = guard("!handling", quality);
    Device {
        shared: "shared decl masked := 0, handling := 0;".into(),
        driver: "    atomic_begin; assume(!masked & !handling); handling := 1; atomic_end;\n    assert(!masked);\n    \
                 handling := 0;\n"
            .into(),
        kernel: format!("    atomic_begin; assume({calm}); masked := 1; atomic_end;\n    masked := 0;\n"),
    }
}

/// Makes a device for at most two drivers at once; the error needs three of them.
fn users(quality: Quality) -> Device {
    let room = guard("!n1", quality);
    Device {
        shared: "shared decl n0 := 0, n1 := 0;".into(),
        driver: format!(
            "    atomic_begin; assume({room}); n0, n1 := !n0, n1 ^ n0; atomic_end;\n    assert(!(n0 & n1));\n    \
             atomic_begin; n0, n1 := !n0, n1 ^ !n0; atomic_end;\n"
        ),
        kernel: "    skip;\n".into(),
    }
}

fn queue(quality: Quality) -> Device {
    let free = guard("!request & !served", quality);
    Device {
        shared: "shared decl request := 0, served := 0, data := 0;".into(),
        driver: format!(
            "    decl mine;\n    mine := *;\n    atomic_begin; assume({free}); request := 1; data := mine; \
             atomic_end;\n    assume(served);\n    assert(data = mine);\n    served := 0;\n"
        ),
        kernel: "    atomic_begin; if request then request := 0; served := 1; fi; atomic_end;\n".into(),
    }
}

/// Makes a lock that only its holder may release.
fn discipline(quality: Quality) -> Device {
    let path = guard("mine", quality);
    Device {
        shared: "shared decl held := 0;".into(),
        driver: format!(
            "    decl mine;\n    mine := 0;\n    if * then\n      atomic_begin; assume(!held); held := 1; \
             atomic_end;\n      mine := 1;\n    fi;\n    if {path} then\n      assert(mine); held := 0;\n    fi;\n"
        ),
        kernel: "    atomic_begin; assume(!held); held := 1; atomic_end;\n    assert(held); held := 0;\n".into(),
    }
}

/// Makes a watchdog: the kernel counts missed beats, and a driver that is alive resets them.
fn watchdog(quality: Quality) -> Device {
    let limit = guard("!beat1", quality);
    Device {
        shared: "shared decl beat0 := 0, beat1 := 0, fired := 0;".into(),
        driver: "    atomic_begin; beat0, beat1 := 0, 0; atomic_end;\n".into(),
        kernel: format!(
            "    while * do\n      atomic_begin;\n      if {limit} then beat0, beat1 := !beat0, beat1 ^ beat0; else \
             beat0, beat1 := 0, 0; fi;\n      atomic_end;\n      assert(!(beat0 & beat1));\n    od;\n"
        ),
    }
}

/// Makes a buffer that two drivers fill under a lock; a third one needs the lock to find it half full.
fn buffer(quality: Quality) -> Device {
    let lock = take("guard", quality);
    Device {
        shared: "shared decl guard := 0, low := 0, high := 0;".into(),
        driver: format!(
            "{lock}    if !low then low := 1; else high := 1; fi;\n    assert(low | !high);\n    if high then high := \
             0; low := 0; fi;\n    guard := 0;\n"
        ),
        kernel: "    skip;\n".into(),
    }
}
