/**
 * Seats for the event streams of one browser. Over HTTP/1.1 a browser opens at most six connections to a server for all its windows. Streams on all six would
 * block every call. Windows tell each other over a `BroadcastChannel` which of them want a stream, and the windows that were used last get a seat. A window
 * without a seat loads its content at intervals. HTTP/2 carries any number of streams over one connection, so each window has a seat.
 */
import { signal } from '@preact/signals';

/** The number of seats of all windows together. Three connections stay free for calls, pictures and files. */
const most = 3;
/** The time in which other windows answer a new window, in milliseconds. */
const settleMs = 80;
const repeatMs = 2_000;
/** A window that is silent for this time counts as closed. In milliseconds. */
const deadMs = 7_000;

/** @typedef {{ readonly id: string, readonly usedAt: number }} Wish The wish of a window for a stream. `usedAt`: the time of the last use of the window, in Unix milliseconds. */
/** @typedef {{ readonly wish: Wish } | { readonly gone: string } | { readonly hello: true }} Message */
/** @typedef {{ isSettled: boolean, has: boolean | null, readonly onChange: (has: boolean) => void }} Seat */

/** True while this window waits for a seat. */
export const isPaused = signal(false);

/** @type {Map<string, Wish & { heardAt: number }>} */
const others = new Map();
/** @type {Map<string, Seat>} */
const own = new Map();
let usedAt = Date.now();
let made = 0;
const page = crypto.getRandomValues(new Uint32Array(4)).join('-');
const channel = new BroadcastChannel('dormouse-streams');

/** @param {Message} message */
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- A channel reaches its own origin only.
const tell = (message) => channel.postMessage(message);

/** Decides which wishes get a seat. Every window comes to the same result, because all windows know the same wishes. */
const decide = () => {
  for (const [id, { heardAt }] of others) if (Date.now() - heardAt > deadMs) others.delete(id);
  const wishes = [...others.values(), ...[...own.keys()].map((id) => ({ id, usedAt }))];
  const seated = wishes.toSorted((a, b) => b.usedAt - a.usedAt || (a.id < b.id ? -1 : 1)).slice(0, most);
  for (const [id, seat] of own) {
    const has = seated.some((wish) => wish.id === id);
    if (!seat.isSettled || seat.has === has) continue;
    seat.has = has;
    seat.onChange(has);
  }
  isPaused.value = [...own.values()].some(({ has }) => has === false);
};

const announce = () => {
  for (const id of own.keys()) tell({ wish: { id, usedAt } });
};

channel.addEventListener('message', ({ data }) => {
  const message = /** @type {Message} */ (data);
  if ('hello' in message) announce();
  else if ('gone' in message) others.delete(message.gone);
  else others.set(message.wish.id, { ...message.wish, heardAt: Date.now() });
  decide();
});

const use = () => {
  usedAt = Date.now();
  announce();
  decide();
};
addEventListener('focus', use);
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) use();
});

// Some browsers close a window without hiding it first. A window that the browser restores announces itself again.
addEventListener('pagehide', () => {
  for (const id of own.keys()) tell({ gone: id });
});

/** @type {ReturnType<typeof setInterval> | undefined} */
let repeating;

/** Returns true if all calls and streams of this page share one connection. */
const isMultiplexed = () => {
  const [navigation] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType('navigation'));
  return ['h2', 'h3'].includes(navigation?.nextHopProtocol ?? '');
};

/** Asks for a seat. Returns a function that releases the seat. @param {(has: boolean) => void} onChange Called first within a tenth of a second. */
const takeSeat = (onChange) => {
  if (isMultiplexed()) {
    onChange(true);
    return () => undefined;
  }
  const id = `${page}-${(made += 1)}`;
  /** @type {Seat} */
  const seat = { isSettled: false, has: null, onChange };
  own.set(id, seat);
  tell({ hello: true });
  announce();
  const settling = setTimeout(() => {
    seat.isSettled = true;
    decide();
  }, settleMs);
  repeating ??= setInterval(() => {
    announce();
    decide();
  }, repeatMs);
  return () => {
    clearTimeout(settling);
    own.delete(id);
    tell({ gone: id });
    decide();
    if (own.size > 0) return;
    clearInterval(repeating);
    repeating = undefined;
  };
};

/** `waiting`: other windows have the seats. @typedef {'taken' | 'waiting' | 'hidden'} SeatState */

/**
 * Asks for a seat whenever the window is shown, and releases the seat when the window is hidden. Returns a function that ends this and releases the seat.
 * @param {(state: SeatState) => void} onChange
 */
export const keepSeat = (onChange) => {
  let leave = () => {};
  const renew = () => {
    leave();
    leave = () => {};
    if (document.hidden) onChange('hidden');
    else leave = takeSeat((has) => onChange(has ? 'taken' : 'waiting'));
  };
  document.addEventListener('visibilitychange', renew);
  renew();
  return () => {
    document.removeEventListener('visibilitychange', renew);
    leave();
  };
};
