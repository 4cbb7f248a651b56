/** Operations on groups and communities. They do not use the library's methods, which drop the platform's answer about each group or person. */
import { type BinaryNode, getBinaryNodeChild, getBinaryNodeChildren } from '@whiskeysockets/baileys';
import { done, type Entry, type Group, groupAfter, type GroupEvent, refuse, type Result } from '#actors/model.ts';
import type { CommunityOperations, GroupOperations, GroupWish, MemberOutcome, MembersAction, Outcome } from '#actors/ports.ts';
import { createdEntries, goneEntries, groupOfNode, outcomesIn, personOfNode, wholeEntries } from '../events/from-groups.ts';
import { tokenOf } from '../keys/contact-tokens.ts';
import type { LiveConnection } from '../outbound/live-connection.ts';
import { isLid, isPerson, resolveTarget } from '../wire/jid.ts';
import { answered, ifKnown, noMember, refused } from '../wire/outcomes.ts';
import { notCarried } from '../wire/stanza-codec.ts';
import { type Meanings, meant, notAccepted, notCreated } from './refusal-words.ts';
import {
  anyGroup,
  ask,
  element,
  firstSettings,
  groupChangeElement,
  type Handlers,
  inKnownForms,
  membersAnswer,
  membersElement,
  participantOf,
  pictureQuery,
  requestLids,
  settingsAfter,
} from './requests.ts';

// Operations on groups.

const notAdmin = refuse('forbidden', 'User is not an admin of this group');
const notFound = refuse('notFound', 'Group not found');
const ofGroup: Meanings = { 401: notAdmin, 403: notAdmin, 404: notFound };
const ofMember: Meanings = { 401: noMember, 403: noMember, 404: notFound };
const invalidLink = refuse('notFound', 'Group invite link is invalid or has expired');
const invalidCode = refuse('invalid', 'Invalid invite code');
const ofLink: Meanings = {
  400: invalidCode,
  401: invalidLink,
  404: invalidLink,
  406: invalidLink,
  410: invalidLink,
};
const closed = refuse('forbidden', 'Unable to join group');
const ofJoin: Meanings = {
  400: invalidCode,
  404: invalidCode,
  406: invalidCode,
  410: invalidCode,
  401: closed,
  403: closed,
  405: closed,
  419: closed,
  423: closed,
};
/** The platform's code for joining a group of which the account is already a member. */
const alreadyMember = 304;

/** Converts the addresses that a client wrote into ids of people. Refuses an address that is not a person. */
const jidsOf = (people: readonly string[]): Result<readonly string[]> => {
  const jids: string[] = [];
  for (const [place, name] of people.entries()) {
    const target = resolveTarget(name);
    if (!target.ok || !(isPerson(target.jid) || isLid(target.jid)))
      return refuse('invalid', 'Could not parse phone', {
        hint: `participants.${place} must be the digits of a phone number or the id of a person`,
      });
    jids.push(target.jid);
  }
  return done(jids);
};

/** Adds the privacy token of a person, if the account has one (tulir/whatsmeow 8528b5e0). */
const withToken = async ({ sock, directory }: LiveConnection, node: BinaryNode): Promise<BinaryNode> => {
  const token = await tokenOf(sock.authState.keys, node.attrs['jid'] ?? '', directory.now());
  return token === null ? node : { ...node, content: [element('privacy', {}, token)] };
};

/** Builds the elements of people to add to a group, without duplicates. Queries unknown LIDs from the platform. */
const newcomers = async (connection: LiveConnection, jids: readonly string[], action: 'add' | 'create'): Promise<BinaryNode[]> => {
  await requestLids(connection, jids);
  const nodes = jids.map((jid) => participantOf(jid, action, null, connection.directory));
  const people = [...new Map(nodes.map((node) => [node.attrs['jid'], node])).values()];
  return Promise.all(people.map((node) => withToken(connection, node)));
};

