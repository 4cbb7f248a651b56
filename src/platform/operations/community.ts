/** Operations on communities. The library's own methods drop what the platform answers about each group. */
import { getBinaryNodeChild, getBinaryNodeChildren, type BinaryNode } from '@whiskeysockets/baileys';
import { refuse, type Entry } from '#actors/model.ts';
import type { CommunityOperations } from '#actors/ports.ts';
import type { LiveConnection } from '../outbound/live-connection.ts';
import { createdEntries, wholeEntries } from '../events/from-groups.ts';
import { groupOfNode } from '../events/group-nodes.ts';
import { answered, refused } from '../wire/outcomes.ts';
import { anyGroup, ask, element, firstSettings, type Handlers } from './requests.ts';
import { notCarried } from '../wire/stanza-codec.ts';
import { type Meanings, meant, notCreated } from './refusal-words.ts';

const notAdmin = refuse('forbidden', 'User is not an admin of this community');
const ofCommunity: Meanings = {
  400: refuse('invalid', 'The group is not a community'),
  401: notAdmin,
  403: notAdmin,
  404: refuse('notFound', 'Community not found'),
};

/** States what the request for a group states since 2026-08-06. People ask to join a community, so that the mode of approval is on. */
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

/** Groups that the platform took; what it does not name it did not take. */
const takenIn = (answer: BinaryNode, action: 'add' | 'remove'): ReadonlySet<string> => {
  const list = action === 'add' ? getBinaryNodeChild(getBinaryNodeChild(answer, 'links'), 'link') : getBinaryNodeChild(answer, 'unlink');
  const rows = list === undefined ? [] : getBinaryNodeChildren(list, 'group');
  return new Set(rows.flatMap(({ attrs }) => (attrs['error'] === undefined && attrs['jid'] !== undefined ? [attrs['jid']] : [])));
};

/** Groups of the account that are in another community now. */
const movedEntries = async (connection: LiveConnection, groupIds: readonly string[], parent: string): Promise<readonly Entry[]> => {
  const known = await Promise.all(groupIds.map((id) => connection.groups.get(id)));
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
