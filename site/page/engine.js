// The library, in a worker of its own so that the page never waits for it.

/**
 * The module with its two buffers. This function is also the worker's program, so it uses nothing from outside.
 * @param {BufferSource} bytes
 * @returns {(question: string) => string}
 */
function engine(bytes) {
  const module = new WebAssembly.Module(bytes);
  /** @type {any} */
  let library = null;
  return (question) => {
    library ??= new WebAssembly.Instance(module, {}).exports;
    try {
      const text = new TextEncoder().encode(question);
      const place = library.reserve(text.length) >>> 0;
      if (!place) return '{"problem":"The fields are too long."}';
      new Uint8Array(library.memory.buffer, place, text.length).set(text);
      const length = library.ask() >>> 0;
      return new TextDecoder().decode(new Uint8Array(library.memory.buffer, library.answer_at() >>> 0, length));
    } catch (error) {
      // What stopped half-way is not asked again.
      library = null;
      return JSON.stringify({ problem: `The library stopped: ${error}. This is a fault of truebloom; please report it with the link to this question.` });
    }
  };
}

/** What the worker is started with. */
const WORKER = `
const engine = ${engine};
let ask = null;
onmessage = ({ data }) => {
  if (data.bytes) ask = engine(data.bytes);
  else postMessage(ask(data.question));
};`;

/** The bytes of the module. @returns {Uint8Array<ArrayBuffer>} */
function unpacked() {
  const text = /** @type {HTMLElement} */ (document.getElementById('wasm')).textContent ?? '';
  return unpack(bytesOf(text));
}

/** One worker with the questions that wait for it. */
class Lane {
  /**
   * @param {BufferSource} bytes
   * @param {number} patience how many milliseconds a question that nobody waits for any longer may still take
   */
  constructor(bytes, patience) {
    this.bytes = bytes;
    this.patience = patience;
    /** @type {{ question: string, done: (answer: any) => void }[]} */
    this.waiting = [];
    this.since = 0;
    /** @type {((question: string) => string) | undefined} */
    this.here = undefined;
    this.start();
  }

  start() {
    this.since = 0;
    /** @type {Worker | null} */
    this.worker = null;
    try {
      const address = URL.createObjectURL(new Blob([WORKER], { type: 'text/javascript' }));
      this.worker = new Worker(address);
      URL.revokeObjectURL(address);
      this.worker.onmessage = ({ data }) => this.answered(data);
      this.worker.onerror = () => this.answered('{"problem":"The worker stopped."}');
      this.worker.postMessage({ bytes: this.bytes });
    } catch {
      // A browser that allows no worker here: the page waits, and answers all the same.
      this.worker = null;
      this.here ??= engine(this.bytes);
    }
  }

  /**
   * @param {string} section
   * @param {Record<string, string | number>} fields
   * @returns {Promise<any>} the answer; null if it was called off
   */
  ask(section, fields) {
    const lines = Object.entries(fields).map(([name, value]) => `${name}=${String(value).replace(/[\r\n]/g, ' ')}`);
    return new Promise((done) => {
      this.waiting.push({ question: [section, ...lines].join('\n'), done });
      if (!this.since) this.next();
    });
  }

  next() {
    if (!this.waiting.length) return;
    this.since = performance.now();
    const { question } = this.waiting[0];
    const { worker, here } = this;
    if (worker) worker.postMessage({ question });
    else if (here) setTimeout(() => this.answered(here(question)));
  }

  /** @param {string} text */
  answered(text) {
    this.since = 0;
    const first = this.waiting.shift();
    if (first) first.done(JSON.parse(text));
    if (!this.since) this.next();
  }

  /** Calls off all that waits. */
  cancel() {
    const running = this.since > 0;
    const slow = running && performance.now() - this.since > this.patience;
    const dropped = this.waiting.splice(running && !slow ? 1 : 0);
    if (slow) {
      this.worker?.terminate();
      this.start();
    }
    dropped.forEach(({ done }) => done(null));
  }
}
