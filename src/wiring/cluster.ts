/** The parts that make this gateway one node of a cluster. They are undefined for a single gateway. */
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { clusterPolicyOf, type ClusterOptions } from '#actors/gateway.ts';
import type { LeaseStore, Log } from '#actors/ports.ts';
import type { Settings } from '#config/load.ts';
import { defaultStreamLimits } from '#src/http/options.ts';
import type { Storage } from '#src/storage/open.ts';

type OnOpen = (name: string, close: () => Promise<void>) => void;

/** Returns the name of this node; null for a single gateway. If only NATS_URL is set, the name is that of the machine. */
export const nodeNameOf = ({ nodeName, natsUrl }: Pick<Settings, 'nodeName' | 'natsUrl'>): string | null =>
  nodeName ??
  (natsUrl === null
    ? null
    : hostname()
        .replace(/[^\w-]/g, '-')
        .slice(0, 63));

/** Throws an error with a text for the operator if the settings do not fit a node. */
export const checkNode = (settings: Settings, log: Log): void => {
  const { databaseUrl, encryptionKey, filesBucket } = settings;
  if (nodeNameOf(settings) === null) return;
  if (databaseUrl === null || encryptionKey === null)
    throw new Error('NODE_NAME and NATS_URL need DATABASE_URL and ENCRYPTION_KEY, the same ones for all nodes.');
  if (filesBucket === null)
    log.warn(
      {
        missing: 'FILES_BUCKET',
        effect:
          'a file is kept by the node that stored it: others get it while that node has the session; files of queued messages and of campaigns fail once their session has moved',
      },
      'node.filesNotShared',
    );
};

/** The number of events per instance that NATS keeps. A node keeps the same number of events in memory for a stream. */
const keptEach = defaultStreamLimits.ringEvents;

/** The pause between two checks for nodes that do not sign their messages. In milliseconds. */
const lookMs = 5_000;

/**
 * Returns a function that returns true while the cluster has a node of the previous release, which does not sign messages. The answer comes from the database,
 * because an attacker on the bus cannot change it.
 */
const unsignedNodes = async (leases: LeaseStore, onOpen: OnOpen): Promise<() => boolean> => {
  let isFound = await leases.anyUnsigned();
  // Queries the database again. If the query fails, the last known value is kept.
  const look = (): void =>
    void leases.anyUnsigned().then(
      (found) => (isFound = found),
      () => undefined,
    );
  const timer = setInterval(look, lookMs);
  onOpen('unsigned nodes', async () => clearInterval(timer));
  return () => isFound;
};

const busOf = async (
  { natsUrl, natsPrefix, ...settings }: Settings,
  name: string,
  { leases, log, now, onOpen }: { readonly leases: LeaseStore; readonly log: Log; readonly now: () => number; readonly onOpen: OnOpen },
): Promise<ClusterOptions['bus']> => {
  if (natsUrl === null) {
    log.warn({ missing: 'NATS_URL', effect: 'a request for an instance of another node answers 503' }, 'node.alone');
    return null;
  }
  // A gateway without a cluster does not load the modules of the bus.
  const [{ NatsBus }, { Signing }] = await Promise.all([import('#src/bus/nats.ts'), import('#src/bus/signing.ts')]);
  const takesUnsigned = await unsignedNodes(leases, onOpen);
  const keys = [settings.encryptionKey, settings.encryptionKeyOld].filter((key) => key !== null);
  const bus = new NatsBus({
    url: natsUrl,
    name,
    log,
    signing: new Signing({ keys, now, takesUnsigned }),
    keep: {
      subjects: `${natsPrefix}.events.*`,
      ms: settings.streamKeptMs,
      bytes: settings.streamKeptBytes,
      each: keptEach,
      replicas: settings.streamKeptReplicas,
    },
  });
  onOpen('bus', () => bus.close());
  return { bus, prefix: natsPrefix, keptFor: settings.streamKeptMs };
};

export const clusterOf = async (
  settings: Settings,
  { leases, leftWork, changes, signIns, onDuty }: Storage,
  { version, ...about }: { readonly version: string; readonly log: Log; readonly now: () => number; readonly onOpen: OnOpen },
): Promise<ClusterOptions | undefined> => {
  const name = nodeNameOf(settings);
  if (leases === null || name === null) return undefined;
  const perSecond = settings.clusterHandshakesPerSecond;
  return {
    node: { name, capacity: settings.maxConnectedInstances, version },
    policy: clusterPolicyOf(perSecond, settings.handshakesPerSecond ?? perSecond),
    leases,
    leftWork,
    changes,
    signIns,
    newIncarnation: randomUUID,
    onDuty,
    bus: await busOf(settings, name, { ...about, leases }),
    sharesFiles: settings.filesBucket !== null,
  };
};
