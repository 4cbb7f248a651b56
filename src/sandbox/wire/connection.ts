/** One client's WebSocket: the handshake, then nodes in both directions. No input of a client makes this file throw an exception. */
import { proto } from '@whiskeysockets/baileys';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { ServerIdentity } from '../certificates.ts';
import type { Faults } from '../faults.ts';
import { node, type BinaryNode } from '../nodes.ts';
import {
  decodeNode,
  encodeNode,
  frame,
  FrameReader,
  intro,
  maxFrame,
  NoiseResponder,
  type Resumption,
  type Transport,
} from './transport.ts';

/** Largest frame of a handshake, in bytes. A registration payload is smaller than one kilobyte. */
const handshakeFrame = 16 * 1024;
const handshakeMs = 20_000;
/** The largest send buffer of a client, in bytes. Above this size, a client that reads too slowly is disconnected. */
const maxBuffered = 64 * 1024 * 1024;

/** The platform's reactions at each stage of a connection. */
export interface ConnectionHandler {
  /** Handles the payload after the handshake. `payload` is a login or a registration. */
  onPayload(connection: Connection, payload: proto.ClientPayload): void;
  onNode(connection: Connection, node: BinaryNode): void;
  onClosed(connection: Connection): void;
  /** Handles malformed data from the client. The connection is closed afterwards. */
  onBroken(connection: Connection, error: unknown): void;
  onHandshake(): void;
  readonly tap?: Tap;
}

/** A listener for stanzas. `stanza` is encoded. */
export type Tap = (from: 'client' | 'platform', stanza: Uint8Array) => void;

type Stage = 'hello' | 'finish' | 'open' | 'closed';

export class Connection {
  /** The client's Noise key. Empty until the handshake is over. */
  clientStatic: Buffer = Buffer.alloc(0);
  /** Address of the remote end, `address:port`. */
  readonly address: string;
  /** The key of the linked device, which the login sets. */
  deviceKey: string | undefined;
  /** True after the platform sent the stored stanzas. From then on the device gets new stanzas at once. */
  active = false;
  /** Numbers whose device list this client has cached. */
  readonly knows = new Set<string>();
  /** Ids of messages that the client requested again. The next ack of such a message belongs to its first copy. */
  readonly retried = new Set<string>();
  /** Numbers whose presence the client subscribed to. */
  readonly subscriptions = new Set<string>();
  /** The end of a promise chain for work that must run in the order of arrival. */
  work: Promise<void> = Promise.resolve();
  /** Stanzas from other clients that wait while a message of this client is processed. They are sent after its ack, as on the real platform. */
  held: (() => void)[] | undefined;
  /** The delay of every stanza to the client. In milliseconds. */
  delayMs = 0;
  #silent = false;
  #stage: Stage = 'hello';
  #transport: Transport | undefined;
  #noise = new NoiseResponder(intro);
  readonly #reader = new FrameReader(handshakeFrame);
  readonly #deadline: NodeJS.Timeout;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #ws: WebSocket;
  readonly #socket: Socket;
  readonly #identity: ServerIdentity;
  readonly #faults: Faults;
  readonly #handler: ConnectionHandler;

