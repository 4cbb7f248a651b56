/** One open stream, which writes frames and disconnects a reader that is too slow. */
import type { ServerResponse } from 'node:http';
import { type GatewayEvent, isExcluded, type MessageFilter, messageFilters, type Result, streamTypes } from '#actors/gateway.ts';
import { commaList } from '../body.ts';
import type { StreamLimits, StreamMeter } from '../options.ts';
import { done, refuse } from '../route.ts';

// Reads the query of a subscriber, and makes a filter from it.

const known: ReadonlySet<string> = new Set(streamTypes);

export interface Subscription {
  readonly types: ReadonlySet<string>;
  readonly filters: readonly MessageFilter[];
  /** Message types in lower case. */
  readonly kinds: ReadonlySet<string>;
}

type Names = string | readonly string[] | undefined;

/** Reads a list. Comma-separated and repeated parameters have the same effect. */
const namesOf = (value: Names = []): readonly string[] => [value].flat().flatMap(commaList);

const isFilter = (name: string): name is MessageFilter => (messageFilters as readonly string[]).includes(name);

export const subscriptionOf = (events: Names, excludeMessages: Names): Result<Subscription> => {
  const types = namesOf(events);
  if (types.length === 0) return refuse('invalid', 'events is required');
  const unknown = types.find((name) => !known.has(name));
  if (unknown !== undefined) return refuse('invalid', `events must be some of ${streamTypes.join(', ')}; ${unknown.slice(0, 64)} is not`);
  const excluded = namesOf(excludeMessages);
  const kinds = excluded.filter((name) => !isFilter(name)).map((name) => name.toLowerCase());
  return done({ types: new Set(types), filters: excluded.filter(isFilter), kinds: new Set(kinds) });
};

/** The three fields with names of a message type: `poll` (type), `image` (media type) and `PollCreationMessageV3` (message type). */
const kindNames = ['type', 'mediaType', 'messageType'] as const;

const isExcludedKind = (kinds: Subscription['kinds'], { messageType, payload }: GatewayEvent): boolean => {
  const message = (payload['message'] ?? {}) as Readonly<Record<string, unknown>>;
  return kinds.has(messageType.toLowerCase()) || kindNames.some((name) => kinds.has(String(message[name] ?? '').toLowerCase()));
};

export const wants = ({ types, filters, kinds }: Subscription, event: GatewayEvent): boolean => {
  if (!types.has(event.type)) return false;
  if (event.type !== 'messages') return true;
  if (isExcluded(filters, event.message)) return false;
  return kinds.size === 0 || !isExcludedKind(kinds, event);
};

const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache',
  // Proxies that buffer answers would delay events.
  'x-accel-buffering': 'no',
};

/** Headers for other origins. The token is in the address and cookies are ignored, so any page that knows the token may listen. */
const forAnyPage = { 'access-control-allow-origin': '*' };

/** Calls `act` when the response is closed, or at once if it is closed already. A client may disconnect while its token is checked. */
export const onceClosed = (response: ServerResponse, act: () => void): void => {
  if (response.closed) act();
  else response.once('close', act);
};

export class Sink {
  readonly #response: ServerResponse;
  readonly #limits: StreamLimits;
  readonly #meter: StreamMeter | undefined;
  #behind = 0;
  #judging = false;

  constructor(response: ServerResponse, limits: StreamLimits, meter?: StreamMeter, more: Readonly<Record<string, string>> = {}) {
    this.#response = response;
    this.#limits = limits;
    this.#meter = meter;
    meter?.stream('opened');
    onceClosed(response, () => meter?.stream('closed'));
    // Clients wait for the headers before any action that causes events.
    response.writeHead(200, { ...headers, ...more }).flushHeaders();
  }

  /** Writes a frame. A reader that is too far behind is disconnected instead. */
  push(frame: Buffer): void {
    if (this.#isGone) return;
    this.#behind += 1;
    this.#response.write(frame, this.#written);
    if (this.#judging || !this.#isLost) return;
    // A burst needs some time to pass through the socket of an active client. Only bytes that still wait after `graceMs` count.
    this.#judging = true;
    setTimeout(() => this.#judge(), this.#limits.graceMs).unref();
  }

  /** Writes a comment, unless other bytes already keep the connection alive. */
  ping(frame: Buffer): void {
    if (this.#behind === 0 && !this.#isGone) this.#response.write(frame);
  }

  /** Ends the stream. Cuts the connection if the reader does not read the remaining frames in time. */
  end(): void {
    this.#response.end();
    const force = setTimeout(() => this.#response.destroy(), this.#limits.endMs).unref();
    this.#response.once('close', () => clearTimeout(force));
  }

  readonly #written = (): void => void (this.#behind -= 1);

  get #isGone(): boolean {
    return this.#response.destroyed || this.#response.writableEnded;
  }

  get #isLost(): boolean {
    return this.#behind > this.#limits.backlogEvents || this.#response.writableLength > this.#limits.backlogBytes;
  }

  #judge(): void {
    this.#judging = false;
    if (this.#isGone || !this.#isLost) return;
    this.#meter?.stream('cut');
    this.#response.destroy();
  }
}

export class Subscriber extends Sink {
  readonly subscription: Subscription;

  constructor(response: ServerResponse, subscription: Subscription, limits: StreamLimits, meter?: StreamMeter) {
    super(response, limits, meter, forAnyPage);
    this.subscription = subscription;
  }
}

// The frame of an event, as bytes. A frame is made once and shared by all subscribers.

/** Returns the data of an event. A new message has its own fields, and its chat as a further field. The data of other types is their payload. */
const dataOf = ({ type, payload }: GatewayEvent): unknown => {
  const message = payload['message'];
  if (type !== 'messages' || typeof message !== 'object' || message === null) return payload;
  return { ...message, chat: payload['chat'] };
};

export const frameOf = (event: GatewayEvent): Buffer =>
  Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify({ type: event.type, data: dataOf(event) })}\nid: ${event.id}\n\n`);

/** Makes the frame of an event. If `id` is '', the frame has no id. */
export const plainFrame = (event: string, data: unknown, id = ''): Buffer =>
  Buffer.from(`event: ${event}\ndata: ${JSON.stringify(data)}\n${id === '' ? '' : `id: ${id}\n`}\n`);

/** Makes a comment, which clients ignore. */
export const commentFrame = (text: string): Buffer => Buffer.from(`: ${text}\n\n`);
