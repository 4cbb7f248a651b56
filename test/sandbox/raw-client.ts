/**
 * A client with its own Noise XX, IK and XXfallback, because the library supports XX only. Its handshake shares no code with the simulated platform. Curves
 * and the encoding of stanzas are those of the library.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BinaryNode, Curve, decodeBinaryNode, encodeBinaryNode, type KeyPair, proto } from '@whiskeysockets/baileys';
import { WebSocket } from 'ws';

const intro = Buffer.from([0x57, 0x41, 6, 3]);
const hash = (...parts: Uint8Array[]): Buffer =>
  parts.reduce((sum: ReturnType<typeof createHash>, part) => sum.update(part), createHash('sha256')).digest();
const nonce = (counter: number): Buffer => {
  const iv = Buffer.alloc(12);
  iv.writeUInt32BE(counter, 8);
  return iv;
};

/** The state of one side of a handshake, named as in the Noise specification. */
class SymmetricState {
  #h: Buffer;
  #ck: Buffer;
  #k: Buffer;
  #n = 0;

  constructor(name: string) {
    this.#h = name.length > 32 ? hash(Buffer.from(name)) : Buffer.from(name.padEnd(32, '\0'));
    this.#ck = this.#h;
    this.#k = this.#h;
  }

  mixHash(data: Uint8Array): void {
    this.#h = hash(this.#h, data);
  }

