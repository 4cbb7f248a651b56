/** Reads groups out of the platform's stanzas: a whole group, its members, and outcomes for people. The library drops half of these fields. */
import { getBinaryNodeChild, getBinaryNodeChildren, getBinaryNodeChildString, type BinaryNode } from '@whiskeysockets/baileys';
import type { Group, GroupFacts, GroupMember, Person, RawChange } from '#actors/model.ts';
import type { MemberOutcome } from '#actors/ports.ts';
import { type Directory, personOf } from '../wire/directory.ts';

export const groupJid = (id: string | undefined): string => (id === undefined || id === '' ? '' : id.includes('@') ? id : `${id}@g.us`);

/** Unix milliseconds; `otherwise` where the platform does not say. */
export const timeOf = (seconds: string | undefined, otherwise: number): number => Number(seconds) * 1000 || otherwise;

const nobody: Person = { id: '', pn: '', lid: '' };

export const personOfNode = ({ attrs }: BinaryNode, directory: Directory): Person =>
  personOf(directory, attrs['jid'], attrs['phone_number'], attrs['lid']);

const memberOfNode = (node: BinaryNode, directory: Directory): GroupMember => ({
  ...personOfNode(node, directory),
  isAdmin: node.attrs['type'] === 'admin' || node.attrs['type'] === 'superadmin',
  isSuperAdmin: node.attrs['type'] === 'superadmin',
});

export const peopleIn = (node: BinaryNode, directory: Directory): readonly Person[] =>
  getBinaryNodeChildren(node, 'participant').map((one) => personOfNode(one, directory));

const outcomeOf = (node: BinaryNode, directory: Directory): MemberOutcome => {
  const request = getBinaryNodeChild(node, 'add_request')?.attrs;
  return {
    person: personOfNode(node, directory),
    error: Number(node.attrs['error'] ?? 0) || 0,
    invitation: request?.['code'] ? { code: request['code'], expiresAt: timeOf(request['expiration'], 0) } : null,
  };
};

/** The platform's answer for each person whom a request named. */
export const outcomesIn = (node: BinaryNode | undefined, directory: Directory): readonly MemberOutcome[] =>
  node === undefined ? [] : getBinaryNodeChildren(node, 'participant').map((one) => outcomeOf(one, directory));

const topicOf = (node: BinaryNode, directory: Directory): NonNullable<GroupFacts['topic']> => {
  const { id = '', t, participant, participant_pn: pn } = node.attrs;
  const text = getBinaryNodeChildString(node, 'body') ?? '';
  return { text, id, by: personOf(directory, participant, pn), at: timeOf(t, directory.now()) };
};

/** True unless the state says otherwise: a community may have the element with the state `off`. */
export const approvalIn = (node: BinaryNode | undefined): boolean =>
  node !== undefined && getBinaryNodeChild(node, 'group_join')?.attrs['state'] !== 'off';

const addModeIn = (node: BinaryNode): 'all' | 'admins' =>
  getBinaryNodeChildString(node, 'member_add_mode') === 'all_member_add' ? 'all' : 'admins';

const factsOf = (node: BinaryNode, directory: Directory): GroupFacts => {
  const { attrs } = node;
  const has = (tag: string): boolean => getBinaryNodeChild(node, tag) !== undefined;
  const description = getBinaryNodeChild(node, 'description');
  const seconds = Number(getBinaryNodeChild(node, 'ephemeral')?.attrs['expiration'] ?? 0) || 0;
  return {
    owner: attrs['creator'] === undefined ? nobody : personOf(directory, attrs['creator'], attrs['creator_pn']),
    createdAt: Number(attrs['creation']) * 1000 || null,
    addressing: attrs['addressing_mode'] === 'lid' ? 'lid' : 'pn',
    subject: {
      text: attrs['subject'] ?? '',
      by: personOf(directory, attrs['s_o'], attrs['s_o_pn']),
      at: timeOf(attrs['s_t'], directory.now()),
    },
    topic: description === undefined ? null : topicOf(description, directory),
    locked: has('locked'),
    announce: has('announcement'),
    ephemeral: seconds,
    joinApproval: approvalIn(getBinaryNodeChild(node, 'membership_approval_mode')),
    whoAddsMembers: addModeIn(node),
    suspended: has('suspended'),
    parent: groupJid(getBinaryNodeChild(node, 'linked_parent')?.attrs['jid']),
    isCommunity: has('parent'),
    isDefaultSubgroup: has('default_sub_group'),
    isIncognito: has('incognito'),
    creatorCountry: attrs['creator_country_code'] ?? '',
    announceVersion: attrs['a_v_id'] ?? '',
    participantVersion: attrs['p_v_id'] ?? '',
  };
};

/** A whole group out of its element. An answer also lists people whom the platform refused; they are no members. */
export const groupOfNode = (node: BinaryNode, directory: Directory): Group => ({
  ...factsOf(node, directory),
  id: groupJid(node.attrs['id']),
  members: getBinaryNodeChildren(node, 'participant')
    .filter(({ attrs }) => attrs['error'] === undefined)
    .map((one) => memberOfNode(one, directory)),
});

const contentOf = (content: BinaryNode['content']): RawChange['content'] => {
  if (Array.isArray(content)) return content.map(rawOf);
  if (content === undefined) return null;
  return typeof content === 'string' ? content : Buffer.from(content).toString('utf8');
};

/** The element with its content, unchanged. */
export const rawOf = ({ tag, attrs, content }: BinaryNode): RawChange => ({ tag, attrs: { ...attrs }, content: contentOf(content) });
