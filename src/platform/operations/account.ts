/** Operations on the account, on pictures of people and groups, and on calls. */
import { type Picture, type PrivacyCategory, type PrivacySettings, privacyValues, refuse } from '#actors/model.ts';
import type { AccountOperations, CallOperations, PictureOperations } from '#actors/ports.ts';
import { setAction } from '../app-state/actions.ts';
import { fromCall } from '../events/from-calls.ts';
import type { LiveConnection } from '../outbound/live-connection.ts';
import { bare, formsOf, isPerson, personServer, resolveTarget } from '../wire/jid.ts';
import { answered, answerOf, refused, refusedAs } from '../wire/outcomes.ts';
import { isCarried } from '../wire/stanza-codec.ts';
import { reasonOf } from './refusal-words.ts';
import { type Handlers, pictureQuery } from './requests.ts';

// Operations on the account itself.

const isCategory = (name: string): name is PrivacyCategory => Object.hasOwn(privacyValues, name);

/** Returns the settings without categories and values that this version does not know. */
const privacyOf = (settings: Readonly<Record<string, string>>): PrivacySettings =>
  Object.fromEntries(
    Object.entries(settings).filter(([name, value]) => isCategory(name) && (privacyValues[name] as readonly string[]).includes(value)),
  );

/** Reads the privacy settings. The library caches the last answer for read receipts, and a forced query refreshes this cache too. */
const fetchPrivacy = async ({ sock }: LiveConnection): Promise<PrivacySettings> => privacyOf(await sock.fetchPrivacySettings(true));

const setPrivacy = ({ sock }: LiveConnection, name: string, value: string): Promise<unknown> =>
  sock.query({
    tag: 'iq',
    attrs: { xmlns: 'privacy', to: personServer, type: 'set' },
    content: [{ tag: 'privacy', attrs: {}, content: [{ tag: 'category', attrs: { name, value } }] }],
  });

/**
 * Sets a new name. Emits the same event as a change by another device. The event updates the credentials and the stored profile, and makes the library send the
 * name to the platform. If the library would encode the name wrongly, this function sends the name without `@`, as the library does with each presence.
 */
const announce = async ({ sock }: LiveConnection, name: string): Promise<void> => {
  const { creds } = sock.authState;
  if (!creds.me) return;
  const me = { ...creds.me, name };
  const carried = isCarried(name);
  if (!carried) creds.me = me;
  sock.ev.emit('creds.update', { me });
  if (!carried) await sock.sendNode({ tag: 'presence', attrs: { name: name.replaceAll('@', '') } });
};

/** Sends the presence, also while the own name is unknown. The library needs the name, but the platform does not (vinikjkkj/zapo `builders/presence.ts`). */
const sendPresence = async ({ sock, directory }: LiveConnection, presence: 'available' | 'unavailable'): Promise<void> => {
  if (directory.me.name !== '') return sock.sendPresenceUpdate(presence);
  sock.ev.emit('connection.update', { isOnline: presence === 'available' });
  await sock.sendNode({ tag: 'presence', attrs: { type: presence } });
};

export const accountHandlers: Handlers<AccountOperations> = {
  'account.presence': async (connection, { presence }) => {
    await sendPresence(connection, presence);
    return answered(null);
  },

  'account.limits': async ({ standing }) => {
    const [timeLock, cap] = await Promise.all([standing.timeLock(), standing.cap()]);
    return answered({ timeLock, cap });
  },

  'account.privacy': async (connection) => answered(await fetchPrivacy(connection)),

  'account.changePrivacy': async (connection, change) => {
    const changed: string[] = [];
    for (const [name, value] of Object.entries(change)) {
      const set = await answerOf(setPrivacy(connection, name, value), () => connection.sock.ws.isOpen);
      if (!set.ok) {
        const before = changed.length === 0 ? '' : ` (changed already: ${changed.join(', ')})`;
        const { code = 0, message } = set.refusal;
        return refused(code, `the platform refused to change "${name}": ${reasonOf('account.changePrivacy', code, message)}${before}`);
      }
      changed.push(name);
    }
    return answered(await fetchPrivacy(connection));
  },

  'account.picture': async ({ sock, directory }, { jpeg }) => {
    await sock.query(pictureQuery(null, jpeg));
    // The platform informs only the other devices of a new picture. This event triggers the look-up of the picture's new address.
    sock.ev.emit('contacts.update', [{ id: directory.me.pn, imgUrl: jpeg === null ? 'removed' : 'changed' }]);
    return answered(null);
  },

  'account.rename': async (connection, { name }) => {
    const written = await connection.shared.patch([setAction('setting_pushName', [], { pushNameSetting: { name } })]);
    if (!written.ok) return written;
    await announce(connection, name);
    return answered(null);
  },
};

export const callHandlers: Handlers<CallOperations> = {
  'call.reject': async ({ sock, calls, directory, loadMappings }, { number, id }) => {
    const target = number === '' ? null : resolveTarget(number);
    if (target?.ok === false) return refuse('invalid', target.message);
    if (target) await loadMappings([target.jid]);
    // The platform may have named the caller by LID, by number, or by both.
    const ids = target && (isPerson(target.jid) ? formsOf(target.jid) : [target.jid]);
    const callers = ids && new Set([...ids, ...ids.flatMap((one) => [directory.lid(one), directory.pn(one)])].filter((one) => one !== ''));
    const call = calls.find(
      (one) => (id === '' || one.id === id) && (callers === null || one.people.some((who) => callers.has(bare(who)))),
    );
    if (call === null) return refuse('notFound', 'no such call is ringing');
    const { from } = call.event;
    const answer = await sock.query({
      tag: 'call',
      attrs: { from: directory.me.pn, to: from, id: sock.generateMessageTag() },
      content: [{ tag: 'reject', attrs: { 'call-id': call.id, 'call-creator': from, count: '0' } }],
    });
    const code = (answer as { readonly attrs?: Readonly<Record<string, string>> } | undefined)?.attrs?.['error'];
    calls.end(call.id);
    if (code !== undefined) return refusedAs(Number(code), '');
    return answered(null, fromCall({ ...call.event, status: 'reject', date: new Date(directory.now()) }, directory));
  },

  'call.make': async (_connection, { number }) => {
    const target = resolveTarget(number);
    if (!target.ok) return refuse('invalid', target.message);
    return refuse(
      'notSupported',
      'calls cannot be placed: the platform takes them from clients with sound, and the client library has none',
    );
  },
};

// Operations on pictures of people and groups.

/** The states of a picture by the platform's error code. */
const states: Readonly<Record<number, Picture['state']>> = { 404: 'absent', 401: 'hidden', 403: 'hidden' };

export const pictureHandlers: Handlers<PictureOperations> = {
  'picture.look': async ({ sock, groups }, { id, kind }) => {
    const asked = await answerOf(sock.profilePictureUrl(id, kind), () => sock.ws.isOpen);
    const found = (state: Picture['state'], url: string) => answered({ state, url }, groups.pictured(id, kind, url));
    if (asked.ok) return found(asked.value ? 'there' : 'absent', asked.value ?? '');
    const state = states[asked.refusal.code ?? 0];
    return state === undefined ? asked : found(state, '');
  },
};
