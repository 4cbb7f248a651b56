/** Tests the time of the platform in stanzas. Live timestamps count, and those of stanzas that waited for the session do not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PlatformClock } from '#src/platform/link/platform-clock.ts';

type Heard = readonly [kind: 'loggedIn' | 'passed', at: number, attrs: Readonly<Record<string, string>>];

/** Stanzas with the monotonic second of their arrival, and the known time of the platform at second 100. In seconds. */
const rows: readonly (readonly [title: string, stanzas: readonly Heard[], expected: number | null])[] = [
  ['before the first stanza nothing is known', [], null],
  ['a login names the time', [['loggedIn', 40, { t: '1000' }]], 1060],
  ['a live message as well', [['passed', 90, { t: '1000' }]], 1010],
  ['a message that waited for the session does not', [['passed', 90, { t: '1000', offline: '3' }]], null],
  [
    'a stanza that was stamped long ago sets the time not back',
    [
      ['loggedIn', 40, { t: '1000' }],
      ['passed', 90, { t: '700' }],
    ],
    1060,
  ],
  [
    'one of a later time sets it forward: the machine slept',
    [
      ['loggedIn', 40, { t: '1000' }],
      ['passed', 90, { t: '9000' }],
    ],
    9010,
  ],
  [
    'the next login is right, whatever was heard before',
    [
      ['passed', 40, { t: '9000' }],
      ['loggedIn', 90, { t: '1000' }],
    ],
    1010,
  ],
  [
    'what is no time is ignored',
    [
      ['loggedIn', 40, {}],
      ['loggedIn', 40, { t: 'soon' }],
      ['passed', 40, { t: '0' }],
      ['passed', 40, { t: '-5' }],
      ['passed', 40, { t: '1e400' }],
    ],
    null,
  ],
];

for (const [title, stanzas, expected] of rows)
  test(`platform clock: ${title}`, () => {
    const monotonic = { now: 0 };
    const clock = new PlatformClock(() => monotonic.now);
    for (const [kind, at, attrs] of stanzas) {
      monotonic.now = at * 1_000;
      clock[kind]({ attrs });
    }
    const { heard } = clock;
    assert.equal(heard && (heard.at + 100_000 - heard.heardAt) / 1_000, expected);
  });
