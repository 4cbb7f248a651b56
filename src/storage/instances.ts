/** Registered instances: few, read once at start, so plain units of work. */
import type { InstancePatch, InstanceRecord, Wanted } from '#actors/model.ts';
import type { InstanceStore } from '#actors/ports.ts';
import type { Database } from './database.ts';
import { ArchiveEntity, InstanceEntity, WebhookEntity, type InstanceRow } from './entities.ts';
import { placeOf, tokenHash, type Sealer } from './sealing.ts';
import { storable } from './texts.ts';

const tokenPlace = (id: string): string => placeOf('instance', id, 'token');
const apikeyPlace = (id: string): string => placeOf('instance', id, 'ai_apikey');

/** Fields of the record as columns; only those that the patch names. */
const columnsOf = (id: string, { token, aiApikey, ...rest }: InstancePatch, sealer: Sealer): Partial<InstanceRow> => ({
  ...(storable(rest) as typeof rest),
  ...(token === undefined ? {} : { token: sealer.seal(tokenPlace(id), token), tokenHash: tokenHash(token) }),
  ...(aiApikey === undefined ? {} : { aiApikey: sealer.seal(apikeyPlace(id), aiApikey) }),
});

const recordOf = ({ tokenHash: _hash, token, aiApikey, ...row }: InstanceRow, sealer: Sealer): InstanceRecord => ({
  ...row,
  wanted: row.wanted as Wanted,
  lastDisconnect: row.lastDisconnect ?? null,
  fieldsMap: row.fieldsMap ?? null,
  token: sealer.open(tokenPlace(row.id), token),
  aiApikey: sealer.open(apikeyPlace(row.id), aiApikey),
});

export const makeInstanceStore = (database: Database, sealer: Sealer, now: () => number): InstanceStore => ({
  all: () =>
    database.unit(async (em) => {
      const rows = await em.find(InstanceEntity, {}, { orderBy: { created: 'asc', id: 'asc' }, disableIdentityMap: true });
      return rows.map((row) => recordOf(row, sealer));
    }),
  insert: ({ id, created, updated, ...fields }) =>
    database.unit(async (em) => {
      await em.insert(InstanceEntity, { id, created, updated, ...columnsOf(id, fields, sealer) } as InstanceRow);
    }),
  update: (id, patch) =>
    database.unit(async (em) => {
      const changed = await em.nativeUpdate(InstanceEntity, { id }, { ...columnsOf(id, patch, sealer), updated: now() });
      return changed === 1;
    }),
  remove: (id) =>
    database.unit((em) =>
      em.transactional(async (tx) => {
        const own = await tx.find(WebhookEntity, { $or: [{ instance: id }, { instance: null }] }, { disableIdentityMap: true });
        await tx.nativeDelete(InstanceEntity, { id });
        // Afterwards: a courier that ends deliveries meanwhile has either committed by now, or finds nothing left to end.
        await tx.nativeDelete(ArchiveEntity, { webhookId: { $in: own.map((webhook) => webhook.id) }, instanceId: id });
      }),
    ),
});
