/** Requests of clients about groups: make, read, change, join and leave them. */
import { isGroupJid, jidOf } from '../address.ts';
import {
  acceptInvitation,
  createCommunity,
  decide,
  exists,
  joinByCode,
  refusalOf,
  refused,
  request as requestMembership,
  requestNodes,
} from '../communities.ts';
import { SandboxError } from '../interface.ts';
import { rankOf, type Group } from '../groups.ts';
import { child, children, firstChild, node, text, type BinaryNode } from '../nodes.ts';
import type { Person } from '../people.ts';
import type { Parts } from '../parts.ts';
import type { Answer, DeviceQueries, DeviceQuery } from './query.ts';

/** The group to which a request is sent, and the member who sent it. */
export interface Asked {
  readonly group: Group;
  readonly me: Person;
}

export function asMember({ parts, device, stanza }: DeviceQuery): Asked {
  const jid = stanza.attrs['to'] ?? '';
  const group = isGroupJid(jid) ? parts.groups.get(jid) : undefined;
  const me = parts.people.ensure(device.number);
  if (!group) throw new SandboxError(404, 'item-not-found');
  if (rankOf(group, me.number) === undefined) throw new SandboxError(403, 'forbidden');
  return { group, me };
}

export function asAdmin(query: DeviceQuery): Asked {
  const found = asMember(query);
  if (!rankOf(found.group, found.me.number)) throw new SandboxError(403, 'forbidden');
  return found;
}

/** Checks the right to change subject, description and timer. In a locked group only admins have the right. */
const asEditor = (query: DeviceQuery): Asked => (asMember(query).group.locked ? asAdmin(query) : asMember(query));

interface NamedPerson {
  readonly jid: string;
  readonly person: Person | undefined;
  readonly element: BinaryNode;
}

function peopleIn({ parts }: DeviceQuery, parent: BinaryNode | undefined): NamedPerson[] {
  return children(parent, 'participant')
    .slice(0, 1024)
    .map((element) => ({ jid: element.attrs['jid'] ?? '', person: parts.people.resolve(element.attrs['jid'])?.person, element }));
}

/** Returns the error code if the account cannot add a person. A missing privacy token of the person also gives 403. */
const errorOf = (parts: Parts, group: Group | undefined, me: Person, { person, element }: NamedPerson) =>
  refusalOf(parts, group, me, person) ?? (person && !parts.tokens.isShown(person, me, element, 'privacy') ? ('403' as const) : undefined);

/**
 * Refuses new members who are named by LID without the number (WhiskeySockets/Baileys 2001). With the new forms, also refuses new members who are named by
 * number. Since 2026-08-06 requests name people by LID and add the number (tulir/whatsmeow 39b719ba, 1142895b). People without a LID are named by number.
 */
function checkNewcomers({ parts }: DeviceQuery, parent: BinaryNode | undefined): void {
  for (const { attrs } of children(parent, 'participant')) {
    const person = parts.people.resolve(attrs['jid'])?.person;
    if (!exists(person)) continue;
    const { jid, phone_number: number } = attrs;
    const hasNumber = number === jidOf(person, 'pn') || (number === undefined && person.withoutNumber);
    if (jid?.endsWith('@lid') ? !hasNumber : parts.versions.newForms && !person.withoutLid) throw new SandboxError(400, 'bad-request');
  }
}

/** Changes participants with `apply`, and makes the answer. People to whom the change did not apply have an error in the answer. */
function echo(query: DeviceQuery, tag: string, apply: (people: Person[]) => Person[], errorOf: (person: Person) => string): Answer {
  const wanted = peopleIn(query, query.request);
  const done = new Set(apply(wanted.flatMap(({ person }) => person ?? [])));
  return [
    node(
      tag,
      {},
      wanted.map(({ jid, person }) =>
        node('participant', { jid, error: person && done.has(person) ? undefined : person ? errorOf(person) : '404' }),
      ),
    ),
  ];
}

/** The settings that a request for a new group may contain in addition to its participants. */
const firstSettings: Readonly<Record<string, (group: Group, given: BinaryNode, me: Person) => void>> = {
  announcement: (group) => (group.announce = true),
  locked: (group) => (group.locked = true),
  description: (group, given, me) => {
    const written = text(child(given, 'body')) ?? '';
    if (written !== '') group.description = { id: given.attrs['id'] ?? '', text: written.slice(0, 2048), by: me.number, at: Date.now() };
  },
  ephemeral: (group, given) => (group.ephemeral = Number(given.attrs['expiration'] ?? 0) || 0),
  member_add_mode: (group, given) => (group.adminAdd = text(given) === 'admin_add'),
  membership_approval_mode: (group, given) => (group.approval = child(given, 'group_join')?.attrs['state'] === 'on'),
  // `create` reads the fields that make a group a community.
  parent: () => undefined,
  create_general_chat: () => undefined,
  allow_non_admin_sub_group_creation: () => undefined,
};

