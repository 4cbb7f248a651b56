/** Groups, and the actions of their members. Members have the same rights as clients. */
import { createCommunity, decide, joinByCode, linkGroups, refusalOf, unlinkGroups } from '../communities.ts';
import { type GroupChange, type GroupRule, type GroupsMethods, SandboxError } from '../interface.ts';
import { type Group, rankOf, viewGroup } from '../groups.ts';
import { type BinaryNode, node } from '../nodes.ts';
import type { Parts } from '../parts.ts';
import type { Person } from '../people.ts';

// Rules of a group (the right to write, change, add and join), and the notification of a change.

function setRule({ groups }: Pick<Parts, 'groups'>, group: Group, actor: Person, rule: GroupRule): void {
  if (rule.action === 'invite') groups.renewInvite(group, actor);
  else groups.announceChange(group, actor, applied(group, rule));
}

/** Changes the group and returns the node that notifies its members. */
function applied(group: Group, rule: Exclude<GroupRule, { readonly action: 'invite' }>): BinaryNode {
  switch (rule.action) {
    case 'announce':
      group.announce = rule.on;
      return node(rule.on ? 'announcement' : 'not_announcement');
    case 'locked':
      group.locked = rule.on;
      return node(rule.on ? 'locked' : 'unlocked');
    case 'approval':
      group.approval = rule.on;
      return node('membership_approval_mode', {}, [node('group_join', { state: rule.on ? 'on' : 'off' })]);
    case 'adminAdd':
      group.adminAdd = rule.on;
      return node('member_add_mode', {}, Buffer.from(rule.on ? 'admin_add' : 'all_member_add'));
    case 'ephemeral':
      group.ephemeral = rule.seconds;
      return rule.seconds > 0 ? node('ephemeral', { expiration: String(rule.seconds) }) : node('not_ephemeral');
  }
}

export function groupsMethods(parts: Parts): GroupsMethods {
  const { db, groups, people } = parts;
  return {
    async createGroup({ subject, creator, participants, addressing = 'lid' }) {
      const maker = people.ensure(creator);
      const members = participants.map((number) => people.ensure(number));
      return viewGroup(db.atomically(() => groups.create(subject, maker, members, addressing)));
    },
    async updateGroup(jid, by, change) {
      const group = groups.get(jid);
      const actor = people.ensure(by);
      const leaves = change.action === 'remove' && change.participants.every((number) => number === by);
      if (rankOf(group, by) === undefined) throw new SandboxError(403, `${by} is not in this group`);
      if (!leaves && needsAdmin(group, change) && !rankOf(group, by)) throw new SandboxError(403, `${by} is no admin of this group`);
      db.atomically(() => apply(parts, group, actor, change));
      return viewGroup(group);
    },
    async joinGroup(number, code) {
      const { tag, attrs } = db.atomically(() => joinByCode(parts, code, people.ensure(number)));
      return { jid: attrs['jid'] ?? '', joined: tag === 'group' };
    },
    async createCommunity({ subject, creator, addressing = 'lid' }) {
      const first = { subject, addressing, general: false, approval: true };
      return viewGroup(db.atomically(() => createCommunity(parts, people.ensure(creator), first)));
    },
    async editCommunity(jid, by, { action, groups: jids }) {
      const community = groups.get(jid);
      if (!community.isParent) throw new SandboxError(400, `${jid} is no community`);
      if (!rankOf(community, by)) throw new SandboxError(403, `${by} is no admin of this community`);
      const actor = people.ensure(by);
      return db.atomically(() =>
        action === 'link' ? linkGroups(parts, community, actor, jids) : unlinkGroups(parts, community, actor, jids, false),
      );
    },
    groups: () => groups.all().map(viewGroup),
  };
}

function apply(parts: Parts, group: Group, actor: Person, change: GroupChange): void {
  const { groups, people } = parts;
  const named = (): Person[] => ('participants' in change ? change.participants.map((number) => people.ensure(number)) : []);
  switch (change.action) {
    case 'add':
      for (const one of named()) {
        const refusal = refusalOf(parts, group, actor, one);
        // The refusals 409 (already a member) and 408 (left lately) do not apply to simulated people. Existing members are skipped, and a person who left
        // lately is added again.
        if (refusal !== undefined && refusal !== '409' && refusal !== '408')
          throw new SandboxError(Number(refusal), `${one.number} cannot be added`);
      }
      groups.add(group, actor, named());
      break;
    case 'approve':
    case 'reject':
      if (decide(parts, group, actor, named(), change.action === 'approve').length === 0)
        throw new SandboxError(404, 'none of them asked to join');
      break;
    case 'remove':
      groups.remove(group, actor, named());
      break;
    case 'promote':
    case 'demote':
      groups.rank(group, actor, named(), change.action === 'promote' ? 'admin' : null);
      break;
    case 'subject':
      groups.setSubject(group, actor, change.text);
      break;
    case 'description':
      groups.setDescription(group, actor, change.text);
      break;
    default:
      setRule(parts, group, actor, change);
  }
}

function needsAdmin(group: Group, { action }: GroupChange): boolean {
  if (action === 'add') return group.adminAdd;
  if (action === 'subject' || action === 'description' || action === 'ephemeral') return group.locked;
  return true;
}
