/** Composes the interface of the simulated platform from its parts, for the control interface and for tests. */
import type { Sandbox } from './interface.ts';
import type { Parts } from './parts.ts';
import { accountMethods, passkeysMethods, peopleMethods } from './world/people.ts';
import { businessMethods } from './world/business.ts';
import { callsMethods, messagesMethods, settingsMethods } from './world/messages.ts';
import { channelsMethods, postsMethods } from './world/channels.ts';
import { groupsMethods } from './world/groups.ts';
import { platformMethods, type Trust } from './world/platform.ts';

export const createWorld = (parts: Parts, trust: Trust): Sandbox => ({
  ...peopleMethods(parts),
  ...passkeysMethods(parts),
  ...messagesMethods(parts),
  ...settingsMethods(parts),
  ...accountMethods(parts),
  ...groupsMethods(parts),
  ...channelsMethods(parts),
  ...businessMethods(parts),
  ...postsMethods(parts),
  ...callsMethods(parts),
  ...platformMethods(parts, trust),
});
