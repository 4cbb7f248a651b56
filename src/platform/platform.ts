/** The face of the adapter: makes the links of all instances. */
import { randomUUID } from 'node:crypto';
import type { LookupFunction } from 'node:net';
import { Agent } from 'undici';
import type { Message } from '#actors/model.ts';
import type { Chance, LinkHost, Log, Platform, Proxies } from '#actors/ports.ts';
import { usualLimits } from './inbound/durable-inbox.ts';
import { BaileysLink, type LinkParts, type SharedUploads } from './link.ts';
import {
  boundInflation,
  boundSessionChains,
  passKeysAsObjects,
  quietConsole,
  repairSenderKeys,
  repairSessionTrials,
  repairStanzaWords,
} from './link/library-patches.ts';
import type { Deadlines } from './link/session-options.ts';
import type { Previews } from './outbound/live-connection.ts';
import { checkSignatures, type SignatureRules } from './wire/signatures.ts';
import { PlatformClock } from './link/platform-clock.ts';
import { Trust } from './wire/trust.ts';
import { createPicturePace, type PictureDelays, pictureDelays, SmallPictures } from './link/pictures.ts';
import { type SharedTurns, Turns } from './wire/frames.ts';
import type { Downloads } from './outbound/media-stream.ts';
import { platformAddress, proxyObjection, testProxy } from './proxy/check.ts';
import type { ProxyParts } from './proxy/route.ts';
import { hostOf } from './proxy/tunnel.ts';
import { builtInVersion, type ClientVersions } from './link/client-versions.ts';
import type { Vault } from './wire/vault.ts';

export type { Deadlines } from './link/session-options.ts';

/**
 * Bytes. Keys are small buffers that live as long as their session, and each keeps the whole slab alive that it was cut from. With Node's slabs
 * of 64 KB that came to 212 KB a session, with these to 53 KB.
 */
const slab = 8 * 1024;

/**
 * A frame costs 0.1 ms until its message is on its way into the log. A message costs about 1 ms from there to its entry. With one message a turn,
 * another instance's status took 2.8 ms in a flood (median), and a message 1.6 ms of processor time. With five messages a turn, they took 6 ms and
 * 1.3 ms.
 */
const makeTurns = (): SharedTurns => ({ frames: new Turns({ least: 5, cost: 0.1 }), messages: new Turns({ least: 2, cost: 1 }) });

export interface PlatformOptions {
  /** WebSocket of the platform, null for the real one. A loopback address is taken for the simulated one, whose certificates then replace the real ones in this process. */
  readonly url: string | null;
  /** The built-in address if absent. */
  readonly versions?: ClientVersions;
  readonly vault: Vault;
  /** X25519 pairs made off the event loop: 64 bytes each, private before public. */
  preKeys(count: number): Promise<Uint8Array>;
  readonly deadlines: Deadlines;
  /** Bytes of memory for received data that storage has not taken yet. Beyond it the session ends. */
  readonly inboundBytes?: number;
  readonly log: Log;
  /** A stored message by the platform's id. */
  quoted(instance: string, messageId: string): Promise<Message | null>;
  readonly timers: LinkParts['timers'];
  readonly groups: LinkParts['groups'];
  readonly channels: LinkParts['channels'];
  readonly previews: Previews;
  readonly uploads: Omit<SharedUploads, 'dispatcher'>;
  readonly downloads: Downloads;
  /** Resolves names of media hosts that only a message names, to public addresses. */
  readonly mediaLookup: LookupFunction;
  readonly proxies: ProxyParts & { readonly testMs: number };
  /** The reaction to a wrong signature. Default: refuse. */
  readonly signatures?: SignatureRules['onWrong'];
  /** If false, messages that the owner deletes on the phone stay stored. Default: true. */
  readonly followsDeletions?: boolean;
  readonly chance?: Pick<Chance, 'hex'>;
  /** Memory for small pictures of all accounts together, in bytes. */
  readonly smallPictureBytes?: number;
  /** Delays of the look-ups of the account's picture. */
  readonly pictures?: PictureDelays;
  now(): number;
}

export interface BaileysPlatform extends Platform {
  /** See the port `Proxies`. */
  readonly proxies: Pick<Proxies, 'objection' | 'test'>;
  /** Links must be closed before. */
  close(): Promise<void>;
}

const proxyChecks = ({ url: platformUrl, proxies: { guard, testMs } }: PlatformOptions): BaileysPlatform['proxies'] => ({
  objection(url) {
    const objection = proxyObjection(url);
    if (objection !== null) return objection;
    const refused = guard.checkHost(hostOf(url));
    return refused === null ? null : `proxy_url points to ${refused}`;
  },
  test: (url, managed) => testProxy({ url, timeoutMs: testMs, guard: managed ? null : guard }, platformAddress(platformUrl)),
});

export const createPlatform = (options: PlatformOptions): BaileysPlatform => {
  quietConsole();
  boundInflation();
  checkSignatures({ onWrong: options.signatures ?? 'refuse', log: options.log, now: options.now });
  repairSessionTrials();
  boundSessionChains();
  repairSenderKeys();
  repairStanzaWords();
  passKeysAsObjects();
  Buffer.poolSize = slab;
  const { followsDeletions = true } = options;
  const { chance, pictures: delays = pictureDelays, inboundBytes = usualLimits.bytes, versions = builtInVersion, ...parts } = options;
  // One upload never waits for another on the same connection.
  const dispatcher = new Agent({ allowH2: false });
  const guarded = new Agent({ allowH2: false, connect: { lookup: options.mediaLookup } });
  const uploads = { ...parts.uploads, dispatcher };
  // One for every message: the generator of UUIDs draws its randomness in advance.
  const hex = chance?.hex ?? (() => randomUUID());
  const trust = new Trust(options.url, options.deadlines.open);
  const turns = makeTurns();
  const pictures = createPicturePace(delays, options.now);
  const small = new SmallPictures(options.smallPictureBytes ?? 1e7);
  const clock = new PlatformClock(() => performance.now());
  const newId = (): string => `r${hex(4).slice(0, 7)}`;
  return {
    link: (host: LinkHost) =>
      new BaileysLink(
        { ...parts, followsDeletions, versions, uploads, guarded, inboundBytes, trust, turns, pictures, small, clock, newId },
        host,
      ),
    picture: (instance) => small.of(instance),
    clientVersion: () => versions.view(),
    heardTime: () => clock.heard,
    proxies: proxyChecks(options),
    close: async () => {
      await trust.close();
      await Promise.all([dispatcher.close(), guarded.close()]);
    },
  };
};
