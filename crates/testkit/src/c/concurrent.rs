//! Generated C programs with threads: two or three threads, few shared variables of few values, and one kind of
//! synchronisation or several.
//!
//! In the text `$` begins a name that is declared outside of functions; `$pause;` is a place where the compiled
//! program may wait for other threads, `$check(..)` an assertion, `$claim` a place behind all threads, and `$lock;`
//! and `$unlock;` are what atomic functions need where they are compiled.
//!
//! Between two sequence points a program reads one shared object at most, so that the order of evaluation makes no
//! difference. Locks are taken in one order, so that few programs have deadlocks.

use crate::rng::Rng;

/// How a program keeps threads apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// By locks, atomic objects, or not at all.
    Mixed,
    /// All accesses are in atomic sections.
    Sections,
    /// All accesses are in atomic functions.
    Functions,
}

/// The shared variables that are plain, and those that are atomic; their final values are compared.
pub(super) const PLAIN: [&str; 3] = ["$x", "$y", "$b"];
pub(super) const ATOMIC: [&str; 2] = ["$c", "$d"];

/// Declarations of all programs.
const DECLARATIONS: &str = "\
volatile int $x, $y;
volatile _Bool $b;
_Atomic int $c;
atomic_uchar $d;
int $done;
pthread_mutex_t $m0 = PTHREAD_MUTEX_INITIALIZER, $m1 = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t $cond = PTHREAD_COND_INITIALIZER;
pthread_rwlock_t $rw = PTHREAD_RWLOCK_INITIALIZER;
sem_t $sem;
";

/// Declarations of programs with pointers: behind pointers, in arrays and structs, and to functions.
const POINTERS: &str = "\
typedef volatile int *$place;
struct $node { $place at; struct $node *volatile next; int (*volatile apply)(int); };
int $plus(int n) { return n + 1; }
int $twice(int n) { return n * 2; }
$place volatile $p = &$x;
$place volatile *volatile $pp = &$p;
$place $all[2] = { &$x, &$y };
struct $node $n0, $n1 = { &$y, &$n0, $twice };
struct $node $n0 = { &$x, &$n1, $plus };
void *volatile $raw = &$n0;
";

/// Returns the text of a random program. One of five has pointers.
pub(super) fn program(rng: &mut Rng) -> String {
    let has_pointers = rng.clone().below(1000).is_multiple_of(5);
    make(rng, has_pointers)
}

/// Returns the text of a random program with pointers.
pub(super) fn with_pointers(rng: &mut Rng) -> String {
    make(rng, true)
}

fn make(rng: &mut Rng, has_pointers: bool) -> String {
    let style = match rng.below(10) {
        0 | 1 => Style::Sections,
        2 => Style::Functions,
        _ => Style::Mixed,
    };
    Maker { rng, has_pointers, style, lines: Vec::new(), functions: Vec::new(), indent: 1, held: 0 }.program()
}

struct Maker<'r> {
    rng: &'r mut Rng,
    has_pointers: bool,
    style: Style,
    lines: Vec<String>,
    /// The atomic functions.
    functions: Vec<String>,
    indent: usize,
    /// The number of locks that are held: 0, the first, or both.
    held: usize,
}

