/**
 * The root certificates that connections trust. The roots of the real platform are built into Baileys. A simulated platform, on loopback only, serves
 * its own roots, which replace the real ones in the whole process. A process that is connected to the sandbox cannot reach the real platform. The
 * checks of signatures are the same for both (`signatures.ts`).
 */
import { Agent as HttpsAgent } from 'node:https';
import { WA_CERT_DETAILS } from '@whiskeysockets/baileys';
import { Agent as Dispatcher, buildConnector } from 'undici';
import { loopbackHosts } from '#src/base/loopback.ts';

/** The agents for media hosts. Null if the platform is not a simulated one. The certificates of the system then apply. */
export type MediaTrust = {
  readonly uploads: HttpsAgent;
  readonly downloads: Dispatcher;
  /** `ca` and `redirect`: the root certificate and the redirection for connections through a proxy, which do not use `uploads` or `downloads`. */
  readonly ca: string;
  redirect(options: buildConnector.Options): buildConnector.Options;
} | null;

/** Returns the address of `/trust` for a simulated platform, whose address has the scheme `ws:` and a loopback host. Returns null for any other address. */
export const trustAddress = (platformUrl: string): string | null => {
  const url = new URL(platformUrl);
  if (url.protocol !== 'ws:' || !loopbackHosts.has(url.hostname)) return null;
  return `http://${url.host}/trust`;
};

interface Roots {
  readonly noiseRoot: string;
  readonly mediaAuthority: string;
}

const isRoots = (value: unknown): value is Roots =>
  typeof value === 'object' &&
  value !== null &&
  'noiseRoot' in value &&
  typeof value.noiseRoot === 'string' &&
  /^[0-9a-f]{64}$/i.test(value.noiseRoot) &&
  'mediaAuthority' in value &&
  typeof value.mediaAuthority === 'string';

const fetchRoots = async (address: string, timeoutMs: number): Promise<Roots> => {
  const response = await fetch(address, { signal: AbortSignal.timeout(timeoutMs) });
  const roots: unknown = response.ok ? await response.json() : await response.body?.cancel();
  if (!isRoots(roots)) throw new Error(`${address} answered ${response.status} and no certificates`);
  return roots;
};

/** The host from which the library downloads files for which the platform names only a path, such as snapshots of the shared state. */
const realMediaHost = 'mmg.whatsapp.net';

/** Redirects connections from the real media host to the media host of the simulated platform. */
const inSandbox = ({ hostname, port }: URL): NonNullable<MediaTrust>['redirect'] => {
  const instead = { hostname, port, host: `${hostname}:${port}`, servername: '' };
  return (options) => (options.hostname === realMediaHost ? { ...options, ...instead } : options);
};

const inject = (roots: Roots, address: string): NonNullable<MediaTrust> => {
  WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(roots.noiseRoot, 'hex');
  const ca = roots.mediaAuthority;
  const redirect = inSandbox(new URL(address));
  const connect = buildConnector({ ca, allowH2: false });
  const downloads = new Dispatcher({ allowH2: false, connect: (options, callback) => connect(redirect(options), callback) });
  return { uploads: new HttpsAgent({ ca, keepAlive: false }), downloads, ca, redirect };
};

export class Trust {
  readonly #address: string | null;
  readonly #timeoutMs: number;
  #known: Promise<NonNullable<MediaTrust>> | null = null;

  constructor(platformUrl: string | null, timeoutMs: number) {
    this.#address = platformUrl === null ? null : trustAddress(platformUrl);
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Fetches the roots of a simulated platform, unless they are known. Returns null for the real platform. Call this before every connection. Rejects if the
   * simulated platform does not answer.
   */
  async establish(): Promise<MediaTrust> {
    const address = this.#address;
    if (address === null) return null;
    this.#known ??= fetchRoots(address, this.#timeoutMs).then((roots) => inject(roots, address));
    try {
      return await this.#known;
    } catch (error) {
      this.#known = null;
      throw error;
    }
  }

  /** Drops the roots. Call this after a certificate was refused. The next connection fetches the roots again. */
  forget(): void {
    void this.close();
  }

  async close(): Promise<void> {
    const media = await this.#known?.catch(() => null);
    this.#known = null;
    media?.uploads.destroy();
    await media?.downloads.close();
  }
}
