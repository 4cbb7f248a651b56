/** Requests of clients about groups: make, read, change, join and leave them. */
import { isGroupJid } from '../address.ts';
import { SandboxError } from '../face.ts';
import { rankOf, type Group } from '../groups.ts';
import { child, children, firstChild, node, text, type BinaryNode } from '../nodes.ts';
import type { Person } from '../people.ts';
import type { Answer, DeviceQueries, DeviceQuery } from './query.ts';

/** The group that a request is sent to, and the member who sent it. */
interface Asked {
  readonly group: Group;
  readonly me: Person;
}

function asked({ parts, device, stanza }: DeviceQuery): Asked {
  const jid = stanza.attrs['to'] ?? '';
  const group = isGroupJid(jid) ? parts.groups.get(jid) : undefined;
  const me = parts.people.ensure(device.number);
  if (!group) throw new SandboxError(404, 'item-not-found');
  if (rankOf(group, me.number) === undefined) throw new SandboxError(403, 'forbidden');
  return { group, me };
}

function asAdmin(query: DeviceQuery): Asked {
  const found = asked(query);
  if (!rankOf(found.group, found.me.number)) throw new SandboxError(403, 'forbidden');
  return found;
}

/** For subject and description: everybody may change them unless the group is locked. */
const asEditor = (query: DeviceQuery): Asked => (asked(query).group.locked ? asAdmin(query) : asked(query));

function peopleIn({ parts }: DeviceQuery, parent: BinaryNode | undefined): { readonly jid: string; readonly person: Person | undefined }[] {
  return children(parent, 'participant')
    .slice(0, 1024)
    .map(({ attrs }) => ({ jid: attrs['jid'] ?? '', person: parts.people.resolve(attrs['jid'])?.person }));
}

/** The answer to a change of participants. Those whom the change did not apply to carry an error. */
function echo(query: DeviceQuery, tag: string, apply: (people: Person[]) => Person[], error: string): Answer {
  const wanted = peopleIn(query, query.request);
  const done = new Set(apply(wanted.flatMap(({ person }) => person ?? [])));
  return [
    node(
      tag,
      {},
      wanted.map(({ jid, person }) => node('participant', { jid, error: person && done.has(person) ? undefined : person ? error : '404' })),
    ),
  ];
}

type Flag = (group: Group) => void;

/** Settings whose request is a single tag. The same tag notifies the members. */
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

  'w:g2/get/query': (query) => [query.parts.groups.groupNode(asked(query).group)],

  'w:g2/get/participating': ({ parts, device }) => [
    node(
      'groups',
      {},
      parts.groups.of(device.number).map((group) => parts.groups.groupNode(group)),
    ),
  ],

  'w:g2/set/create': (query) => {
    const { parts, device, request } = query;
    const members = peopleIn(query, request).flatMap(({ person }) => person ?? []);
    const group = parts.groups.create(request?.attrs['subject'] ?? '', parts.people.ensure(device.number), members, 'pn');
    return [parts.groups.groupNode(group)];
  },

  'w:g2/set/add': (query) => {
    const { group, me } = asked(query).group.adminAdd ? asAdmin(query) : asked(query);
    return echo(query, 'add', (people) => query.parts.groups.add(group, me, people), '409');
  },
  'w:g2/set/remove': (query) => {
    const { group, me } = asAdmin(query);
    return echo(query, 'remove', (people) => query.parts.groups.remove(group, me, people), '404');
  },
  'w:g2/set/promote': (query) => {
    const { group, me } = asAdmin(query);
    return echo(query, 'promote', (people) => query.parts.groups.rank(group, me, people, 'admin'), '404');
  },
  'w:g2/set/demote': (query) => {
    const { group, me } = asAdmin(query);
    return echo(query, 'demote', (people) => query.parts.groups.rank(group, me, people, null), '404');
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
  // Joining needs no approval here, so there are never requests for it.
  'w:g2/get/membership_approval_requests': (query) => [asAdmin(query) && node('membership_approval_requests')],
  'w:g2/set/membership_requests_action': (query) => [
    asAdmin(query) && node('membership_requests_action', {}, [node(firstChild(query.request ?? node('none'))?.tag ?? 'approve')]),
  ],

  'w:g2/get/invite': (query) => {
    const { parts, request } = query;
    const code = request?.attrs['code'];
    if (code) return [parts.groups.groupNode(parts.groups.byInvite(code))];
    return [node('invite', { code: asAdmin(query).group.invite })];
  },
  'w:g2/set/invite': (query) => {
    const { parts, device, request } = query;
    const code = request?.attrs['code'];
    if (code) {
      const group = parts.groups.byInvite(code);
      const me = parts.people.ensure(device.number);
      parts.groups.add(group, me, [me]);
      return [node('group', { jid: group.jid })];
    }
    const { group, me } = asAdmin(query);
    group.invite = parts.random.bytes(12).toString('base64url');
    parts.groups.announceChange(group, me, node('invite', { code: group.invite }));
    return [node('invite', { code: group.invite })];
  },
  'w:g2/set/revoke': (query) => [asAdmin(query) && node('revoke')],
  'w:g2/set/accept': (query) => {
    const { parts, device, request } = query;
    const group = parts.groups.byInvite(request?.attrs['code'] ?? '');
    const me = parts.people.ensure(device.number);
    parts.groups.add(group, me, [me]);
    return undefined;
  },
};
