// Reads JSON and keeps what JSON.parse() would lose: numbers as they were written (ids beyond 2^53),
// members that occur twice, their order.

const DEEPEST = 200;

/**
 * {kind: 'object', entries: [[name, node]…]}, {kind: 'array', items: [node…]}, {kind: 'string', text},
 * {kind: 'number' | 'literal', text}. Throws SyntaxError with `at`, the place: this is no JSON, or nested too deeply.
 */
export function parseJsonSource(source) {
  const reader = new Reader(source);
  const node = reader.value(0);
  reader.space();
  if (reader.at !== source.length) reader.fail();
  return node;
}

const SPACE = /[ \t\r\n]*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const LITERAL = /true|false|null/y;

class Reader {
  constructor(source) {
    this.source = source;
    this.at = 0;
  }

  fail() {
    throw Object.assign(new SyntaxError(`no JSON at ${this.at}`), { at: this.at });
  }

  take(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.source);
    if (!found) return null;
    this.at = pattern.lastIndex;
    return found[0];
  }

  space() {
    this.take(SPACE);
  }

  skip(character) {
    this.space();
    if (this.source[this.at] !== character) return false;
    this.at += 1;
    return true;
  }

  string() {
    this.space();
    const token = this.take(STRING);
    if (token === null) this.fail();
    return JSON.parse(token);
  }

  value(depth) {
    if (depth > DEEPEST) this.fail();
    if (this.skip('{')) return this.object(depth);
    if (this.skip('[')) return this.array(depth);
    if (this.source[this.at] === '"') return { kind: 'string', text: this.string() };
    const literal = this.take(LITERAL);
    if (literal) return { kind: 'literal', text: literal };
    const number = this.take(NUMBER);
    if (!number) this.fail();
    return { kind: 'number', text: number };
  }

  object(depth) {
    const entries = [];
    if (this.skip('}')) return { kind: 'object', entries };
    do {
      const name = this.string();
      if (!this.skip(':')) this.fail();
      entries.push([name, this.value(depth + 1)]);
    } while (this.skip(','));
    if (!this.skip('}')) this.fail();
    return { kind: 'object', entries };
  }

  array(depth) {
    const items = [];
    if (this.skip(']')) return { kind: 'array', items };
    do items.push(this.value(depth + 1));
    while (this.skip(','));
    if (!this.skip(']')) this.fail();
    return { kind: 'array', items };
  }
}

/** The document again, with two spaces for each level. */
export function indentJson(node, indent = '') {
  const deeper = `${indent}  `;
  if (node.kind === 'string') return JSON.stringify(node.text);
  if (node.kind === 'object' && node.entries.length) {
    const members = node.entries.map(([name, value]) => `${deeper}${JSON.stringify(name)}: ${indentJson(value, deeper)}`);
    return `{\n${members.join(',\n')}\n${indent}}`;
  }
  if (node.kind === 'array' && node.items.length) {
    return `[\n${node.items.map((item) => deeper + indentJson(item, deeper)).join(',\n')}\n${indent}]`;
  }
  return { object: '{}', array: '[]' }[node.kind] ?? node.text;
}
