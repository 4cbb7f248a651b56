/** Settings of what all sends have in common. */
import { age, integer, milliseconds } from './kinds.ts';
import { group } from './setting.ts';

const sends = group('Sends');

export const sendSettings = {
  idempotencyKeyMs: sends(
    age(60_000),
    86_400_000,
    'How long an `Idempotency-Key` counts at least: until its row is removed, some minutes later, the same key gives the first answer and sends nothing. A day, as integrators know it from other services; a key costs the database 2 KB.',
  ),
  lookupsAtOnce: sends(
    integer(1, 10_000),
    100,
    'Numbers that one session may look up at once. Only strangers are looked up, before the first message and by `POST /chat/check`; beyond this they are answered 429, and wait in the asynchronous queue. A hundred new contacts at once are a busy shop.',
  ),
  lookupEveryMs: sends(
    milliseconds(1),
    2_000,
    'Time until a session may look up one number more. The platform restricts accounts that look up numbers in bulk; one in 2 s is 1,800 new contacts an hour, more than an account survives to write to.',
  ),
  lookupKeepMs: sends(
    age(0),
    604_800_000,
    'How long a number that was found is not looked up again. A week, for those who never answered; who has got a message or written one is never looked up again.',
  ),
  lookupKeepAbsentMs: sends(
    age(0),
    21_600_000,
    'How long a number without an account is refused without looking it up again. 6 h: lists are often sent again on the same day, and somebody who joins is reached on that day too.',
  ),
} as const;
