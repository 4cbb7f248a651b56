/** Shapes of communities. */
import { Type } from 'typebox';
import { OneOf, ref } from './common.ts';
import { Group, groupExample, GroupJid, groupPattern } from './group.ts';

export const CreateCommunityBody = Type.Object({
  name: Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: String.raw`\S`,
    description: 'The name of the community',
    examples: ['Neighbours'],
  }),
});

export const CreateCommunityAnswer = Type.Object({
  group: ref(Group),
  failed: Type.Array(Type.String(), { description: 'People who could not be added; empty, since nobody is' }),
});

export const EditGroupsBody = Type.Object({
  community: Type.String({
    pattern: groupPattern,
    maxLength: 64,
    description: 'Id of the community',
    examples: [groupExample],
  }),
  action: OneOf(['add', 'remove'], { description: 'What becomes of the groups', examples: ['add'] }),
  groupjids: Type.Array(GroupJid, { minItems: 1, maxItems: 100, description: 'Ids of groups' }),
});

export const EditGroupsAnswer = Type.Object({
  message: Type.String(),
  success: Type.Array(Type.String(), { description: 'Groups that were added or removed' }),
  failed: Type.Array(Type.String(), { description: 'Groups that the platform refused' }),
});
