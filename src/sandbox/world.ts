/** Composes the interface of the simulated platform from its parts, for the control interface and for tests. */
import type { Sandbox } from './interface.ts';
import type { Parts } from './parts.ts';
import { accountRoom, passkeysRoom, peopleRoom } from './world/people.ts';
import { businessRoom } from './world/business.ts';
import { callsRoom, messagesRoom, settingsRoom } from './world/messages.ts';
import { channelsRoom, postsRoom } from './world/channels.ts';
import { groupsRoom } from './world/groups.ts';
import { platformRoom, type Trust } from './world/platform.ts';

export const createWorld = (parts: Parts, trust: Trust): Sandbox => ({
  ...peopleRoom(parts),
  ...passkeysRoom(parts),
  ...messagesRoom(parts),
  ...settingsRoom(parts),
  ...accountRoom(parts),
  ...groupsRoom(parts),
  ...channelsRoom(parts),
  ...businessRoom(parts),
  ...postsRoom(parts),
  ...callsRoom(parts),
  ...platformRoom(parts, trust),
});
