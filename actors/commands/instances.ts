/** Commands on the register of instances: create, list, change, remove. */
import type { InstanceMethods, Unlinked } from '../views.ts';
import { KeyedMutex } from '../waiting.ts';
import { done, isApiKey, noProxy, refuse, unreadableIn, type InstanceId, type InstanceRecord, type Result } from '../model.ts';
import type { Cell } from '../session/cell.ts';
import type { WithCells, WithPorts } from './host.ts';
import type { ProxyChanges } from './proxies.ts';
import type { Register } from './register.ts';

/** The parts of the supervisor that these commands need. */
type Host = WithCells & WithPorts<'chance' | 'time'> & { readonly register: Register };

type InstanceCommands = Pick<
  InstanceMethods,
  'create' | 'all' | 'everywhere' | 'view' | 'current' | 'update' | 'nameLeadFields' | 'remove' | 'rotateToken'
>;

export const tokenLength = 40;

const replaced = refuse('conflict', 'another request has just replaced the token');

export const newRecord = (id: InstanceId, token: string, now: number): InstanceRecord => ({
  id,
  token,
  name: '',
  wanted: 'offline',
  epoch: 1,
  owner: '',
  jid: '',
  lid: '',
  profileName: '',
  profilePicUrl: '',
  isBusiness: false,
  platform: '',
  systemName: '',
  browser: '',
  system: '',
  lastDisconnect: null,
  lastDisconnectReason: '',
  lastDisconnectCause: '',
  adminField01: '',
  adminField02: '',
  aiApikey: '',
  chatbotEnabled: false,
  chatbotIgnoreGroups: false,
  chatbotStopConversation: '',
  chatbotStopMinutes: 0,
  chatbotStopWhenYouSendMsg: 0,
  msgDelayMin: 0,
  msgDelayMax: 0,
  accountLeaves: false,
  fieldsMap: null,
  proxy: null,
  lastActiveAt: now,
  created: now,
  updated: now,
});

/** Merges names of lead fields. An empty name removes an entry. Returns null if no name is left. */
const mergedNames = (known: Readonly<Record<string, unknown>> | null, given: Readonly<Record<string, string>>) => {
  const names = Object.entries({ ...known, ...given }).filter(([, name]) => name !== '');
  return names.length === 0 ? null : Object.fromEntries(names);
};

async function remove(host: Host, cell: Cell): Promise<Result<Unlinked>> {
  const objection = await host.cells.unlink(cell);
  if (objection) return objection;
  await host.cells.settle(cell);
  await cell.stored();
  const stillLinked = cell.lifecycle?.context.stillLinked ?? '';
  await host.register.remove(cell);
  return done({ stillLinked });
}

/** Rotates the token of an instance, one call at a time. If several calls are made with the same old token, only the first call gets a new token. */
const tokenRotation = (host: Host): InstanceCommands['rotateToken'] => {
  const rotating = new KeyedMutex();
  return (id, held = '') =>
    rotating.run(id, () =>
      host.cells.settled(id, async (cell) => {
        // If the stored token cannot be decrypted, the caller's token was already compared by its hash.
        const known = unreadableIn(cell.record, 'token') ? held : cell.record.token;
        if (held !== '' && held !== known) return replaced;
        await host.register.replaceToken(cell, host.ports.chance.token(tokenLength));
        return done(cell.view);
      }),
    );
};

/** Creates the commands. `changed` is called after the settings of an instance changed. */
export function instanceCommands(host: Host, proxies: ProxyChanges, changed: (id: InstanceId) => void): InstanceCommands {
  const { register } = host;
  const { chance, time } = host.ports;
  const naming = new KeyedMutex();
  return {
    async create(input, region) {
      const proxy = region === undefined ? null : await proxies.planned(noProxy, { mode: 'internal', region });
      if (proxy?.ok === false) return proxy;
      const made = newRecord(`r${chance.hex(7)}`, chance.token(tokenLength), time.now());
      const record = { ...made, ...input, proxy: proxy?.value ?? null };
      return done(await register.add(record));
    },
    all: () => register.views(),
    everywhere: () => register.everywhere(),
    view: (id) => register.view(id),
    current: (id) => register.current(id),

    update: (id, patch) =>
      host.cells.settled(id, async (cell) => {
        if (patch.aiApikey && !isApiKey(patch.aiApikey)) return refuse('invalid', 'ai_apikey has characters that no key has');
        await cell.keeper.save(patch);
        changed(id);
        if (patch.msgDelayMin !== undefined || patch.msgDelayMax !== undefined) cell.queue.repace();
        return done(cell.view);
      }),

    // The names are read, merged and saved under a mutex, because concurrent calls would overwrite each other's names.
    nameLeadFields: (id, names) =>
      naming.run(id, () =>
        host.cells.settled(id, async (cell) => {
          await cell.keeper.save({ fieldsMap: mergedNames(cell.record.fieldsMap, names) });
          return done(cell.view);
        }),
      ),

    remove: (id) => host.cells.removal(id, (cell) => remove(host, cell)),

    rotateToken: tokenRotation(host),
  };
}
