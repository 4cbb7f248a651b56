/** Requests about people (usync): identifiers, devices, and whether a number has an account. */
import { proto } from '@whiskeysockets/baileys';
import { SandboxError } from '../interface.ts';
import { devicesOf, hashOf, keyIndexList } from '../device-lists.ts';
import { type Addressing, isMissingNumber, isNumber, lidJid, parseUser, pnJid } from '../address.ts';
import { child, children, node, text, unixSeconds, type BinaryNode } from '../nodes.ts';
import type { Parts } from '../parts.ts';
import type { Person } from '../people.ts';
import { maySee } from '../account.ts';
import type { DeviceQueries, DeviceQuery } from './query.ts';

/** Largest number of users in one request. */
const maxUsers = 5000;

interface Subject {
  readonly jid: string;
  readonly person: Person | undefined;
  /** True if the number has an account that accepts messages. */
  readonly reachable: boolean;
  readonly byLid: boolean;
  /** The number as the request has it; '' if the request has a jid. */
  readonly asked: string;
}

type ProtocolHandler = (query: DeviceQuery, subject: Subject) => BinaryNode | undefined;

/** The handler of each protocol (kind of data) that a request may name. A request with an unknown protocol is refused. */
const protocols: Readonly<Record<string, ProtocolHandler>> = {
  // The answer repeats the number as the request has it.
  contact: (_query, { person, reachable, asked }) =>
    node('contact', { type: person || reachable ? 'in' : 'out' }, asked && Buffer.from(asked)),
  lid: (_query, { person, byLid }) => (person && !byLid && !person.withoutLid ? node('lid', { val: lidJid(person.lid) }) : undefined),
  devices: ({ parts, connection }, { person, byLid }) => {
    if (!person) return undefined;
    connection.knows.add(person.number);
    return deviceList(parts, person, byLid ? 'lid' : 'pn');
  },
  status: ({ parts, device }, { person }) => {
    const hidden = person && !maySee(parts, person, parts.people.ensure(device.number), 'status');
    return hidden
      ? node('status', { code: '401', type: 'fail' })
      : node('status', { t: unixSeconds(Date.now()) }, Buffer.from(person?.about ?? ''));
  },
  business: (_query, { person }) => {
    if (!person?.businessName) return undefined;
    const details = proto.VerifiedNameCertificate.Details.encode({ verifiedName: person.businessName }).finish();
    const certificate = proto.VerifiedNameCertificate.encode({ details }).finish();
    return node('business', {}, [node('verified_name', { v: '2' }, certificate)]);
  },
  // Known protocols for which the simulated platform has no data.
  picture: () => undefined,
  username: () => undefined,
  text_status: () => undefined,
  bot: () => undefined,
  sidelist: () => undefined,
  disappearing_mode: (_query, { person }) => node('disappearing_mode', { duration: String(person?.disappearing ?? 0), t: '0' }),
};

/**
 * Returns the address attributes of an account. Since 2026-07-13 a request with `addressing_mode="lid"` names accounts by LID, and numbers without a known
 * account by `pn_jid` alone (tulir/whatsmeow 6e4c3416). An account with a hidden LID is named by its number in `jid`.
 */
function addressesOf({ jid, person, reachable }: Subject, byLid: boolean): Record<string, string> {
  if (!byLid || jid.endsWith('@lid') || person?.withoutLid) return { jid };
  if (!person || !reachable) return { pn_jid: jid };
  return person.withoutNumber ? { jid: lidJid(person.lid) } : { jid: lidJid(person.lid), pn_jid: jid };
}

const isReachable = (jid: string): boolean => {
  const user = parseUser(jid)?.user ?? '';
  return isNumber(user) && !isMissingNumber(user);
};

/** Makes the list of a person's devices, with the list of their key indexes. A phone without linked devices has published no key indexes. */
function deviceList(parts: Parts, person: Person, addressing: Addressing): BinaryNode {
  const devices = parts.people.devices(person.number);
  const linked = devices.map((one) => node('device', { id: String(one.device), 'key-index': String(one.keyIndex) }));
  const hash = hashOf(devicesOf(parts, person), addressing);
  const list = node('device-list', { hash }, [node('device', { id: '0' }), ...linked]);
  return node('devices', {}, devices.length === 0 ? [list] : [list, keyIndexList(parts, person)]);
}

export const usyncQueries: DeviceQueries = {
  'usync/get/usync': (query) => {
    const { request, parts, device } = query;
    const asked = child(request, 'query');
    const names = Array.isArray(asked?.content)
      ? asked.content.flatMap((one) => (typeof one === 'object' && 'tag' in one ? [one.tag] : []))
      : [];
    for (const name of names) if (!protocols[name]) parts.counters.unknown(`usync/${name}`);
    if (!names.every((name) => Object.hasOwn(protocols, name))) throw new SandboxError(501, 'feature-not-implemented');
    if (names.includes('contact')) {
      parts.counters.lookups.requests += 1;
      parts.counters.lookups.numbers += children(child(request, 'list'), 'user').length;
      const refused = parts.faults.take('refuseLookups', device.number);
      if (refused) throw new SandboxError(refused.code ?? 429, 'rate-overlimit');
    }
    const contact = child(asked, 'contact');
    const byLid = contact?.attrs['addressing_mode'] === 'lid';
    if (contact && !byLid && parts.versions.newForms) throw new SandboxError(400, 'bad-request');
    const needsPerson = byLid || names.some((name) => name !== 'contact');
    const users = children(child(request, 'list'), 'user')
      .slice(0, maxUsers)
      .flatMap((user) => {
        const subject = subjectOf(query, user, needsPerson);
        if (!subject) return [];
        const answers = names.flatMap((name) => protocols[name]?.(query, subject) ?? []);
        return [node('user', addressesOf(subject, byLid), answers)];
      });
    const { sid, index, last, mode, context } = request?.attrs ?? {};
    return [node('usync', { sid, index, last, mode, context }, [node('result'), node('list', {}, users)])];
  },
};

/**
 * Finds the person by jid, or by a `+number` in `<contact>`. A number in `<contact>` finds an account by both forms of a Brazilian number. An unknown number
 * creates a person only if the answer needs the person (`needsPerson`).
 */
function subjectOf({ parts: { people } }: DeviceQuery, user: BinaryNode, needsPerson: boolean): Subject | undefined {
  const asked = text(child(user, 'contact')) ?? '';
  const number = asked.replaceAll(/\D/g, '');
  const jid = user.attrs['jid'] ?? (number ? pnJid(people.canonical(number)) : undefined);
  const address = parseUser(jid);
  if (jid === undefined || !address) return undefined;
  const byLid = address.addressing === 'lid';
  const gone = !byLid && (people.find(address.user)?.absent === true || people.canonical(address.user) !== address.user);
  const reachable = !gone && isReachable(jid);
  const known = byLid || (needsPerson && reachable) ? people.resolve(jid)?.person : people.find(address.user);
  return { jid, person: gone || known?.absent ? undefined : known, reachable, byLid, asked };
}
