/**
 * Guards around the socket of Baileys. They take events before the library's buffer, and share the event loop between the frames of all sessions. They
 * catch errors that would be unhandled, report refusals, and limit the time of a close.
 */
import { EventEmitter } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { BaileysEventMap, BinaryNode, WASocket } from '@whiskeysockets/baileys';
import type { Close } from '#actors/ports.ts';
import { LruMap } from '#src/base/lru-map.ts';
import { type BaileysEvent, keptFromBuffer } from '../events/from-baileys.ts';
import { closeOf, ownCloses } from '../wire/outcomes.ts';
import {
  type FairScheduler,
  type FrameSocket,
  gatherFrames,
  type Permission,
  type ScheduledSocket,
  scheduleFrames,
} from '../wire/frames.ts';
import { bare, isGroup } from '../wire/jid.ts';

// Played receipts in groups. The library reports them as read receipts.

/** The map keeps at least this many played receipts that the library has not reported yet, and at most twice as many. */
const most = 500;

type Updates = BaileysEventMap['message-receipt.update'];

const idsOf = ({ attrs, content }: BinaryNode): readonly (string | undefined)[] => {
  const list = Array.isArray(content) ? content.find(({ tag }) => tag === 'list')?.content : undefined;
  return [attrs['id'], ...(Array.isArray(list) ? list.map((item) => item.attrs['id']) : [])];
};

const playedKey = (id: string | null | undefined, member: string | null | undefined): string => `${id ?? ''} ${bare(member)}`;

/** The played receipts that arrived on the socket. */
class PlayedReceipts {
  readonly #played = new LruMap<true>(most);

  constructor(sock: WASocket) {
    sock.ws.on('CB:receipt,type:played', (node: BinaryNode) => {
      if (!isGroup(node.attrs['from'] ?? '')) return;
      for (const id of idsOf(node)) this.#played.set(playedKey(id, node.attrs['participant']), true);
    });
  }