/** Makes a group or a community. People who cannot be added have an error in the answer. */
function create(query: DeviceQuery): Answer {
  const { parts, device, request } = query;
  const me = parts.people.ensure(device.number);
  const set = (Array.isArray(request?.content) ? (request.content as BinaryNode[]) : []).filter(({ tag }) => tag !== 'participant');
  const unknown = set.find(({ tag }) => !Object.hasOwn(firstSettings, tag));
  if (unknown) {
    parts.counters.unknown(`w:g2/set/create/${unknown.tag}`);
    throw new SandboxError(501, 'feature-not-implemented');
  }
  const states = ['member_add_mode', 'ephemeral', 'membership_approval_mode'].every((tag) => child(request, tag) !== undefined);
  if (parts.versions.newForms && (request?.attrs['key'] !== undefined || !states)) throw new SandboxError(400, 'bad-request');
  checkNewcomers(query, request);
  const wanted = peopleIn(query, request)
    .filter(({ person }) => person !== me)
    .map((one) => ({ ...one, error: errorOf(parts, undefined, me, one) }));
  const members = wanted.flatMap(({ person, error }) => (person && error === undefined ? [person] : []));
  const subject = request?.attrs['subject'] ?? '';
  const parent = child(request, 'parent');
  const group = parent
    ? createCommunity(parts, me, {
        subject,
        addressing: 'lid',
        general: child(request, 'create_general_chat') !== undefined,
        approval: parent.attrs['default_membership_approval_mode'] === 'request_required',
      })
    : parts.groups.create(subject, me, members, 'lid');
  // For a community, an attribute of `<parent>` defines whether admins approve new members.
  for (const one of set) if (!parent || one.tag !== 'membership_approval_mode') firstSettings[one.tag]?.(group, one, me);
  parts.groups.save(group);
  const left = wanted.flatMap(({ jid, person, error }) => (error === undefined ? [] : [refused(parts, group, me, jid, person, error)]));
  const made = parts.groups.groupNode(group);
  return [{ ...made, content: [...(Array.isArray(made.content) ? (made.content as BinaryNode[]) : []), ...left] }];
}

type Flag = (group: Group) => void;

/** Settings whose request is a single tag. The notification of the members has the same tag. */
const flags: Readonly<Record<string, Flag>> = {
  announcement: (group) => (group.announce = true),
  not_announcement: (group) => (group.announce = false),
  locked: (group) => (group.locked = true),
  unlocked: (group) => (group.locked = false),
};

const flagQueries: DeviceQueries = Object.fromEntries(
  Object.entries(flags).map(([tag, set]) => [
    `w:g2/set/${tag}`,
    (query: DeviceQuery) => {
      const { group, me } = asAdmin(query);
      set(group);
      query.parts.groups.announceChange(group, me, node(tag));
      return undefined;
    },
  ]),
);

