/** What was used last is remembered, and no more than twice the limit. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { createLruMap } from '#src/lru-map.ts';

const limit = 4;
const uses = fc.array(fc.record({ key: fc.constantFrom(...'abcdefghijklmnop'), how: fc.constantFrom('get', 'set', 'delete') }), {
  maxLength: 80,
});

test('recent: whatever is used, the entries used last are there with their newest values, and the rest goes', () => {
  fc.assert(
    fc.property(uses, (steps) => {
      const recent = createLruMap<number>(limit);
      /** Keys in the order of use, with their values. */
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
