// Runs the program, which is made for WASI: its standard input is a request, its standard output the reply. It has a
// clock, and nothing else of a system. Each request is a run of its own, so that memory is new each time.

const BAD_FILE = 8, AGAIN = 6, NOT_THERE = 52;

// Returns the reply, or what went wrong: the program was stopped by the browser, with what it said before.
function run(module, request) {
  const input = new TextEncoder().encode(request);
  const output = { 1: [], 2: [] };
  let at = 0;
  let instance;
  const view = () => new DataView(instance.exports.memory.buffer);
  const bytes = (from, length) => new Uint8Array(instance.exports.memory.buffer, from, length);
  // Each buffer of a list has its address and its length.
  const buffers = (list, count) => Array.from({ length: count }, (_, number) =>
    [0, 4].map((offset) => view().getUint32(list + 8 * number + offset, true)));
  const system = {
    fd_read(file, list, count, done) {
      if (file !== 0) return BAD_FILE;
      let sum = 0;
      for (const [from, length] of buffers(list, count)) {
        const part = input.subarray(at, at + length);
        bytes(from, part.length).set(part);
        at += part.length;
        sum += part.length;
      }
      view().setUint32(done, sum, true);
      return 0;
    },
    fd_write(file, list, count, done) {
      if (!output[file]) return BAD_FILE;
      let sum = 0;
      for (const [from, length] of buffers(list, count)) {
        output[file].push(bytes(from, length).slice());
        sum += length;
      }
      view().setUint32(done, sum, true);
      return 0;
    },
    clock_time_get(clock, _precision, time) {
      const now = clock === 0 ? Date.now() : performance.now();
      view().setBigUint64(time, BigInt(Math.round(now * 1e6)), true);
      return 0;
    },
    random_get(from, length) {
      crypto.getRandomValues(bytes(from, length));
      return 0;
    },
    environ_sizes_get(count, size) {
      view().setUint32(count, 0, true);
      view().setUint32(size, 0, true);
      return 0;
    },
    environ_get: () => 0,
    fd_prestat_get: () => BAD_FILE,
    // A thread cannot be started; all else about threads has nothing to do.
    pthread_create: () => AGAIN,
    pthread_attr_init: () => 0,
    pthread_attr_setstacksize: () => 0,
    pthread_attr_destroy: () => 0,
    pthread_detach: () => 0,
    proc_exit(code) { throw new Error(`the program ended with ${code}`); },
  };
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    (imports[from] ??= {})[name] = system[name] ?? (() => NOT_THERE);
  }
  const text = (parts) => new TextDecoder().decode(joined(parts));
  try {
    instance = new WebAssembly.Instance(module, imports);
    instance.exports._start();
    return JSON.parse(text(output[1]));
  } catch (error) {
    return { stopped: reason(error, text(output[2])) };
  }
}

function joined(parts) {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function reason(error, said) {
  if (error instanceof RangeError) return 'the program is too deep for the stack of a page';
  if (/memory allocation of \d+ bytes failed/.test(said) || /memory/i.test(error.message)) {
    return 'the check needs more memory than a page has';
  }
  return said.trim() || String(error);
}

if (typeof onmessage !== 'undefined') {
  onmessage = ({ data: { module, request } }) => postMessage(run(module, request));
}
