/** Settings of pairing and of requests. */
import { integer, milliseconds } from './kinds.ts';
import { group } from './setting.ts';

const pairing = group('Pairing and requests');

export const pairingSettings = {
  pairingQrMs: pairing(milliseconds(1_000), 120_000, 'Time in which a QR code can be scanned. Clients of this interface expect 2 minutes.'),
  pairingCodeMs: pairing(
    milliseconds(1_000),
    300_000,
    'Time in which a session can be paired by code. 5 minutes, since typing takes longer than scanning. One code lives 3 minutes on the platform; then another one is shown.',
  ),
  connectAnswerMs: pairing(
    milliseconds(0, 60_000),
    5_000,
    'How long `POST /instance/connect` waits for the first QR or code before it answers without. Clients wait 15 s and poll afterwards anyway.',
  ),
  sendTimeoutMs: pairing(
    milliseconds(100),
    15_000,
    'How long a send waits for the platform to acknowledge it. Clients give up after 15 s, so that a longer wait would answer nobody.',
  ),
  asyncQueueItems: pairing(
    integer(1, 1_000_000),
    10_000,
    'Messages of one instance that may wait in the asynchronous queue (`async: true`); more are refused with 429. 10,000 go out in under an hour at the pace of a careful account, and wait in the database, not in memory.',
  ),
  asyncQueueAgeMs: pairing(
    milliseconds(1_000),
    86_400_000,
    'How long a message may wait in the asynchronous queue before it becomes `Failed`. A day: a reminder that is sent later than that embarrasses its sender.',
  ),
  typingAtOnce: pairing(
    integer(1, 10_000),
    100,
    'Chats of one instance in which typing or recording is kept up at once (`POST /message/presence` with `delay`); one more is refused with 429. Each costs a frame every 10 s: 100 are ten a second, far more than anybody writes.',
  ),
  statusRecipients: pairing(
    integer(1, 5_000),
    500,
    "Recipients of one status post at most; the rest is left out, and the answer says so (`partial_send`). Each device of each recipient costs an encryption, and the platform's own clients send at most 500 at once.",
  ),
  wakeTimeoutMs: pairing(
    milliseconds(100),
    15_000,
    'How long a request waits for a session that wakes, or that connects in the first minute after a restart or on another node. The same 15 s: the client is gone after that.',
  ),
  unlinkTimeoutMs: pairing(
    milliseconds(100),
    8_000,
    'How long a disconnect or delete of an instance that is not connected tries to log in to unlink its device. A login takes 1 to 3 s; 8 s leave of the 15 s of a client what closing and deleting may take.',
  ),
} as const;
