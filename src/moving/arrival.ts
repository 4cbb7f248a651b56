/**
 * Converts a session from a reader to its stored form: identity, credentials and keys as text, and the notes that its first connection
 * needs.
 */
import { ALL_WA_PATCH_NAMES, type AuthenticationCreds, isWABusinessPlatform } from '@whiskeysockets/baileys';
import type { InstancePatch } from '#actors/model.ts';
import { type ArchivedRows, type Arrival, type ArrivingSession, type Identity, type MovedKey, SourceProblem } from '#actors/ports.ts';
import { bare, userOf } from '../platform/wire/jid.ts';
import { encodeCredentials, encodeKey } from '../platform/keys/key-codec.ts';
import { patchType } from '../platform/keys/patch-notes.ts';
import { type RunNote, runId, runType } from '../platform/keys/unclean-runs.ts';
import { isCarried } from './library-form.ts';
import { reasonOf } from './readers/folder.ts';
import { type Found, type FoundSession, SourceFault, type SourceState } from './session.ts';

/**
 * Largest number of characters in the keys of one session. All keys of a session are in memory at the same time. A session with 5,000 contacts has some 15
 * million characters.
 */
const mostKeyText = 128 << 20;

const identityOf = ({ me, platform }: AuthenticationCreds): Identity => ({
  jid: me?.id ?? '',
  lid: bare(me?.lid),
  owner: userOf(me?.id ?? ''),
  profileName: me?.name && me.name !== '~' ? me.name : '',
  isBusiness: platform !== undefined && isWABusinessPlatform(platform),
  platform: (platform ?? '').toLowerCase(),
});

/**
 * The note that marks the source as a run that ended uncleanly. The store of the source may be a copy that is older than the last message. With this note,
 * every sending chain moves forward once, so that no message key is used twice.
 */
const uncleanSource: RunNote = { run: 0, open: true, unclean: -1 };

/**
 * Returns the notes for the first connection. With these notes, the connection reads the collections of the shared state from their beginning, and thereby gets
 * contacts, labels and settings of chats.
 */
const notesFor = ({ myAppStateKeyId }: AuthenticationCreds): readonly MovedKey[] => [
  { type: runType, id: runId, value: encodeKey(uncleanSource) },
  ...(myAppStateKeyId === undefined ? [] : ALL_WA_PATCH_NAMES.map((name) => ({ type: patchType, id: name, value: encodeKey(0) }))),
];

/** Raises the next id above the ids of the stored pre-keys. Otherwise an id would be used twice. */
const withFreeIds = (creds: AuthenticationCreds, highest: number): AuthenticationCreds => ({
  ...creds,
  nextPreKeyId: Math.max(creds.nextPreKeyId, highest + 1),
  firstUnuploadedPreKeyId: Math.max(1, creds.firstUnuploadedPreKeyId),
});

/** Fields of an instance that an archive contains, with their types. */
const ownSettings = {
  systemName: 'string',
  browser: 'string',
  system: 'string',
  adminField01: 'string',
  adminField02: 'string',
  fieldsMap: 'object',
  msgDelayMin: 'number',
  msgDelayMax: 'number',
} as const satisfies Partial<Record<keyof InstancePatch, string>>;

const settingsOf = (own: Readonly<Record<string, unknown>> = {}): InstancePatch =>
  Object.fromEntries(
    Object.entries(ownSettings)
      .filter(([name, type]) => typeof own[name] === type)
      .map(([name]) => [name, own[name]]),
  ) as InstancePatch;

const stateNotes: Readonly<Record<SourceState, readonly string[]>> = {
  loggedOut: [],
  connected: ['the source says that it is connected there: stop it there before you connect it here'],
  stopped: [],
  unknown: ['the source does not say whether it is connected there: stop it there before you connect it here'],
};

const longestName = 100;
const shortName = (name: string): string =>
  name
    .replaceAll(/\p{Cc}/gu, '')
    .trim()
    .slice(0, longestName);

/** Yields the rows. A `SourceFault` becomes a `SourceProblem`, the error that the port defines. */
async function* withPortErrors(rows: AsyncIterable<ArchivedRows>): AsyncIterable<ArchivedRows> {
  try {
    yield* rows;
  } catch (error) {
    throw error instanceof SourceFault ? new SourceProblem(error.message) : error;
  }
}

const arrivingOf = async (found: FoundSession): Promise<ArrivingSession> => {
  const { creds, settings, state, notes, endedAt, rows } = found;
  const keys: MovedKey[] = [];
  let [text, highest] = [0, 0];
  for await (const { type, id, value } of found.keys()) {
    if (!isCarried(type)) continue;
    if (type === 'pre-key') highest = Math.max(highest, Number(id) || 0);
    const key = { type, id, value: encodeKey(value) };
    if ((text += key.value.length) > mostKeyText) throw new SourceFault('the keys of the session take more than 128 MB');
    keys.push(key);
  }
  return {
    name: shortName(found.name) || userOf(creds.me?.id ?? ''),
    identity: identityOf(creds),
    credentials: encodeCredentials(withFreeIds(creds, highest)),
    keys: [...keys, ...notesFor(creds)],
    token: settings.token,
    proxy: settings.proxy,
    webhooks: settings.webhooks,
    settings: settingsOf(settings.own),
    lost: settings.lost,
    notes: [...stateNotes[state], ...notes],
    ...(endedAt !== undefined && { endedAt }),
    ...(rows && { rows: () => withPortErrors(rows()) }),
  };
};

/** Reads the whole session. A fault of the session becomes a refusal. */
export const arrivalOf = async (found: Found): Promise<Arrival> => {
  if (found.found === 'refused') return { ...found, name: shortName(found.name) };
  const name = shortName(found.name);
  if (found.state === 'loggedOut') return { found: 'refused', name, reason: 'the platform ended this session: it can only be paired anew' };
  try {
    return { found: 'session', session: await arrivingOf(found) };
  } catch (error) {
    return { found: 'refused', name, reason: reasonOf(error) };
  }
};
