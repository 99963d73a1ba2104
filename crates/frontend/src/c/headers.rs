//! The headers of ours, which are part of the program, so that reading does not depend on the machine.

/// All headers, by name.
pub(super) const EMBEDDED: &[(&str, &str)] = &[
    ("alloca.h", include_str!("headers/alloca.h")),
    ("assert.h", include_str!("headers/assert.h")),
    ("builtins.h", include_str!("headers/builtins.h")),
    ("ctype.h", include_str!("headers/ctype.h")),
    ("errno.h", include_str!("headers/errno.h")),
    ("fcntl.h", include_str!("headers/fcntl.h")),
    ("float.h", include_str!("headers/float.h")),
    ("inttypes.h", include_str!("headers/inttypes.h")),
    ("limits.h", include_str!("headers/limits.h")),
    ("malloc.h", include_str!("headers/malloc.h")),
    ("math.h", include_str!("headers/math.h")),
    ("memory.h", include_str!("headers/memory.h")),
    ("predefined.h", include_str!("headers/predefined.h")),
    ("pthread.h", include_str!("headers/pthread.h")),
    ("sched.h", include_str!("headers/sched.h")),
    ("selvedge/types.h", include_str!("headers/selvedge/types.h")),
    ("semaphore.h", include_str!("headers/semaphore.h")),
    ("setjmp.h", include_str!("headers/setjmp.h")),
    ("signal.h", include_str!("headers/signal.h")),
    ("stdalign.h", include_str!("headers/stdalign.h")),
    ("stdarg.h", include_str!("headers/stdarg.h")),
    ("stdatomic.h", include_str!("headers/stdatomic.h")),
    ("stdbool.h", include_str!("headers/stdbool.h")),
    ("stddef.h", include_str!("headers/stddef.h")),
    ("stdint.h", include_str!("headers/stdint.h")),
    ("stdio.h", include_str!("headers/stdio.h")),
    ("stdlib.h", include_str!("headers/stdlib.h")),
    ("stdnoreturn.h", include_str!("headers/stdnoreturn.h")),
    ("string.h", include_str!("headers/string.h")),
    ("strings.h", include_str!("headers/strings.h")),
    ("sys/stat.h", include_str!("headers/sys/stat.h")),
    ("sys/time.h", include_str!("headers/sys/time.h")),
    ("sys/types.h", include_str!("headers/sys/types.h")),
    ("sys/wait.h", include_str!("headers/sys/wait.h")),
    ("threads.h", include_str!("headers/threads.h")),
    ("time.h", include_str!("headers/time.h")),
    ("unistd.h", include_str!("headers/unistd.h")),
    ("wchar.h", include_str!("headers/wchar.h")),
];

/// Returns the text of a header.
pub(super) fn embedded(name: &str) -> Option<&'static str> {
    EMBEDDED.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}
