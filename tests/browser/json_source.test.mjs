// The reader of JSON documents: the same as JSON.parse(), but for what that loses.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { webModule } from './web_module.mjs';

const { indentJson, parseJsonSource } = await webModule('json_source.js');

test('what is JSON is read, what is not is refused', () => {
  const good = ['{}', '[]', ' [1, 2.50, -0, 1e9] ', '{"a":{"b":[null,true,false,"x\\n\\u0041"]},"":0}', '"\\ud800"', '0'];
  for (const text of good) assert.deepEqual(JSON.parse(indentJson(parseJsonSource(text))), JSON.parse(text), text);
  const bad = ['', '{', '[1,]', '{"a":1,}', '{a:1}', "'a'", '01', '1.', '"\n"', '[1] 2', 'nul', '{"a" 1}', '\u00a0[]', '+1'];
  for (const text of bad) {
    assert.throws(() => JSON.parse(text), text);
    assert.throws(() => parseJsonSource(text), SyntaxError, text);
  }
});

test('digits, order and double members are kept', () => {
  const text = '{"b":12345678901234567890,"a":1.10,"b":1E400}';
  assert.equal(indentJson(parseJsonSource(text)).replace(/\s/g, ''), text);
});

test('depth has a limit, and length none that hurts', () => {
  assert.throws(() => parseJsonSource('['.repeat(100_000)), SyntaxError);
  assert.throws(() => parseJsonSource('['.repeat(300) + ']'.repeat(300)), SyntaxError);
  const long = `[${'"x",'.repeat(500_000)}"${'y'.repeat(2_000_000)}"]`;
  const began = performance.now();
  assert.equal(parseJsonSource(long).items.length, 500_001);
  assert.ok(performance.now() - began < 10_000);
});
