/** The entry point of the adapter, which makes the links of all instances. */
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
import { type PictureDelays, pictureDelays, PicturePace, SmallPictures } from './link/pictures.ts';
import { FairScheduler, type SharedSchedulers } from './wire/frames.ts';
import type { Downloads } from './outbound/media-stream.ts';
import { platformAddress, proxyObjection, testProxy } from './proxy/check.ts';
import type { ProxyParts } from './proxy/route.ts';
import { hostOf } from './proxy/tunnel.ts';
import { builtInVersion, type ClientVersions } from './link/client-versions.ts';
import type { Vault } from './wire/vault-port.ts';

export type { Deadlines } from './link/session-options.ts';

/**
 * The size of Node's slabs for small buffers. Keys are small buffers that live as long as their session, and each keeps its whole slab in memory. Node's
 * default slabs of 64 KB took 212 KB for each session. Slabs of this size take 53 KB. In bytes.
 */
const slab = 8 * 1024;

/**
 * Makes the schedulers of frames and messages. A frame takes 0.1 ms of processor time up to the inbound log. Its message then takes 1 ms up to its entry.
 * During a flood, with one message in a turn, a status request of another instance took 2.8 ms (median), and a message took 1.6 ms of processor time. With five
 * messages in a turn, they took 6 ms and 1.3 ms. Two messages in a turn are a compromise.
 */
const makeSchedulers = (): SharedSchedulers => ({
  frames: new FairScheduler({ least: 5, cost: 0.1 }),
  messages: new FairScheduler({ least: 2, cost: 1 }),
});

export interface PlatformOptions {
  /**
   * The WebSocket address of the platform; null for the real platform. An address with `ws:` and a loopback host means the simulated platform, whose
   * certificates then replace the real ones in this process.
   */
  readonly url: string | null;
  /** The client versions. Absent means the built-in version. */
  readonly versions?: ClientVersions;
  readonly vault: Vault;
  /** Makes X25519 key pairs outside of the event loop. Each has 64 bytes, the private key first. */
  preKeys(count: number): Promise<Uint8Array>;
  readonly deadlines: Deadlines;
  /** The limit of received data that is not stored yet. Beyond this limit the connection ends. In bytes. */
  readonly inboundBytes?: number;
  readonly log: Log;
  /** Reads a stored message by the platform's id. */
  quoted(instance: string, messageId: string): Promise<Message | null>;
  readonly timers: LinkParts['timers'];
  readonly groups: LinkParts['groups'];
  readonly channels: LinkParts['channels'];
  readonly previews: Previews;
  readonly uploads: Omit<SharedUploads, 'dispatcher'>;
  readonly downloads: Downloads;
  /** Resolves media hosts that the platform did not offer. Refuses addresses that the address guard does not allow. */
  readonly mediaLookup: LookupFunction;
  readonly proxies: ProxyParts & { readonly testMs: number };
  /** The reaction to a wrong signature. The default is `refuse`. */
  readonly signatures?: SignatureRules['onWrong'];
  /** True if messages that the owner deletes on the phone are deleted from the storage too. This is the default. */
  readonly followsDeletions?: boolean;
  readonly chance?: Pick<Chance, 'hex'>;
  /** Memory limit for the small pictures of all accounts together, in bytes. */
  readonly smallPictureBytes?: number;
  /** Delays of the look-ups of the account's picture. */
  readonly pictures?: PictureDelays;
  now(): number;
}

export interface BaileysPlatform extends Platform {
  /** See the port `Proxies`. */
  readonly proxies: Pick<Proxies, 'objection' | 'test'>;
  /** Closes the shared parts. Close all links before. */
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
  // Without HTTP/2, an upload never waits for another upload on the same connection.
  const dispatcher = new Agent({ allowH2: false });
  const guarded = new Agent({ allowH2: false, connect: { lookup: options.mediaLookup } });
  const uploads = { ...parts.uploads, dispatcher };
  // Each message needs an id. The ids come from UUIDs, because Node buffers random bytes for UUIDs.
  const hex = chance?.hex ?? (() => randomUUID());
  const trust = new Trust(options.url, options.deadlines.open);
  const schedulers = makeSchedulers();
  const pictures = new PicturePace(delays, options.now);
  const small = new SmallPictures(options.smallPictureBytes ?? 1e7);
  const clock = new PlatformClock(() => performance.now());
  const newId = (): string => `r${hex(4).slice(0, 7)}`;
  return {
    link: (host: LinkHost) =>
      new BaileysLink(
        { ...parts, followsDeletions, versions, uploads, guarded, inboundBytes, trust, schedulers, pictures, small, clock, newId },
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