/** Names the person of an outcome by number, as in the client's request. The request to the platform has the LID. */
const byNumber = (outcome: MemberOutcome): MemberOutcome => ({
  ...outcome,
  person: { ...outcome.person, id: outcome.person.pn || outcome.person.id },
});

/** Returns the entries that store a group. */
const withEntries = (group: Group | null, connection: LiveConnection): readonly Entry[] =>
  group === null ? [] : wholeEntries(group, connection.directory);

const sendWish = async (connection: LiveConnection, groupId: string, wish: GroupWish): Promise<Outcome<Group | null>> => {
  const known = await ifKnown(connection.groups.get(groupId));
  const sent = groupChangeElement(wish, known?.topic?.id ?? '');
  const asked = await meant(connection, ask(connection, groupId, 'set', sent), 'text' in wish ? { ...ofGroup, ...notAccepted } : ofGroup);
  if (!asked.ok) return asked;
  const group = known && { ...known, ...settingsAfter(wish, sent, connection.directory) };
  return answered(group, withEntries(group, connection));
};

const mostDescribes = 5;

/**
 * Changes the description. A 409 means that another member changed it meanwhile. The group is then queried, and the request is retried. There are at most
 * `mostDescribes` attempts.
 */
const describe = async (connection: LiveConnection, groupId: string, wish: GroupWish): Promise<Outcome<Group | null>> => {
  let outcome = await sendWish(connection, groupId, wish);
  for (let tries = 1; tries < mostDescribes && !outcome.ok && outcome.refusal.code === 409; tries += 1) {
    await connection.groups.fetch(groupId);
    outcome = await sendWish(connection, groupId, wish);
  }
  return outcome;
};

const eventOf = { add: 'join', remove: 'leave', promote: 'promote', demote: 'demote' } as const;

/** Returns the group after a change of members. Approved requests do not change it, because a notification of the platform reports the new members. */
const membersAfter = (group: Group | null, action: MembersAction, outcomes: readonly MemberOutcome[], at: number): Group | null => {
  if (group === null || action === 'reject' || action === 'approve') return group;
  const people = outcomes.filter(({ error }) => error === 0).map(({ person }) => person);
  const change: GroupEvent = { kind: 'members', action: eventOf[action], people };
  return people.length === 0 ? group : groupAfter(group, { groupId: group.id, by: { id: '', pn: '', lid: '' }, at, change });
};

const nodeIn = (answer: BinaryNode, tag: string): BinaryNode => getBinaryNodeChild(answer, tag) ?? element(tag);

/** Returns the id of the group of an invite link; '' if the platform does not name it. */
const groupIdOf = async (connection: LiveConnection, code: string): Promise<string> => {
  const node = getBinaryNodeChild(await ask(connection, anyGroup, 'get', element('invite', { code })), 'group');
  return node === undefined ? '' : groupOfNode(node, connection.directory).id;
};

/** Waits for an answer that only admins get. Resolves with null if the platform refuses it. */
const forAdmins = async <T>(connection: LiveConnection, work: Promise<T>): Promise<T | null> => {
  const asked = await meant(connection, work, ofGroup);
  return asked.ok ? asked.value : null;
};

