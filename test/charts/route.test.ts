/** Tests the arrow of the last transition on the shipped charts. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { charts } from '#actors/session/charts.ts';
import { curveBetween } from '#src/web/page/chart/curves.js';
import { topOf } from '#src/web/page/chart/tones.js';
import type { Box, Layout } from '#src/web/page/chart/words.js';
import { fileOf } from './files.ts';
import { variantsOf } from './layout.ts';

/** Returns the area of a name in the upper left corner of a parent. Seven pixels are more than the width of a letter. */
const titleOf = ({ id, x, y }: Box & { readonly id: string }): Box => ({ x: x + 10, y: y + 8, width: id.length * 7 + 8, height: 18 });

const holds = (box: Box, { x, y }: { readonly x: number; readonly y: number }): boolean =>
  x > box.x && x < box.x + box.width && y > box.y && y < box.y + box.height;

for (const whole of Object.values(charts))
  for (const { name, drawn: machine } of variantsOf(whole))
    test(`${whole.id}, ${name}: the arrow of the last transition crosses no other state, no label and no other parent`, () => {
      const layout = JSON.parse(readFileSync(fileOf(whole.id, name), 'utf8')) as Layout;
      const inhabited = new Set(machine.states.map(({ parent }) => parent));
      const parents = layout.parents.filter(({ id }) => inhabited.has(id));
      const leaves = [...layout.states, ...layout.parents.filter(({ id }) => !inhabited.has(id))];
      const words = [...parents.map(titleOf), ...layout.arrows.flatMap(({ label }) => label ?? [])];
      for (const { from: source, leaf } of machine.transitions)
        for (const from of leaves.filter(({ id }) => id === source || id.startsWith(`${source}.`))) {
          const to = leaves.find(({ id }) => id === leaf);
          // The layout already keeps its own arrows free.
          if (!to || to === from || layout.arrows.some((arrow) => !arrow.quiet && arrow.from === from.id && arrow.to === leaf)) continue;
          const rooms = parents.filter(({ id }) => id !== topOf(from.id) && id !== topOf(to.id));
          const curve = curveBetween(from, to, leaves, words, rooms);
          const others = [...leaves.filter((one) => one !== from && one !== to), ...words, ...rooms];
          for (let n = 1; n < 100; n += 1) {
            const crossed = others.find((box) => holds(box, curve.at(n / 100)));
            assert.equal(crossed, undefined, `${from.id} → ${leaf}`);
          }
        }
    });