export const groupQueries: DeviceQueries = {
  ...flagQueries,

  'w:g2/get/query': (query) => {
    const { parts, device, stanza, request } = query;
    parts.counters.groups.metadata += 1;
    const code = child(request, 'add_request')?.attrs['code'];
    const group = code === undefined ? undefined : parts.groups.find(stanza.attrs['to'] ?? '');
    const invited = group?.invited?.some((one) => one.code === code && one.number === device.number);
    return [parts.groups.groupNode(group && invited ? group : asMember(query).group)];
  },

  'w:g2/get/participating': ({ parts, device }) => {
    parts.counters.groups.lists += 1;
    const groups = parts.groups.of(device.number).map((group) => parts.groups.groupNode(group));
    return [node('groups', {}, groups)];
  },

  'w:g2/set/create': create,

  'w:g2/set/add': (query) => {
    const { parts } = query;
    const { group, me } = asMember(query).group.adminAdd ? asAdmin(query) : asMember(query);
    checkNewcomers(query, query.request);
    const wanted = peopleIn(query, query.request).map((one) => ({ ...one, error: errorOf(parts, group, me, one) }));
    const welcome = wanted.flatMap(({ person, error }) => (person && error === undefined ? [person] : []));
    const waiting = group.approval && !rankOf(group, me.number);
    if (waiting) for (const person of welcome) requestMembership(parts, group, person, 'non_admin_add');
    else parts.groups.add(group, me, welcome);
    const answers = wanted.map(({ jid, person, error }) =>
      error === undefined
        ? node('participant', { jid, error: waiting ? '421' : undefined })
        : refused(parts, group, me, jid, person, error),
    );
    return [node('add', {}, answers)];
  },
  'w:g2/set/remove': (query) => {
    const { group, me } = asAdmin(query);
    // The creator cannot be removed from the group.
    const apply = (people: Person[]): Person[] =>
      query.parts.groups.remove(
        group,
        me,
        people.filter(({ number }) => rankOf(group, number) !== 'superadmin'),
      );
    return echo(query, 'remove', apply, ({ number }) => (rankOf(group, number) === undefined ? '404' : '406'));
  },
  'w:g2/set/promote': (query) => {
    const { group, me } = asAdmin(query);
    return echo(
      query,
      'promote',
      (people) => query.parts.groups.rank(group, me, people, 'admin'),
      () => '404',
    );
  },
  'w:g2/set/demote': (query) => {
    const { group, me } = asAdmin(query);
    return echo(
      query,
      'demote',
      (people) => query.parts.groups.rank(group, me, people, null),
      () => '404',
    );
  },

  'w:g2/set/leave': ({ parts, device, request }) => {
    const me = parts.people.ensure(device.number);
    const left = children(request, 'group').map(({ attrs }) => attrs['id'] ?? '');
    for (const jid of left) {
      const group = parts.groups.find(jid);
      if (group) parts.groups.remove(group, me, [me]);
    }
    return [
      node(
        'leave',
        {},
        left.map((id) => node('group', { id })),
      ),
    ];
  },

  'w:g2/set/subject': (query) => {
    const { group, me } = asEditor(query);
    query.parts.groups.setSubject(group, me, text(query.request) ?? '');
    return undefined;
  },
  'w:g2/set/description': (query) => {
    const { group, me } = asEditor(query);
    const { id, prev } = query.request?.attrs ?? {};
    if ((prev ?? undefined) !== group.description?.id) throw new SandboxError(409, 'conflict');
    query.parts.groups.setDescription(group, me, text(child(query.request, 'body')) ?? '', id);
    return undefined;
  },

  'w:g2/set/ephemeral': (query) => {
    const { group, me } = asEditor(query);
    const expiration = query.request?.attrs['expiration'] ?? '0';
    group.ephemeral = Number(expiration) || 0;
    query.parts.groups.announceChange(group, me, node('ephemeral', { expiration }));
    return undefined;
  },
  'w:g2/set/not_ephemeral': (query) => {
    const { group, me } = asEditor(query);
    group.ephemeral = 0;
    query.parts.groups.announceChange(group, me, node('not_ephemeral'));
    return undefined;
  },
  'w:g2/set/member_add_mode': (query) => {
    const { group, me } = asAdmin(query);
    const mode = text(query.request) === 'admin_add' ? 'admin_add' : 'all_member_add';
    group.adminAdd = mode === 'admin_add';
    query.parts.groups.announceChange(group, me, node('member_add_mode', {}, Buffer.from(mode)));
    return undefined;
  },
  'w:g2/set/membership_approval_mode': (query) => {
    const { group, me } = asAdmin(query);
    const state = child(query.request, 'group_join')?.attrs['state'] === 'on' ? 'on' : 'off';
    group.approval = state === 'on';
    query.parts.groups.announceChange(group, me, node('membership_approval_mode', {}, [node('group_join', { state })]));
    return undefined;
  },
  'w:g2/get/membership_approval_requests': (query) => {
    const { group } = asAdmin(query);
    return [node('membership_approval_requests', {}, requestNodes(query.parts, group))];
  },
  'w:g2/set/membership_requests_action': (query) => {
    const { group, me } = asAdmin(query);
    const action = firstChild(query.request ?? node('none'));
    if (action?.tag !== 'approve' && action?.tag !== 'reject') throw new SandboxError(400, 'bad-request');
    const wanted = peopleIn(query, action);
    const people = wanted.flatMap(({ person }) => person ?? []);
    const done = new Set(decide(query.parts, group, me, people, action.tag === 'approve'));
    const answers = wanted.map(({ jid, person }) => node('participant', { jid, error: person && done.has(person) ? undefined : '404' }));
    return [node('membership_requests_action', {}, [node(action.tag, {}, answers)])];
  },

  'w:g2/get/invite': (query) => {
    const { parts, request } = query;
    const code = request?.attrs['code'];
    if (code) return [parts.groups.groupNode(parts.groups.byInvite(code))];
    return [node('invite', { code: asAdmin(query).group.invite })];
  },
  'w:g2/set/invite': (query) => {
    const { parts, device, request } = query;
    const code = request?.attrs['code'];
    if (code) return [joinByCode(parts, code, parts.people.ensure(device.number))];
    const { group, me } = asAdmin(query);
    parts.groups.renewInvite(group, me);
    return [node('invite', { code: group.invite })];
  },
  'w:g2/set/revoke': (query) => {
    const { group } = asAdmin(query);
    const wanted = peopleIn(query, query.request);
    const known = (one: Person | undefined): boolean => group.invited?.some(({ number }) => number === one?.number) === true;
    const answers = wanted.map(({ jid, person }) => node('participant', { jid, error: known(person) ? undefined : '404' }));
    group.invited = (group.invited ?? []).filter(({ number }) => !wanted.some(({ person }) => person?.number === number));
    query.parts.groups.save(group);
    return [node('revoke', {}, answers)];
  },
  'w:g2/set/accept': ({ parts, device, stanza, request }) => {
    const group = parts.groups.get(stanza.attrs['to'] ?? '');
    acceptInvitation(parts, group, parts.people.ensure(device.number), request?.attrs['code'] ?? '');
    return [node('group', { jid: group.jid })];
  },
};
