/** Settings of what all sends have in common. */
import { age } from './kinds.ts';
import { group } from './setting.ts';

const sends = group('Sends');

export const sendSettings = {
  idempotencyKeyMs: sends(
    age(60_000),
    86_400_000,
    'How long an `Idempotency-Key` counts: within this time the same key gives the first answer and sends nothing. A day, as integrators know it from other services; a key costs the database 2 KB.',
  ),
} as const;
