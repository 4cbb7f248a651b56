/** Composes the look-up of the web client's version: the address, the guard or the proxy, and the storage of the version. */
import type { Log, SettingStore, Time } from '#actors/ports.ts';
import type { Settings } from '#config/load.ts';
import { trustAddress } from '../platform/wire/trust.ts';
import { dispatcherThrough } from '../platform/proxy/route.ts';
import { platformAddress } from '../platform/proxy/check.ts';
import { Tunnel } from '../platform/proxy/tunnel.ts';
import { type ClientVersions, createClientVersions, lookUpRevision } from '../platform/link/client-versions.ts';
import { AddressGuard, createAgent, reasonOf } from '../webhooks/address-guard.ts';

interface VersionMeans {
  readonly settings: SettingStore;
  readonly time: Time;
  readonly log: Log;
  onOpen(name: string, close: () => Promise<void>): void;
}

type Agent = ReturnType<typeof createAgent>;

/** The time-out of one page in milliseconds, and its largest size in bytes. The page of the platform has less than one megabyte. */
const pageMs = 10_000;
const mostBytes = 8 * 1024 * 1024;

const noWay = 'direct connections are not allowed: set PLATFORM_VERSION_PROXY or PLATFORM_CLIENT_VERSION';

/** Returns the addresses on this machine that the look-up may reach: none, unless the platform itself runs on this machine. */
const allowedOf = ({ platformUrl }: Settings): readonly string[] => (trustAddress(platformUrl ?? '') === null ? [] : ['loopback']);

const throughProxy = async <T>(url: string, use: (dispatcher: Agent) => Promise<T>): Promise<T> => {
  const tunnel = new Tunnel({ url, timeoutMs: pageMs, guard: null });
  const dispatcher = dispatcherThrough(tunnel, null);
  try {
    return await use(dispatcher);
  } finally {
    tunnel.close();
    dispatcher.destroy().catch(() => undefined);
  }
};

const directly = async <T>(settings: Settings, use: (dispatcher: Agent) => Promise<T>): Promise<T> => {
  const guard = new AddressGuard({ allow: [...settings.allowPrivateReceivers, ...allowedOf(settings)] });
  const refused = guard.checkUrl(String(baseOf(settings)));
  if (refused !== null) throw new Error(refused);
  const agent = createAgent(guard, pageMs, 1, mostBytes);
  try {
    return await use(agent);
  } finally {
    await agent.close();
  }
};

const baseOf = ({ platformUrl, platformVersionUrl }: Settings): URL => new URL('/', platformVersionUrl ?? platformAddress(platformUrl));

export const openClientVersions = async (settings: Settings, { onOpen, ...means }: VersionMeans): Promise<ClientVersions> => {
  const { platformClientVersion, platformVersionProxy, platformVersionEveryMs, allowDirectConnections } = settings;
  const ask = (dispatcher: Agent) => lookUpRevision(baseOf(settings), dispatcher, pageMs, reasonOf);
  const versions = createClientVersions({
    ...means,
    fixed: platformClientVersion,
    everyMs: platformVersionEveryMs,
    async lookUp() {
      if (platformVersionProxy !== null) return throughProxy(platformVersionProxy, ask);
      if (!allowDirectConnections) throw new Error(noWay);
      return directly(settings, ask);
    },
  });
  onOpen('clientVersions', async () => versions.close());
  await versions.start();
  return versions;
};
