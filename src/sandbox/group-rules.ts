/** Rules of a group (who may write, change, add and join), and the notification that tells members of a change. */
import type { GroupRule } from './face.ts';
import type { Group } from './groups.ts';
import { node, type BinaryNode } from './nodes.ts';
import type { Parts } from './parts.ts';
import type { Person } from './people.ts';

export function setRule({ groups }: Pick<Parts, 'groups'>, group: Group, actor: Person, rule: GroupRule): void {
  if (rule.action === 'invite') groups.renewInvite(group, actor);
  else groups.announceChange(group, actor, applied(group, rule));
}

/** Changes the group and returns the node that tells its members. */
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