  mixKey(secret: Uint8Array): void {
    [this.#ck, this.#k] = this.#hkdf(secret);
    this.#n = 0;
  }

  encrypt(plain: Uint8Array): Buffer {
    const cipher = createCipheriv('aes-256-gcm', this.#k, nonce(this.#n++)).setAAD(this.#h);
    const sealed = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    this.mixHash(sealed);
    return sealed;
  }

  decrypt(sealed: Uint8Array): Buffer {
    const decipher = createDecipheriv('aes-256-gcm', this.#k, nonce(this.#n++))
      .setAAD(this.#h)
      .setAuthTag(sealed.subarray(-16));
    const plain = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
    this.mixHash(sealed);
    return plain;
  }

  split(): [Buffer, Buffer] {
    return this.#hkdf(Buffer.alloc(0));
  }

  #hkdf(secret: Uint8Array): [Buffer, Buffer] {
    const both = Buffer.from(hkdfSync('sha256', secret, this.#ck, '', 64));
    return [both.subarray(0, 32), both.subarray(32)];
  }
}

export interface RawClient {
  /** The handshake that was used. */
  readonly pattern: 'XX' | 'IK' | 'XXfallback';
  /** The key of the server in the handshake. */
  readonly serverKey: Uint8Array;
  /** All stanzas that were received so far. */
  readonly got: readonly BinaryNode[];
  send(stanza: BinaryNode): void;
  /** Resolves with the first stanza, past or future, that fits. */
  wait(fits: (stanza: BinaryNode) => boolean, what: string): Promise<BinaryNode>;
  close(): Promise<void>;
}

export interface RawLogin {
  readonly port: number;
  readonly noiseKey: KeyPair;
  readonly payload: proto.IClientPayload;
  /** The key of the server for a first frame of Noise IK; XX if absent. */
  readonly serverKey?: Uint8Array;
}

/** Frames of one WebSocket, in order. */
const framesOf = (ws: WebSocket) => {
  const frames: Buffer[] = [];
  let bytes = Buffer.alloc(0);
  let wake = (): void => undefined;
  ws.on('error', () => undefined);
  ws.on('close', () => wake());
  ws.on('message', (data: Buffer) => {
    bytes = Buffer.concat([bytes, data]);
    while (bytes.length >= 3 && bytes.length >= 3 + bytes.readUIntBE(0, 3)) {
      const end = 3 + bytes.readUIntBE(0, 3);
      frames.push(bytes.subarray(3, end));
      bytes = bytes.subarray(end);
    }
    wake();
  });
  return {
    async next(): Promise<Buffer | null> {
      for (;;) {
        const one = frames.shift();
        if (one) return one;
        if (ws.readyState === ws.CLOSED) return null;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
    send(data: Uint8Array, prefix: Uint8Array = Buffer.alloc(0)): void {
      const length = Buffer.alloc(3);
      length.writeUIntBE(data.length, 0, 3);
      ws.send(Buffer.concat([prefix, length, data]));
    },
  };
};
type Frames = ReturnType<typeof framesOf>;

const begin = (name: string, e: KeyPair, serverKey?: Uint8Array): SymmetricState => {
  const state = new SymmetricState(name);
  state.mixHash(intro);
  if (serverKey) state.mixHash(serverKey);
  state.mixHash(e.public);
  return state;
};

const names = {
  XX: 'Noise_XX_25519_AESGCM_SHA256',
  IK: 'Noise_IK_25519_AESGCM_SHA256',
  XXfallback: 'Noise_XXfallback_25519_AESGCM_SHA256',
};

interface Shaken {
  readonly pattern: RawClient['pattern'];
  readonly keys: [Buffer, Buffer];
  readonly serverKey: Uint8Array;
}

async function shakeHands(frames: Frames, { noiseKey, payload, serverKey }: RawLogin): Promise<Shaken> {
  const e = Curve.generateKeyPair();
  const login = proto.ClientPayload.encode(payload).finish();
  const clientHello: proto.HandshakeMessage.IClientHello = { ephemeral: e.public };
  const ik = serverKey && begin(names.IK, e, serverKey);
  if (ik && serverKey) {
    ik.mixKey(Curve.sharedKey(e.private, serverKey));
    clientHello.static = ik.encrypt(noiseKey.public);
    ik.mixKey(Curve.sharedKey(noiseKey.private, serverKey));
    clientHello.payload = ik.encrypt(login);
  }
  frames.send(proto.HandshakeMessage.encode({ clientHello }).finish(), intro);
  const answer = await frames.next();
  const hello = answer && proto.HandshakeMessage.decode(answer).serverHello;
  if (!hello?.ephemeral || !hello.payload) throw new Error('no server hello');
  if (ik && serverKey && !hello.static?.length) {
    ik.mixHash(hello.ephemeral);
    ik.mixKey(Curve.sharedKey(e.private, hello.ephemeral));
    ik.mixKey(Curve.sharedKey(noiseKey.private, hello.ephemeral));
    ik.decrypt(hello.payload);
    return { pattern: 'IK', keys: ik.split(), serverKey };
  }
  const pattern = ik ? 'XXfallback' : 'XX';
  const xx = begin(names[pattern], e);
  xx.mixHash(hello.ephemeral);
  xx.mixKey(Curve.sharedKey(e.private, hello.ephemeral));
  const shown = xx.decrypt(hello.static ?? Buffer.alloc(0));
  xx.mixKey(Curve.sharedKey(e.private, shown));
  xx.decrypt(hello.payload);
  const sealed = xx.encrypt(noiseKey.public);
  xx.mixKey(Curve.sharedKey(noiseKey.private, hello.ephemeral));
  frames.send(proto.HandshakeMessage.encode({ clientFinish: { static: sealed, payload: xx.encrypt(login) } }).finish());
  return { pattern, keys: xx.split(), serverKey: shown };
}

/** Connects, performs the handshake and logs in. All frames of the platform are decoded. */
export async function connectRaw(login: RawLogin): Promise<RawClient> {
  const ws = new WebSocket(`ws://127.0.0.1:${login.port}/ws/chat`);
  const frames = framesOf(ws);
  await new Promise((resolve, reject) => ws.once('open', resolve).once('error', reject));
  const { pattern, keys, serverKey } = await shakeHands(frames, login);
  const [write, read] = keys;
  const got: BinaryNode[] = [];
  let [sent, received] = [0, 0];
  const reading = (async () => {
    for (let one = await frames.next(); one !== null; one = await frames.next()) {
      const decipher = createDecipheriv('aes-256-gcm', read, nonce(received++)).setAuthTag(one.subarray(-16));
      got.push(await decodeBinaryNode(Buffer.concat([decipher.update(one.subarray(0, -16)), decipher.final()])));
    }
  })();
  return {
    pattern,
    serverKey,
    got,
    send(stanza) {
      const cipher = createCipheriv('aes-256-gcm', write, nonce(sent++));
      frames.send(Buffer.concat([cipher.update(encodeBinaryNode(stanza)), cipher.final(), cipher.getAuthTag()]));
    },
    async wait(fits, what) {
      for (const end = Date.now() + 60_000; Date.now() < end; await sleep(10)) {
        const found = got.find(fits);
        if (found) return found;
      }
      throw new Error(`waited for ${what}, got ${JSON.stringify(got).slice(0, 600)}`);
    },
    async close() {
      ws.close();
      await reading;
    },
  };
}
