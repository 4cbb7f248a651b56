/**
 * Translates own mutations into entries. The library's own reading of mutations is used, so that a change by the API and a change on the phone cannot
 * differ.
 */
import { type BaileysEventEmitter, processSyncAction } from '@whiskeysockets/baileys';
import type { Entry } from '#actors/model.ts';
import type { Directory } from '../wire/directory.ts';
import type { BaileysEvent } from '../events/baileys-event.ts';
import { fromBaileys } from '../events/from-baileys.ts';
import { createBaileysLogger } from './baileys-logger.ts';
import { type Mutation, REMOVE } from './actions.ts';

const noReadings: Parameters<typeof fromBaileys>[2] = new Map();
const quiet = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** A removal is read like a record that says nothing. */
const read = ({ index, value, version, operation }: Mutation, directory: Directory): BaileysEvent[] => {
  const events: BaileysEvent[] = [];
  const emit = (name: string, data: unknown): boolean => {
    // The name and its data belong together by the type of `emit`.
    events.push({ name, data } as BaileysEvent);
    return true;
  };
  const logger = createBaileysLogger(quiet, '', { unread: (action) => void events.push({ name: 'app-state.action', data: action }) });
  const { pn, name } = directory.me;
  const said = operation === REMOVE ? { contactAction: {} } : value;
  const action = { index: Buffer.from(JSON.stringify(index)), value: said, version, padding: new Uint8Array(0) };
  processSyncAction(
    { syncAction: action, index: [...index] },
    { emit } as unknown as BaileysEventEmitter,
    { id: pn, name },
    undefined,
    logger,
  );
  return events;
};

/** A caller who clears or deletes a chat over the API says there what is removed from the database. */
const isErasure = ({ index: [name] }: Mutation): boolean => name === 'clearChat' || name === 'deleteChat';

/** Events that the library itself listens to (addresses, credentials) cause no entries. */
export const entriesOfMutations = (mutations: readonly Mutation[], directory: Directory): Entry[] =>
  mutations
    .filter((mutation) => !isErasure(mutation))
    .flatMap((mutation) => read(mutation, directory))
    .flatMap((event) => fromBaileys(event, directory, noReadings));
