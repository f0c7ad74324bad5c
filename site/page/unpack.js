// The library is packed as LZMA (`xz --format=lzma`), a fifth smaller than by the gzip that browsers unpack themselves: its window is larger than 32 KiB. After the public specification of the format.

/** The bytes whose bits, thirteen at a time, are two letters to the base 91. The letters are those of ASCII but `"`, `&` and `<`. @param {string} text @returns {Uint8Array<ArrayBuffer>} */
function bytesOf(text) {
  const letters = text.trim();
  const values = new Uint8Array(128);
  let value = 0;
  for (let letter = 33; letter < 127; letter += 1) if (letter !== 34 && letter !== 38 && letter !== 60) values[letter] = value++;
  const bytes = new Uint8Array(Math.floor((letters.length * 13) / 16));
  let [count, bits, end] = [0, 0, 0];
  for (let at = 0; at < letters.length; at += 2) {
    bits = ((bits & 0xff) << 13) | (values[letters.charCodeAt(at)] * 91 + values[letters.charCodeAt(at + 1)]);
    for (count += 13; count >= 8; ) bytes[end++] = bits >> (count -= 8);
  }
  return bytes;
}

/**
 * @param {Uint8Array} data a whole .lzma file with an end marker; what follows it is not read
 * @returns {Uint8Array<ArrayBuffer>}
 */
function unpack(data) {
  const properties = data[0];
  const literalContext = properties % 9;
  const literalPosition = Math.floor(properties / 9) % 5;
  const positionMask = (1 << Math.floor(properties / 45)) - 1;
  let out = new Uint8Array(1 << 20);
  let length = 0;
  // The range coder.
  let at = 18;
  let range = 0xffffffff;
  let code = new DataView(data.buffer, data.byteOffset).getUint32(14);
  const fresh = (/** @type {number} */ count) => new Uint16Array(count).fill(1024);
  const normalize = () => {
    if (range < 0x1000000) {
      range = (range << 8) >>> 0;
      code = ((code << 8) | data[at++]) >>> 0;
    }
  };
  const bit = (/** @type {Uint16Array} */ chances, /** @type {number} */ index) => {
    normalize();
    const chance = chances[index];
    const bound = (range >>> 11) * chance;
    if (code < bound) {
      range = bound;
      chances[index] = chance + ((2048 - chance) >> 5);
      return 0;
    }
    range = (range - bound) >>> 0;
    code = (code - bound) >>> 0;
    chances[index] = chance - (chance >> 5);
    return 1;
  };
  const direct = (/** @type {number} */ count) => {
    let found = 0;
    while (count--) {
      normalize();
      range >>>= 1;
      const one = code >= range ? 1 : 0;
      if (one) code = (code - range) >>> 0;
      found = found * 2 + one;
    }
    return found;
  };
  const tree = (/** @type {Uint16Array} */ chances, /** @type {number} */ bits, offset = 0) => {
    let node = 1;
    for (let i = 0; i < bits; i++) node = node * 2 + bit(chances, offset + node);
    return node - (1 << bits);
  };
  const reversed = (/** @type {Uint16Array} */ chances, /** @type {number} */ bits, offset = 0) => {
    let node = 1;
    let found = 0;
    for (let i = 0; i < bits; i++) {
      const one = bit(chances, offset + node);
      node = node * 2 + one;
      found |= one << i;
    }
    return found;
  };
  // The model.
  const literals = fresh(0x300 << (literalContext + literalPosition));
  const [isMatch, isRepeat, isFirst, isSecond, isThird, isLong] = [192, 12, 12, 12, 12, 192].map(fresh);
  const [slots, specials, aligned] = [256, 128, 16].map(fresh);
  const lengths = () => ({ choice: fresh(2), low: fresh(128), middle: fresh(128), high: fresh(256) });
  const [matchLengths, repeatLengths] = [lengths(), lengths()];
  const lengthOf = (/** @type {ReturnType<typeof lengths>} */ model, /** @type {number} */ position) => {
    if (!bit(model.choice, 0)) return 2 + tree(model.low, 3, position * 8);
    if (!bit(model.choice, 1)) return 10 + tree(model.middle, 3, position * 8);
    return 18 + tree(model.high, 8);
  };
  let state = 0;
  let [distance, second, third, fourth] = [0, 0, 0, 0];
  for (;;) {
    if (length + 300 > out.length) {
      const larger = new Uint8Array(out.length * 2);
      larger.set(out);
      out = larger;
    }
    const position = length & positionMask;
    if (!bit(isMatch, state * 16 + position)) {
      const before = length ? out[length - 1] : 0;
      const base = 0x300 * (((length & ((1 << literalPosition) - 1)) << literalContext) + (before >> (8 - literalContext)));
      let symbol = 1;
      if (state >= 7) {
        let match = out[length - distance - 1];
        while (symbol < 0x100) {
          const expected = match >> 7 & 1;
          match <<= 1;
          const one = bit(literals, base + ((1 + expected) << 8) + symbol);
          symbol = symbol * 2 + one;
          if (one !== expected) break;
        }
      }
      while (symbol < 0x100) symbol = symbol * 2 + bit(literals, base + symbol);
      out[length++] = symbol;
      state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
      continue;
    }
    let count;
    if (bit(isRepeat, state)) {
      if (!bit(isFirst, state)) {
        if (!bit(isLong, state * 16 + position)) {
          state = state < 7 ? 9 : 11;
          out[length] = out[length - distance - 1];
          length++;
          continue;
        }
      } else if (!bit(isSecond, state)) [distance, second] = [second, distance];
      else if (!bit(isThird, state)) [distance, second, third] = [third, distance, second];
      else [distance, second, third, fourth] = [fourth, distance, second, third];
      count = lengthOf(repeatLengths, position);
      state = state < 7 ? 8 : 11;
    } else {
      [second, third, fourth] = [distance, second, third];
      count = lengthOf(matchLengths, position);
      state = state < 7 ? 7 : 10;
      const slot = tree(slots, 6, Math.min(count - 2, 3) * 64);
      distance = slot;
      if (slot >= 4) {
        const bits = (slot >> 1) - 1;
        distance = (2 | (slot & 1)) * 2 ** bits;
        if (slot < 14) distance += reversed(specials, bits, distance - slot);
        else distance += direct(bits - 4) * 16 + reversed(aligned, 4);
      }
      if (distance === 0xffffffff) return out.slice(0, length);
    }
    while (count--) {
      out[length] = out[length - distance - 1];
      length++;
    }
  }
}