export const groupHandlers: Handlers<GroupOperations> = {
  'group.create': async (connection, { name, people }) => {
    const { directory } = connection;
    const objection = notCarried(name);
    if (objection !== null) return objection;
    const jids = jidsOf(people);
    if (!jids.ok) return jids;
    const others = (await inKnownForms(connection, jids.value)).filter((jid) => jid !== directory.me.pn && jid !== directory.me.lid);
    if (others.length === 0) return refuse('invalid', 'participants must name at least one person beside the account');
    const participants = await newcomers(connection, others, 'create');
    const create = element('create', { subject: name }, [...participants, ...firstSettings]);
    const asked = await meant(connection, ask(connection, anyGroup, 'set', create), notCreated);
    if (!asked.ok) return asked;
    const node = getBinaryNodeChild(asked.value, 'group');
    if (node === undefined) return refused(null, 'the platform answered without the group');
    const group = groupOfNode(node, directory);
    const outcomes = outcomesIn(node, directory)
      .filter(({ error }) => error !== 0)
      .map(byNumber);
    return answered({ group, outcomes }, createdEntries(group, directory));
  },

  'group.get': async (connection, { groupId, fresh, link, requests }) => {
    const kept = fresh ? null : await connection.groups.getIfReadable(groupId);
    const found = kept ? { ok: true as const, value: kept } : await meant(connection, connection.groups.fetch(groupId), ofMember);
    if (!found.ok) return found;
    const answer = link ? await forAdmins(connection, ask(connection, groupId, 'get', element('invite'))) : null;
    const code = answer && nodeIn(answer, 'invite').attrs['code'];
    const asking = requests ? await forAdmins(connection, ask(connection, groupId, 'get', element('membership_approval_requests'))) : null;
    const list = asking && getBinaryNodeChildren(nodeIn(asking, 'membership_approval_requests'), 'membership_approval_request');
    const group = code ? { ...found.value, inviteCode: code } : found.value;
    const value = { group, requests: list && list.map((node) => personOfNode(node, connection.directory)) };
    return answered(value, code ? withEntries(group, connection) : []);
  },

  'group.refresh': async ({ groups }) => {
    await groups.refresh();
    return answered(null);
  },

  'group.preview': async (connection, { code }) => {
    const asked = await meant(connection, ask(connection, anyGroup, 'get', element('invite', { code })), ofLink);
    if (!asked.ok) return asked;
    const node = getBinaryNodeChild(asked.value, 'group');
    return node === undefined ? invalidLink : answered({ ...groupOfNode(node, connection.directory), inviteCode: code });
  },

  'group.join': async (connection, { code }) => {
    const asked = await meant(connection, ask(connection, anyGroup, 'set', element('invite', { code })), ofJoin);
    if (!asked.ok && asked.refusal.code !== alreadyMember) return asked;
    const waiting = asked.ok ? getBinaryNodeChild(asked.value, 'membership_approval_request') : undefined;
    if (waiting !== undefined) return answered({ groupId: waiting.attrs['jid'] ?? '', group: null, waits: true });
    const groupId = asked.ok ? (nodeIn(asked.value, 'group').attrs['jid'] ?? '') : await groupIdOf(connection, code);
    const group = groupId === '' ? null : await connection.groups.getIfReadable(groupId);
    return answered({ groupId, group, waits: false });
  },

  'group.leave': async (connection, { groupId }) => {
    const left = await meant(connection, ask(connection, anyGroup, 'set', element('leave', {}, [element('group', { id: groupId })])), {});
    // A 404 counts as success, because the account is not a member of the group.
    if (!left.ok && left.refusal.code !== 404) return left;
    return answered(null, goneEntries(groupId));
  },

  'group.link': async (connection, { groupId, renew }) => {
    const asked = await meant(connection, ask(connection, groupId, renew ? 'set' : 'get', element('invite')), ofGroup);
    if (!asked.ok) return asked;
    const code = nodeIn(asked.value, 'invite').attrs['code'] ?? '';
    const known = await connection.groups.getIfReadable(groupId);
    const group = known && { ...known, inviteCode: code };
    return answered({ code, group }, withEntries(group, connection));
  },

  'group.change': (connection, { groupId, wish }) =>
    wish.of === 'description' ? describe(connection, groupId, wish) : sendWish(connection, groupId, wish),

  'group.picture': async (connection, { groupId, jpeg }) => {
    const asked = await meant(connection, connection.sock.query(pictureQuery(groupId, jpeg)), ofGroup);
    return asked.ok ? answered(await connection.groups.getIfReadable(groupId)) : asked;
  },

  'group.members': async (connection, { groupId, action, people }) => {
    const { directory } = connection;
    const written = jidsOf(people);
    if (!written.ok) return written;
    const known = await ifKnown(connection.groups.get(groupId));
    const jids = await inKnownForms(connection, written.value, known?.members);
    const participants =
      action === 'add' ? await newcomers(connection, jids, action) : jids.map((jid) => participantOf(jid, action, known, directory));
    const asked = await meant(connection, ask(connection, groupId, 'set', membersElement(action, participants)), {});
    if (!asked.ok) return asked;
    const outcomes = outcomesIn(membersAnswer(asked.value, action), directory);
    const group = membersAfter(known, action, outcomes, directory.now());
    return answered(
      { group, outcomes: action === 'add' ? outcomes.map(byNumber) : outcomes },
      group === known ? [] : withEntries(group, connection),
    );
  },
};

