/** Tests that the map keeps the entries that were used last, and at most twice the limit. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { LruMap } from '#src/base/lru-map.ts';

const limit = 4;
const uses = fc.array(fc.record({ key: fc.constantFrom(...'abcdefghijklmnop'), how: fc.constantFrom('get', 'set', 'delete') }), {
  maxLength: 80,
});

test('recent: the last used entries are kept with their newest values, and older ones are dropped', () => {
  fc.assert(
    fc.property(uses, (steps) => {
      const recent = new LruMap<number>(limit);
      /** The expected keys in the order of use, with their values. */
      let model: [string, number][] = [];
      steps.forEach(({ key, how }, n) => {
        const known = model.find(([name]) => name === key);
        const others = model.filter(([name]) => name !== key);
        if (how === 'get') {
          const value = recent.get(key);
          if (known && model.indexOf(known) >= model.length - limit) assert.equal(value, known[1]);
          if (value !== undefined) {
            assert.equal(value, known?.[1], 'an old value came back');
            model = [...others, [key, value]];
          }
        }
        if (how === 'set') recent.set(key, n);
        if (how === 'set') model = [...others, [key, n]];
        if (how === 'delete') recent.delete(key);
        if (how === 'delete') model = others;
      });
      const left = model.filter(([key]) => recent.get(key) !== undefined);
      assert.ok(left.length <= 2 * limit + 1, `${left.length} are kept`);
    }),
  );
});

const weights = fc.array(
  fc.record({
    key: fc.constantFrom(...'abcdefgh'),
    how: fc.constantFrom('get', 'set', 'weigh', 'delete'),
    bytes: fc.integer({ min: 0, max: 60 }),
  }),
  { maxLength: 80 },
);

test('recent: the total size stays within twice the limit of bytes, and the last used entries within the limit are kept', () => {
  fc.assert(
    fc.property(weights, (steps) => {
      const maxBytes = 100;
      const recent = new LruMap<number>(100, maxBytes);
      /** The expected entries in the order of use, with their sizes. */
      let model: { readonly key: string; readonly bytes: number }[] = [];
      let largest = 0;
      steps.forEach(({ key, how, bytes }, n) => {
        const known = model.find((one) => one.key === key);
        const others = model.filter((one) => one.key !== key);
        if (how === 'get' && recent.get(key) !== undefined && known) model = [...others, known];
        if (how === 'set') recent.set(key, n, bytes);
        if (how === 'set') model = [...others, { key, bytes }];
        if (how === 'weigh') recent.weigh(key, bytes);
        if (how === 'weigh' && known) model = model.map((one) => (one === known ? { key, bytes } : one));
        if (how === 'delete') recent.delete(key);
        if (how === 'delete') model = others;
        largest = Math.max(largest, bytes);
      });
      const last = model.at(-1);
      if (last && last.bytes <= maxBytes) assert.notEqual(recent.get(last.key), undefined, 'what was used last is gone');
      const kept = model.filter(({ key }) => recent.get(key) !== undefined).reduce((sum, { bytes }) => sum + bytes, 0);
      assert.ok(kept <= 2 * maxBytes + 2 * largest, `${kept} bytes are kept`);
    }),
  );
});

test('recent: an entry keeps its size when it is used or set again, and a large one displaces the others', () => {
  const recent = new LruMap<string>(100, 100);
  recent.set('a', 'one', 80);
  recent.set('a', 'two');
  recent.set('b', 'one', 30);
  assert.deepEqual([recent.get('a'), recent.get('b')], ['two', 'one'], 'the old generation has both');
  recent.set('c', 'one', 90);
  recent.set('d', 'one', 90);
  recent.set('e', 'one', 20);
  assert.deepEqual([recent.get('a'), recent.get('d'), recent.get('e')], [undefined, 'one', 'one']);
  recent.weigh('e', 500);
  recent.set('f', 'one', 101);
  assert.deepEqual([recent.get('d'), recent.get('f')], [undefined, 'one']);
});
