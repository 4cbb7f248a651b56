/** Tests the rests of campaigns, and the texts that count as an opt-out. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asksToStop, quietFor, timeLeft, type QuietHours } from '#actors/policy/campaign-policy.ts';

const night: QuietHours = { from: 21 * 60, to: 8 * 60 };
const noon: QuietHours = { from: 12 * 60, to: 13 * 60 };
const minute = 60_000;

const moments: readonly (readonly [at: string, quiet: QuietHours | null, timeZone: string, minutes: number])[] = [
  ['2026-08-19T12:30:00Z', null, 'UTC', 0],
  // The clocks change to summer time, to winter time, and across the end of the quiet hours.
  ['2026-03-08T04:00:00Z', night, 'America/New_York', 8 * 60],
  ['2026-11-01T03:00:00Z', night, 'America/New_York', 10 * 60],
  ['2026-10-03T14:00:00Z', night, 'Australia/Lord_Howe', 7 * 60],
  ['2026-03-28T22:00:00Z', { from: 21 * 60, to: 2 * 60 + 30 }, 'Europe/Berlin', 3 * 60 + 30],
  ['2026-08-19T20:59:59.999Z', night, 'UTC', 0],
  ['2026-08-19T21:00:00Z', night, 'UTC', 11 * 60],
  ['2026-08-19T00:00:00Z', night, 'UTC', 8 * 60],
  ['2026-08-19T07:59:00Z', night, 'UTC', 1],
  ['2026-08-19T08:00:00Z', night, 'UTC', 0],
  ['2026-08-19T12:15:30Z', noon, 'UTC', 44.5],
  // A zone three hours behind UTC, and one with an offset of half an hour.
  ['2026-08-19T00:00:00Z', night, 'America/Sao_Paulo', 11 * 60],
  ['2026-08-19T07:00:00Z', noon, 'Asia/Kolkata', 30],
];

for (const [at, quiet, timeZone, minutes] of moments)
  test(`quietFor: at ${at} in ${timeZone} campaigns rest for ${minutes} minutes of ${quiet ? `${quiet.from} to ${quiet.to}` : 'nothing'}`, () =>
    assert.equal(quietFor({ quiet, timeZone }, Date.parse(at)), minutes * minute));

const texts: readonly (readonly [text: string, stops: boolean])[] = [
  ['STOP', true],
  [' stop. ', true],
  ['No more!', true],
  ['please stop', false],
  ['stop it', false],
  ['', false],
];

for (const [text, stops] of texts)
  test(`asksToStop: "${text}" ${stops ? 'is' : 'is not'} the wish to get no campaigns`, () =>
    assert.equal(asksToStop({ stopWords: ['stop', 'no more'] }, text), stops));

const slow = { waiting: 11, delayMin: 10_000, delayMax: 20_000 };
const estimates: readonly (readonly [
  title: string,
  policy: object,
  campaign: object,
  others: readonly (typeof slow)[],
  minutes: number,
])[] = [
  ['the pauses between its messages', {}, {}, [], 2.5],
  ['nothing when nobody waits', {}, { waiting: 0 }, [slow], 0],
  ['the turns of another campaign, at the shorter pause', {}, {}, [{ waiting: 50, delayMin: 5_000, delayMax: 5_000 }], 21 / 12],
  ['a day for each further daily cap', { dailyCap: 5 }, {}, [], 2 * 24 * 60],
  ['the quiet hours that begin before its end', { quiet: night }, { waiting: 61, delayMin: 120_000, delayMax: 120_000 }, [], 13 * 60],
  ['whole days and their quiet hours', { quiet: night }, { waiting: 27, delayMin: 3_600_000, delayMax: 3_600_000 }, [], 48 * 60],
];

for (const [title, policy, campaign, others, minutes] of estimates)
  test(`timeLeft: the estimate counts ${title}`, () => {
    const now = Date.parse('2026-08-19T20:00:00Z');
    const whole = { quiet: null, timeZone: 'UTC', dailyCap: 0, ...policy };
    assert.equal(timeLeft(whole, { ...slow, ...campaign }, others, { start: now, now }), minutes * minute);
  });