impl Maker<'_> {
    fn program(mut self) -> String {
        let n_workers = self.rng.between(1, 2);
        let is_twice = n_workers == 1 && self.rng.coin();
        let permits = self.rng.below(2);
        for number in 0..n_workers {
            self.worker(number);
        }
        let n_threads = if is_twice { 2 } else { n_workers };
        let handles: Vec<String> = (0..n_threads).map(|number| format!("t{number}")).collect();
        self.lines.push("int $main(void) {".to_owned());
        self.line(&format!("pthread_t {};", handles.join(", ")));
        self.line("int l = 0;");
        self.line("void *result = 0;");
        self.line(&format!("sem_init(&$sem, 0, {permits});"));
        for number in 0..n_threads {
            let (worker, argument) = (if is_twice { 0 } else { number }, self.rng.below(3));
            self.line(&format!("pthread_create(&t{number}, 0, $w{worker}, (void *){argument});"));
        }
        let count = self.rng.between(0, 3);
        self.stmts(count);
        for number in 0..n_threads {
            let result = ["0", "&result"][self.rng.below(2)];
            self.line(&format!("pthread_join(t{number}, {result});"));
        }
        self.line("$y = (result != 0) ? $y + 1 : $y;");
        self.line("$done = 1;");
        self.line("$claim");
        self.line("return 0;");
        self.lines.push("}".to_owned());
        let functions: String = self.functions.concat();
        let pointers = if self.has_pointers { POINTERS } else { "" };
        format!("{DECLARATIONS}{pointers}{functions}{}\n", self.lines.join("\n"))
    }

    fn line(&mut self, text: &str) {
        self.lines.push(format!("{}{text}", "    ".repeat(self.indent)));
    }

    fn worker(&mut self, number: usize) {
        self.lines.push(format!("void *$w{number}(void *argument) {{"));
        let init = ["0", "1", "(long)argument"][self.rng.below(3)];
        self.line(&format!("int l = {init};"));
        let count = self.rng.between(1, 4);
        self.stmts(count);
        let result = ["0", "(void *)1", "argument", "(void *)(long)(l & 1)"][self.rng.below(4)];
        self.line(&format!("return {result};"));
        self.lines.push("}".to_owned());
    }

    fn stmts(&mut self, count: usize) {
        for _ in 0..count {
            match self.style {
                Style::Mixed => self.stmt(),
                Style::Sections => self.section(),
                Style::Functions => self.atomic_function(),
            }
        }
    }

    /// Adds statements of a block, without a pause behind them.
    fn plain_block(&mut self, count: usize) -> Vec<String> {
        (0..count).map(|_| self.plain()).collect()
    }

    fn section(&mut self) {
        let count = self.rng.between(1, 3);
        let body = self.plain_block(count);
        self.line("__VERIFIER_atomic_begin();");
        body.iter().for_each(|text| self.line(text));
        self.line("__VERIFIER_atomic_end();");
        self.line("$pause;");
    }

    /// Calls a new atomic function.
    fn atomic_function(&mut self) {
        let (number, count) = (self.functions.len(), self.rng.between(1, 3));
        let body = self.plain_block(count).join("\n    ");
        let name = format!("__VERIFIER_atomic_$f{number}");
        self.functions.push(format!("int {name}(int l) {{\n    $lock;\n    {body}\n    $unlock;\n    return l;\n}}\n"));
        self.line(&format!("l = {name}(l);"));
        self.line("$pause;");
    }

    fn variable(&mut self) -> &'static str {
        let all = [PLAIN.as_slice(), &ATOMIC].concat();
        all[self.rng.below(all.len())]
    }

    /// Returns a condition, which reads one shared object between two sequence points.
    fn condition(&mut self) -> String {
        let one = |maker: &mut Self| {
            let (place, op) = (maker.variable(), ["==", "!=", "<", ">="][maker.rng.below(4)]);
            format!("{place} {op} {}", maker.rng.below(3))
        };
        match self.rng.below(6) {
            0 => format!("l == {}", self.rng.below(3)),
            1 => format!("{} && {}", one(self), one(self)),
            2 => format!("{} || {}", one(self), one(self)),
            3 => "__VERIFIER_nondet_bool()".to_owned(),
            _ => one(self),
        }
    }

    /// Returns a statement without synchronisation.
    fn plain(&mut self) -> String {
        if self.has_pointers && self.rng.percent(40) {
            return self.pointed();
        }
        let (place, other, number) = (PLAIN[self.rng.below(3)], self.variable(), self.rng.below(3));
        match self.rng.below(12) {
            0 | 1 => format!("{place} = {number};"),
            2 => format!("{place} = ({other} + {number}) & 3;"),
            3 => format!("l = {other};"),
            4 => format!("{place} = l & 3;"),
            5 if place != "$b" => format!("{place}{};", ["++", "--"][self.rng.below(2)]),
            6 if place != "$b" => format!("{place} {} {number};", ["+=", "-=", "^=", "|="][self.rng.below(4)]),
            7 => "$b = !$b;".to_owned(),
            8 => format!("$check({});", self.condition()),
            9 => format!("if ({}) {place} = {number};", self.condition()),
            10 => format!("l = {other} + {number};"),
            _ => format!("{place} = {} ? 1 : {number};", self.condition()),
        }
    }

    /// Returns a statement that moves or follows pointers.
    fn pointed(&mut self) -> String {
        let (number, node, index) = (self.rng.below(3), self.rng.below(2), self.rng.below(2));
        let variable = ["x", "y"][self.rng.below(2)];
        match self.rng.below(14) {
            0 => format!("$p = &${variable};"),
            1 => format!("*$p = {number};"),
            2 => "l = *$p;".to_owned(),
            3 => format!("**$pp = {number};"),
            4 => format!("$pp = {};", ["&$p", "($place volatile *)&$all[1]", "&$all[0]"][self.rng.below(3)]),
            5 => format!("{{ $place q = $all[{index}]; *$pp = q; }}"),
            6 => format!("*$all[l & 1] = {number};"),
            7 => format!("$n{node}.next->at = &${variable};"),
            8 => format!("*$n{node}.next->at = {number};"),
            9 => format!("l = $n{node}.apply(l) & 3;"),
            10 => format!("$n{node}.apply = {};", ["$plus", "$twice"][self.rng.below(2)]),
            11 => format!("{{ struct $node *n = $raw; n->at = &${variable}; }}"),
            12 => format!("$raw = &$n{node};"),
            _ => format!("{{ struct $node n = $n{node}; $p = n.at; }}"),
        }
    }

    fn atomic(&mut self) -> String {
        let (place, number) = (ATOMIC[self.rng.below(2)], self.rng.below(3));
        match self.rng.below(12) {
            0 => format!("{place} = {number};"),
            1 => format!("{place}++;"),
            2 => format!("{place} += {number};"),
            3 => format!("l = atomic_fetch_add(&{place}, {number});"),
            4 => format!("l = atomic_exchange(&{place}, {number});"),
            5 => format!("atomic_store(&{place}, l);"),
            6 => format!("l = atomic_load_explicit(&{place}, memory_order_acquire);"),
            7 => format!("l = __sync_fetch_and_add(&$x, {number});"),
            8 => format!("l = __atomic_or_fetch(&$y, {number}, __ATOMIC_SEQ_CST);"),
            9 => format!("l = __sync_bool_compare_and_swap(&$x, {number}, 1);"),
            10 => "l = atomic_fetch_sub(&$c, 1);".to_owned(),
            _ => format!("{{ int e = {number}; l = atomic_compare_exchange_strong(&$c, &e, 2); $y = e & 3; }}"),
        }
    }

    fn stmt(&mut self) {
        match self.rng.below(14) {
            0..4 => {
                let text = self.plain();
                self.line(&text);
            }
            4..6 => {
                let text = self.atomic();
                self.line(&text);
            }
            6 | 7 if self.held < 2 => self.locked(),
            8 => self.branch(),
            9 if self.held == 0 => self.waiting(),
            10 if self.held == 0 => self.counted(),
            11 => self.repeated(),
            12 => {
                let condition = self.condition();
                self.line(&format!("$check({condition});"));
            }
            13 if self.rng.percent(30) => {
                let condition = self.condition();
                self.line(&format!("__VERIFIER_assume({condition});"));
            }
            _ => {
                let text = self.plain();
                self.line(&text);
            }
        }
        self.line("$pause;");
    }

    fn inner(&mut self, count: usize) {
        self.indent += 1;
        for _ in 0..count {
            let text = if self.rng.percent(75) { self.plain() } else { self.atomic() };
            self.line(&text);
            self.line("$pause;");
        }
        self.indent -= 1;
    }

    fn branch(&mut self) {
        let condition = self.condition();
        self.line(&format!("if ({condition}) {{"));
        self.inner(1);
        if self.rng.coin() {
            self.line("} else {");
            self.inner(1);
        }
        self.line("}");
    }

    fn repeated(&mut self) {
        let variable = format!("i{}", self.lines.len());
        self.line(&format!("for (int {variable} = 0; {variable} < 2; {variable}++) {{"));
        self.inner(1);
        self.line("}");
    }

    /// Takes the next lock, by one of the ways to take it.
    fn locked(&mut self) {
        let mutex = format!("$m{}", self.held);
        let (take, give) = match self.rng.below(4) {
            0 if self.held == 0 => {
                let kind = ["rd", "wr"][self.rng.below(2)];
                (format!("pthread_rwlock_{kind}lock(&$rw);"), "pthread_rwlock_unlock(&$rw);".to_owned())
            }
            1 => {
                (format!("if (pthread_mutex_trylock(&{mutex}) == 0) {{"), format!("pthread_mutex_unlock(&{mutex}); }}"))
            }
            _ => (format!("pthread_mutex_lock(&{mutex});"), format!("pthread_mutex_unlock(&{mutex});")),
        };
        self.line(&take);
        self.held += 1;
        let count = self.rng.between(1, 2);
        if self.held < 2 && self.rng.percent(20) {
            self.locked()
        } else {
            self.inner(count)
        }
        self.held -= 1;
        self.line(&give);
    }

    /// Waits for a condition, or changes what others wait for.
    fn waiting(&mut self) {
        self.line("pthread_mutex_lock(&$m0);");
        if self.rng.percent(40) {
            self.line("while (!$b)");
            self.line("    pthread_cond_wait(&$cond, &$m0);");
        } else {
            let number = usize::from(self.rng.percent(80));
            self.line(&format!("$b = {number};"));
            self.line("$pause;");
            let how = ["signal", "broadcast"][self.rng.below(2)];
            self.line(&format!("pthread_cond_{how}(&$cond);"));
        }
        self.inner(1);
        self.line("pthread_mutex_unlock(&$m0);");
    }

    /// Uses the semaphore.
    fn counted(&mut self) {
        if self.rng.percent(50) {
            self.line("sem_wait(&$sem);");
            self.inner(1);
        }
        self.line("sem_post(&$sem);");
    }
}
