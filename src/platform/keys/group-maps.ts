/** Reads the devices that have the own sender key of a group. The library stores a map of them for each group, and sends the key only to other devices. */
import { userOf } from '../wire/jid.ts';
import type { Vault } from '../wire/vault-port.ts';
import { decodeKey } from './key-codec.ts';

/** The library's key type for these maps. The library sets the whole map with each send, and only adds devices. */
export const memoryType = 'sender-key-memory';

/** Devices by address, such as `123:4@lid`. The library adds to the map that it got, and therefore gets a copy. */
export type DeviceMap = Readonly<Record<string, boolean>>;

/** The maps to read: maps of these groups, or maps with a device of one of these people (numbers and LIDs without a server). */
export type WantedMaps = { readonly groups: readonly string[] } | { readonly people: ReadonlySet<string> };

interface MapSource {
  readonly vault: Pick<Vault, 'keys' | 'allKeys'>;
  readonly instance: string;
  /** Returns a map from memory; null if the group has none; undefined if the vault must be read. */
  peek(group: string): DeviceMap | null | undefined;
  /** Resolves when the vault has stored all earlier changes. */
  flush(): Promise<void>;
}

const hasDeviceOf = (map: DeviceMap, people: ReadonlySet<string>): boolean => Object.keys(map).some((jid) => people.has(userOf(jid)));

const readNamed = async (groups: readonly string[], { vault, instance, peek }: MapSource): Promise<ReadonlyMap<string, DeviceMap>> => {
  const unknown = groups.filter((group) => peek(group) === undefined);
  const found = unknown.length === 0 ? new Map<string, string>() : await vault.keys(instance, memoryType, unknown);
  return new Map(
    groups.flatMap((group) => {
      const text = found.get(group);
      const map = peek(group) ?? (text === undefined || peek(group) === null ? null : (decodeKey(memoryType, text) as DeviceMap));
      return map === null ? [] : [[group, map] as const];
    }),
  );
};

/** Reads all maps, which may have megabytes. Only maps whose text contains one of the people are parsed. */
const readNaming = async (people: ReadonlySet<string>, source: MapSource): Promise<ReadonlyMap<string, DeviceMap>> => {
  // A recently changed map may not be in the vault yet.
  await source.flush();
  const stored = await source.vault.allKeys(source.instance, [memoryType]);
  const maps = new Map<string, DeviceMap>();
  for (const { id, value } of stored) {
    const known = source.peek(id);
    const named = known === undefined && [...people].some((user) => value.includes(`"${user}`));
    const map = known ?? (named ? (decodeKey(memoryType, value) as DeviceMap) : null);
    if (map !== null && hasDeviceOf(map, people)) maps.set(id, map);
  }
  return maps;
};

/** Reads the wanted maps. Does not cache them, because all maps of an instance may have megabytes. */
export const readMaps = (wanted: WantedMaps, source: MapSource): Promise<ReadonlyMap<string, DeviceMap>> =>
  'groups' in wanted ? readNamed(wanted.groups, source) : readNaming(wanted.people, source);
