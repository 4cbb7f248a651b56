/** Requests of clients about communities and the groups that belong to them. */
import { linkGroups, subgroupsOf, unlinkGroups, type LinkResult } from '../communities.ts';
import { SandboxError } from '../interface.ts';
import { child, children, node, type BinaryNode } from '../nodes.ts';
import { asAdmin, asMember, type Asked } from './groups.ts';
import type { DeviceQueries, DeviceQuery } from './query.ts';

const communityOf = (asked: Asked): Asked => {
  if (!asked.group.isParent) throw new SandboxError(400, 'bad-request');
  return asked;
};

const groupsIn = (request: BinaryNode | undefined): readonly BinaryNode[] => {
  const named = children(request, 'group').slice(0, 100);
  if (named.length === 0) throw new SandboxError(400, 'bad-request');
  return named;
};

const jidsOf = (named: readonly BinaryNode[]): string[] => named.map(({ attrs }) => attrs['jid'] ?? '');

const rows = (results: readonly LinkResult[]): BinaryNode[] => results.map(({ jid, error }) => node('group', { jid, error }));

export const communityQueries: DeviceQueries = {
  'w:g2/set/links': (query: DeviceQuery) => {
    const { group, me } = communityOf(asAdmin(query));
    const link = child(query.request, 'link');
    if (link?.attrs['link_type'] !== 'sub_group') throw new SandboxError(400, 'bad-request');
    const results = linkGroups(query.parts, group, me, jidsOf(groupsIn(link)));
    return [node('links', {}, [node('link', { link_type: 'sub_group' }, rows(results))])];
  },

  'w:g2/set/unlink': (query: DeviceQuery) => {
    const { group, me } = communityOf(asAdmin(query));
    if (query.request?.attrs['unlink_type'] !== 'sub_group') throw new SandboxError(400, 'bad-request');
    const named = groupsIn(query.request);
    const orphans = named.some(({ attrs }) => attrs['remove_orphaned_members'] === 'true');
    const results = unlinkGroups(query.parts, group, me, jidsOf(named), orphans);
    return [node('unlink', { unlink_type: 'sub_group' }, rows(results))];
  },

  'w:g2/get/sub_groups': (query: DeviceQuery) => {
    const { group } = communityOf(asMember(query));
    const groups = subgroupsOf(query.parts, group).map(({ jid, subject, role }) =>
      node('group', { id: jid.replace('@g.us', ''), subject }, role === 'announcement' ? [node('default_sub_group')] : undefined),
    );
    return [node('sub_groups', {}, groups)];
  },
};
