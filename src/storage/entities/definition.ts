/** The table of what is defined once for an instance. */
import { defineEntity, p } from '@mikro-orm/core';
import type { Definition } from '#actors/model.ts';
import { time } from './instance.ts';

/** Without a foreign key, as chats are. */
export const DefinitionEntity = defineEntity({
  name: 'Definition',
  tableName: 'definition',
  properties: {
    instanceId: p.text().primary(),
    /** `label`, `quickReply`, `leadTag`, `channel`, `channelListing`. */
    kind: p.text().primary(),
    id: p.text().primary(),
    value: p.json<Definition['value']>(),
    created: time(),
    updated: time(),
  },
});
