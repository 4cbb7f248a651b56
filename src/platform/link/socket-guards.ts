/**
 * Guards around the socket of Baileys. They take events before the library's buffer and frames by turns. They catch errors that nothing else catches,
 * report refusals, and end closings that would take half a minute.
 */
import { EventEmitter } from 'node:events';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { BaileysEventMap, BinaryNode, WASocket } from '@whiskeysockets/baileys';
import type { Close } from '#actors/ports.ts';
import { createLruMap } from '#src/base/lru-map.ts';
import { type BaileysEvent, keptFromBuffer } from '../events/from-baileys.ts';
import { closeOf, ownCloses } from '../wire/outcomes.ts';
import { type FrameSocket, gatherFrames, type Permission, takeTurns, type Turns, type TurnSocket } from '../wire/frames.ts';
import { bare, isGroup } from '../wire/jid.ts';

// Receipts of groups by which members say that they played a message: the library reports them as read.

/** Messages whose receipt is on its way through the library. */
const most = 500;

type Updates = BaileysEventMap['message-receipt.update'];

const idsOf = ({ attrs, content }: BinaryNode): readonly (string | undefined)[] => {
  const list = Array.isArray(content) ? content.find(({ tag }) => tag === 'list')?.content : undefined;
  return [attrs['id'], ...(Array.isArray(list) ? list.map((item) => item.attrs['id']) : [])];
};

/** Listens to the socket, and answers with a function that says of reported receipts which of them were played. */
const playedReceipts = (sock: WASocket): ((updates: Updates) => Updates) => {
  const played = createLruMap<true>(most);
  const keyOf = (id: string | null | undefined, member: string | null | undefined): string => `${id ?? ''} ${bare(member)}`;
  sock.ws.on('CB:receipt,type:played', (node: BinaryNode) => {
    if (!isGroup(node.attrs['from'] ?? '')) return;
    for (const id of idsOf(node)) played.set(keyOf(id, node.attrs['participant']), true);
  });
  return (updates) =>
    updates.map((update) => {
      const { key, receipt } = update;
      const name = keyOf(key.id, receipt.userJid);
      if (!receipt.readTimestamp || !played.get(name)) return update;
      played.delete(name);
      return { ...update, receipt: { ...receipt, playedTimestamp: receipt.readTimestamp } };
    });
};

interface GuardHooks {
  /** Every event, when it happens and before the library merges it with others. */
  event(event: BaileysEvent): void;
  /** Notes that a frame of the platform arrived, which may wait for its turn. */
  frame(): void;
  /** The upgrade and the Noise handshake are done. */
  handshaken(): void;
  /** Reports that the connection cannot continue, which the library does not notice. */
  failed(close: Close): void;
  /** Reports that a listener of the library failed. The connection can continue. */
  stumbled(where: string, error: unknown): void;
}

/** The part of `ws` below the library's client that is needed here. */
interface RawSocket extends FrameSocket, TurnSocket {
  terminate(): void;
  once(event: 'close', listener: () => void): unknown;
}

const rawSocket = (sock: WASocket): RawSocket | null => (sock.ws as unknown as { readonly socket: RawSocket | null }).socket;

/**
 * Makes a socket whose emitters catch what asynchronous listeners throw: without that a corrupt frame is an unhandled rejection, which
 * ends the process. The switch is global but is only read while an emitter is made, and making a socket waits for nothing.
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
    // Frames are taken apart in the listener of `message`: what fails there leaves the cipher out of step.
    if (where === 'message')
      hooks.failed({ ...ownCloses.brokenFrame, message: `${ownCloses.brokenFrame.message}: ${closeOf(error).message}` });
    else hooks.stumbled(where, error);
  };
  Object.defineProperty(sock.ws, Symbol.for('nodejs.rejection'), {
    value: (error: unknown, event: unknown) => caught(error, String(event)),
  });
  sock.ev.on('error' as keyof BaileysEventMap, (error: unknown) => caught(error, 'event'));
};

/** Reports each pair of number and LID when the library has stored it. The pair may come from messages, look-ups, the history or the shared state. */
const reportPeople = ({ signalRepository: { lidMapping } }: WASocket, hooks: GuardHooks): void => {
  const store = lidMapping.storeLIDPNMappings.bind(lidMapping);
  lidMapping.storeLIDPNMappings = async (pairs) => {
    await store(pairs);
    if (pairs.length > 0) hooks.event({ name: 'people.paired', data: pairs });
  };
};

/** The buffer of the library is passed by: it holds events for up to 30 seconds and merges changes into the messages that they change. */
const tapEvents = (sock: WASocket, hooks: GuardHooks): void => {
  const emit = sock.ev.emit.bind(sock.ev);
  const withPlayed = playedReceipts(sock);
  sock.ev.emit = (name, data) => {
    const handled = keptFromBuffer.has(name) || emit(name, data);
    // The name and its data belong together by the type of `emit`.
    const event = { name, data } as unknown as BaileysEvent;
    hooks.event(event.name === 'message-receipt.update' ? { ...event, data: withPlayed(event.data) } : event);
    return handled;
  };
};

/** `ws` waits 30 seconds for the other side's farewell. */
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
 * A waiting query listens to `close`. The library removes these listeners at its end without a call, so that its queries would wait for a
 * minute. This code calls them.
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

const watchHandshake = (sock: WASocket, hooks: GuardHooks): void => {
  const { ws } = sock;
  // The first frame is the server's half of the handshake. If it is refused, the socket closes before the next turn.
  ws.once('frame', () => setImmediate(() => ws.isOpen && hooks.handshaken()));
  ws.on('unexpected-response', (request: ClientRequest, response: IncomingMessage) => {
    const code = response.statusCode ?? null;
    response.resume();
    request.destroy();
    hooks.failed({ code, message: `the upgrade was refused with HTTP ${code}`, data: { stage: 'upgrade' } });
  });
};

/** Before the session is paired, a `success` is not a login, but the library would treat it as one (tulir/whatsmeow 5f04eac6). */
const ignoreEarlySuccess = ({ ws, authState }: WASocket): void => {
  const event = 'CB:success';
  for (const listener of ws.listeners(event) as ((node: unknown) => unknown)[]) {
    ws.off(event, listener);
    // The promise goes to the emitter, which catches its rejection.
    ws.on(event, (node: unknown) => (authState.creds.account === undefined ? undefined : listener(node)));
  }
};

export interface GuardOptions {
  readonly closeMs: number;
  /** Sockets of all sessions. */
  readonly frames: Turns;
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
    takeTurns(raw, frames, hooks.frame);
  }
  boundClose(sock, closeMs);
  releaseQueries(sock);
  watchHandshake(sock, hooks);
};