// Operations on communities.

const notCommunityAdmin = refuse('forbidden', 'User is not an admin of this community');
const ofCommunity: Meanings = {
  400: refuse('invalid', 'The group is not a community'),
  401: notCommunityAdmin,
  403: notCommunityAdmin,
  404: refuse('notFound', 'Community not found'),
};

/** Builds the request for a new community, with the fields that are required since 2026-08-06. Joining a community needs approval. */
const createElement = (name: string): BinaryNode =>
  element('create', { subject: name }, [
    ...firstSettings.filter(({ tag }) => tag !== 'membership_approval_mode'),
    element('membership_approval_mode', {}, [element('group_join', { state: 'on' })]),
    element('parent', { default_membership_approval_mode: 'request_required' }),
    element('allow_non_admin_sub_group_creation'),
    element('create_general_chat'),
  ]);

const editElement = (action: 'add' | 'remove', groupIds: readonly string[]): BinaryNode => {
  const groups = groupIds.map((jid) => element('group', { jid }));
  return action === 'add'
    ? element('links', {}, [element('link', { link_type: 'sub_group' }, groups)])
    : element('unlink', { unlink_type: 'sub_group' }, groups);
};

/** Returns the groups that the platform accepted. A group that the answer lacks was not accepted. */
const takenIn = (answer: BinaryNode, action: 'add' | 'remove'): ReadonlySet<string> => {
  const list = action === 'add' ? getBinaryNodeChild(getBinaryNodeChild(answer, 'links'), 'link') : getBinaryNodeChild(answer, 'unlink');
  const rows = list === undefined ? [] : getBinaryNodeChildren(list, 'group');
  return new Set(rows.flatMap(({ attrs }) => (attrs['error'] === undefined && attrs['jid'] !== undefined ? [attrs['jid']] : [])));
};

/** Returns the entries for the account's groups after a change of their community. `parent`: the new community; '' for none. */
const movedEntries = async (connection: LiveConnection, groupIds: readonly string[], parent: string): Promise<readonly Entry[]> => {
  const known = await Promise.all(groupIds.map((id) => connection.groups.getIfReadable(id)));
  return known.flatMap((group) => (group === null ? [] : wholeEntries({ ...group, parent }, connection.directory)));
};

export const communityHandlers: Handlers<CommunityOperations> = {
  'community.create': async (connection, { name }) => {
    const objection = notCarried(name);
    if (objection !== null) return objection;
    const asked = await meant(connection, ask(connection, anyGroup, 'set', createElement(name)), notCreated);
    if (!asked.ok) return asked;
    const node = getBinaryNodeChild(asked.value, 'group');
    if (node === undefined) return refused(null, 'the platform answered without the community');
    const group = groupOfNode(node, connection.directory);
    return answered({ group }, createdEntries(group, connection.directory));
  },

  'community.edit': async (connection, { communityId, action, groupIds }) => {
    const asked = await meant(connection, ask(connection, communityId, 'set', editElement(action, groupIds)), ofCommunity);
    if (!asked.ok) return asked;
    const taken = takenIn(asked.value, action);
    const done = groupIds.filter((id) => taken.has(id));
    const entries = await movedEntries(connection, done, action === 'add' ? communityId : '');
    return answered({ done, failed: groupIds.filter((id) => !taken.has(id)) }, entries);
  },
};