  constructor(ws: WebSocket, socket: Socket, identity: ServerIdentity, faults: Faults, handler: ConnectionHandler) {
    this.#ws = ws;
    this.#socket = socket;
    this.address = `${socket.remoteAddress ?? ''}:${socket.remotePort ?? ''}`;
    this.#identity = identity;
    this.#faults = faults;
    this.#handler = handler;
    this.#deadline = setTimeout(() => this.close(1008), handshakeMs);
    ws.on('message', (data: Buffer) => this.#receive(data));
    ws.on('ping', (data: Buffer) => {
      if (!this.#silent && ws.readyState === ws.OPEN) ws.pong(data);
    });
    // The client broke the WebSocket protocol (oversized or malformed frame). `close` follows.
    ws.on('error', () => ws.terminate());
    ws.on('close', () => this.#ended());
  }

  get open(): boolean {
    return this.#stage === 'open';
  }

  send(one: BinaryNode): void {
    this.sendEncoded(encodeNode(one));
  }

  /** Sends a node that is already encoded. */
  sendEncoded(encoded: Uint8Array): void {
    if (this.delayMs === 0) this.#write(encoded);
    else this.#later(this.delayMs, () => this.#write(encoded));
  }

  /** Sends `last`, then closes. */
  finish(last: BinaryNode): void {
    this.send(last);
    this.close(1000, this.delayMs);
  }

  close(code = 1000, afterMs = 0): void {
    if (afterMs > 0) {
      this.#later(afterMs, () => this.close(code));
      return;
    }
    // Codes that the WebSocket protocol reserves, such as 1005, 1006 and 1015, cannot be sent. A fault with such a code resets the connection.
    if (code < 1000 || (code > 1003 && code < 1007) || (code > 1014 && code < 3000) || code > 4999) this.reset();
    else if (!this.#silent) this.#ws.close(code);
    else this.#ws.terminate();
    this.#ended();
  }

  /** Resets the TCP connection. */
  reset(): void {
    this.#socket.resetAndDestroy();
    this.#ended();
  }

  /** Keeps the socket open, but sends no more data. */
  silence(): void {
    this.#silent = true;
  }

  /** Sends a frame that cannot be decrypted. */
  corrupt(): void {
    if (this.#stage === 'open') this.#ws.send(frame(Buffer.alloc(40, 0x5a)));
  }

  #later(ms: number, task: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      task();
    }, ms);
    this.#timers.add(timer);
  }

  #write(encoded: Uint8Array): void {
    if (!this.#transport || this.#silent || this.#stage !== 'open' || this.#ws.readyState !== this.#ws.OPEN) return;
    if (this.#ws.bufferedAmount > maxBuffered) {
      this.#ws.terminate();
      return;
    }
    this.#handler.tap?.('platform', encoded);
    this.#ws.send(frame(this.#transport.seal(encoded)));
  }

  #receive(data: Buffer): void {
    try {
      for (const one of this.#reader.push(data)) {
        if (this.#stage === 'closed') return;
        this.#accept(one);
      }
    } catch (error) {
      // The data has another protocol, is not authentic, or cannot be decoded. The platform closes without a stream error.
      this.#handler.onBroken(this, error);
      this.close(1002);
    }
  }

  #accept(data: Buffer): void {
    if (this.#stage === 'hello') this.#hello(data);
    else if (this.#stage === 'finish') this.#finish(data);
    else if (this.#transport) this.#take(this.#transport.open(data));
  }

  #take(stanza: Uint8Array): void {
    this.#handler.tap?.('client', stanza);
    this.#handler.onNode(this, decodeNode(stanza));
  }

  #hello(data: Buffer): void {
    const hello = proto.HandshakeMessage.decode(data).clientHello;
    if (hello?.ephemeral?.length !== 32) throw new Error('no client hello');
    this.#stage = 'finish';
    if (this.#faults.take('silentHandshake')) {
      this.#silent = true;
      clearTimeout(this.#deadline);
      return;
    }
    if (this.#faults.take('garbageHandshake')) {
      this.#ws.send(frame(Buffer.from([0xff, 0xff, 0xff, 0x07, 0x42])));
      return;
    }
    const { ephemeral, static: sealedStatic, payload } = hello;
    const wrong = this.#faults.take('badCertificate');
    if (sealedStatic?.length && payload?.length) {
      // A wrong certificate can only be sent in a full handshake.
      if (!wrong && this.#resume({ ephemeral, static: sealedStatic, payload })) return;
      this.#noise = new NoiseResponder(intro, 'XXfallback');
    }
    this.#noise.readHello(ephemeral);
    const { chain, staticKey } = this.#identity;
    this.#sayHello(this.#noise.writeHello(staticKey, wrong ? this.#identity.forge(wrong.forgery ?? 'issuer') : chain));
  }

  #sayHello(serverHello: proto.HandshakeMessage.IServerHello): void {
    this.#ws.send(frame(proto.HandshakeMessage.encode({ serverHello }).finish()));
  }

  /** Answers with Noise IK to a client that knows the platform's key. Returns false if the client has an old key. The caller then begins the full handshake. */
  #resume(hello: Resumption): boolean {
    const noise = new NoiseResponder(intro, 'IK');
    const { chain, staticKey } = this.#identity;
    try {
      const { clientStatic, payload } = noise.readResumption(staticKey, hello);
      this.#noise = noise;
      this.#sayHello(noise.writeResumption(clientStatic, chain));
      this.#open(clientStatic, payload);
      return true;
    } catch (error) {
      // If `#noise` is set already, the first frame was authentic. The cause is then not an old key.
      if (this.#noise === noise) throw error;
      return false;
    }
  }

  #finish(data: Buffer): void {
    const finish = proto.HandshakeMessage.decode(data).clientFinish;
    if (!finish?.static || !finish.payload) throw new Error('no client finish');
    const { clientStatic, payload } = this.#noise.readFinish(finish.static, finish.payload);
    this.#open(clientStatic, payload);
  }

  #open(clientStatic: Buffer, payload: Uint8Array): void {
    this.clientStatic = clientStatic;
    this.#transport = this.#noise.split();
    this.#stage = 'open';
    this.#reader.limit = maxFrame;
    clearTimeout(this.#deadline);
    this.#handler.onHandshake();
    this.#handler.onPayload(this, proto.ClientPayload.decode(payload));
  }

  #ended(): void {
    if (this.#stage === 'closed') return;
    this.#stage = 'closed';
    clearTimeout(this.#deadline);
    for (const timer of this.#timers) clearTimeout(timer);
    this.#handler.onClosed(this);
  }
}

/** Makes the node that ends a stream: `<stream:error>` with an optional code and reason. */
export const streamError = (code?: number, reason?: BinaryNode): BinaryNode =>
  node('stream:error', { code: code === undefined ? undefined : String(code) }, reason ? [reason] : undefined);

/** Makes the node for a connection whose device has logged in elsewhere. */
export const replaced = (): BinaryNode => streamError(undefined, node('conflict', { type: 'replaced' }));

export const deviceRemoved = (): BinaryNode => streamError(401, node('conflict', { type: 'device_removed' }));