  /** Marks the played receipts among those that the library reports. */
  mark(updates: Updates): Updates {
    return updates.map((update) => {
      const { key, receipt } = update;
      const name = playedKey(key.id, receipt.userJid);
      if (!receipt.readTimestamp || !this.#played.get(name)) return update;
      this.#played.delete(name);
      return { ...update, receipt: { ...receipt, playedTimestamp: receipt.readTimestamp } };
    });
  }
}

interface GuardHooks {
  /** Gets every event when it happens, before the library merges it with others. */
  event(event: BaileysEvent): void;
  /** Notes that a frame of the platform arrived. The frame may still wait for its turn. */
  frame(): void;
  /** Reports the end of the upgrade and of the Noise handshake. */
  handshaken(): void;
  /** Reports a failure after which the connection cannot continue. The library does not notice such a failure. */
  failed(close: Close): void;
  /** Reports that a listener of the library failed. The connection can continue. */
  stumbled(where: string, error: unknown): void;
}

/** The used part of the `ws` socket below the library's client. */
interface RawSocket extends FrameSocket, ScheduledSocket {
  terminate(): void;
  once(event: 'close', listener: () => void): unknown;
}

const rawSocket = (sock: WASocket): RawSocket | null => (sock.ws as unknown as { readonly socket: RawSocket | null }).socket;

/**
 * Makes a socket whose emitters catch the errors of asynchronous listeners. Otherwise a corrupt frame would be an unhandled rejection, which
 * ends the process. The option is global, but an emitter reads it only when it is made, and a socket is made synchronously.
 */
export const makeGuarded = (make: () => WASocket): WASocket => {
  const before = EventEmitter.captureRejections;
  EventEmitter.captureRejections = true;
  try {
    return make();
  } finally {
    EventEmitter.captureRejections = before;
  }
};

const catchRejections = (sock: WASocket, hooks: GuardHooks): void => {
  const caught = (error: unknown, where: string): void => {
    // The listener of `message` decrypts frames. After an error in this listener, the cipher is out of step.
    if (where === 'message')
      hooks.failed({ ...ownCloses.brokenFrame, message: `${ownCloses.brokenFrame.message}: ${closeOf(error).message}` });
    else hooks.stumbled(where, error);
  };
  Object.defineProperty(sock.ws, Symbol.for('nodejs.rejection'), {
    value: (error: unknown, event: unknown) => caught(error, String(event)),
  });
  sock.ev.on('error' as keyof BaileysEventMap, (error: unknown) => caught(error, 'event'));
};

/** Reports each pair of number and LID that the library has stored. Pairs come from messages, look-ups, the history and the shared state. */
const reportPeople = ({ signalRepository: { lidMapping } }: WASocket, hooks: GuardHooks): void => {
  const store = lidMapping.storeLIDPNMappings.bind(lidMapping);
  lidMapping.storeLIDPNMappings = async (pairs) => {
    await store(pairs);
    if (pairs.length > 0) hooks.event({ name: 'people.paired', data: pairs });
  };
};

/** Takes events before the library's buffer. The buffer delays events by up to 30 seconds, and merges changes into the changed messages. */
const tapEvents = (sock: WASocket, hooks: GuardHooks): void => {
  const emit = sock.ev.emit.bind(sock.ev);
  const played = new PlayedReceipts(sock);
  sock.ev.emit = (name, data) => {
    const handled = keptFromBuffer.has(name) || emit(name, data);
    // The cast is safe, because the type of `emit` pairs each name with its data.
    const event = { name, data } as unknown as BaileysEvent;
    hooks.event(event.name === 'message-receipt.update' ? { ...event, data: played.mark(event.data) } : event);
    return handled;
  };
};

/** Limits the time of a close, because `ws` waits up to 30 seconds for the close frame of the other side. */
const boundClose = (sock: WASocket, closeMs: number): void => {
  const close = sock.ws.close.bind(sock.ws);
  sock.ws.close = () => {
    const raw = rawSocket(sock);
    const timer = setTimeout(() => raw?.terminate(), closeMs);
    raw?.once('close', () => clearTimeout(timer));
    return close();
  };
};

/**
 * Ends waiting queries at the end of the connection. A query listens to `close`. The library removes these listeners without calling them, so its
 * queries would wait for a minute. This function calls the listeners.
 */
const releaseQueries = (sock: WASocket): void => {
  const { ws } = sock;
  const removeAll = ws.removeAllListeners.bind(ws);
  ws.removeAllListeners = (event) => {
    const waiting = event === 'close' ? ws.listeners('close') : [];
    removeAll(event);
    for (const tell of waiting) tell.call(ws);
    return ws;
  };
};

/**
 * Rejects queries that the platform does not answer in time. The library resolves them with `undefined`, which reads like an empty answer: no groups, no
 * refusal, the usual audience. The error has the code of a time-out, so that the outcome of an operation is `unknown`.
 */
export const rejectUnanswered = (sock: Pick<WASocket, 'query'>): void => {
  const query = sock.query.bind(sock);
  sock.query = async (node, timeoutMs) => {
    const answer: unknown = await query(node, timeoutMs);
    if (answer === undefined) throw Object.assign(new Error('the platform did not answer in time'), { output: { statusCode: 408 } });
    return answer;
  };
};

const watchHandshake = (sock: WASocket, hooks: GuardHooks): void => {
  const { ws } = sock;
  // The first frame is the platform's half of the handshake. If the library refuses this frame, it closes the socket before `setImmediate` runs.
  ws.once('frame', () => setImmediate(() => ws.isOpen && hooks.handshaken()));
  ws.on('unexpected-response', (request: ClientRequest, response: IncomingMessage) => {
    const code = response.statusCode ?? null;
    response.resume();
    request.destroy();
    hooks.failed({ code, message: `the upgrade was refused with HTTP ${code}`, data: { stage: 'upgrade' } });
  });
};

/** Ignores a `success` stanza before the session is paired. It is not a login then, but the library would treat it as one (tulir/whatsmeow 5f04eac6). */
const ignoreEarlySuccess = ({ ws, authState }: WASocket): void => {
  const event = 'CB:success';
  for (const listener of ws.listeners(event) as ((node: unknown) => unknown)[]) {
    ws.off(event, listener);
    // The emitter gets the promise, and catches its rejection.
    ws.on(event, (node: unknown) => (authState.creds.account === undefined ? undefined : listener(node)));
  }
};

export interface GuardOptions {
  readonly closeMs: number;
  /** The scheduler that the sockets of all sessions share. */
  readonly frames: FairScheduler;
  readonly permission: Permission;
}

export const guard = (sock: WASocket, hooks: GuardHooks, { closeMs, frames, permission }: GuardOptions): void => {
  catchRejections(sock, hooks);
  tapEvents(sock, hooks);
  reportPeople(sock, hooks);
  ignoreEarlySuccess(sock);
  const raw = rawSocket(sock);
  if (raw !== null) {
    gatherFrames(raw, permission);
    scheduleFrames(raw, frames, hooks.frame);
  }
  boundClose(sock, closeMs);
  releaseQueries(sock);
  rejectUnanswered(sock);
  watchHandshake(sock, hooks);
};
