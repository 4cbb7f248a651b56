/**
 * The interface of the simulated platform for its control interface (HTTP, page) and for tests. `world/` implements it with accounts, devices,
 * contacts, groups and queues. `control/` and the page use only this interface. Every method rejects with a `SandboxError` if its input is
 * invalid. Any other rejection is a bug.
 */
import type { AccountMethods, PasskeysMethods, PeopleMethods } from './face/people.ts';
import type { BusinessMethods } from './face/business.ts';
import type { CallsMethods, MessagesMethods } from './face/messages.ts';
import type { ChannelsMethods, GroupsMethods, PostsMethods } from './face/groups.ts';
import type { PlatformMethods } from './face/platform.ts';
import type { SettingsMethods } from './face/settings.ts';

export type * from './face/people.ts';
export type * from './face/business.ts';
export type * from './face/messages.ts';
export type * from './face/groups.ts';
export * from './face/common.ts';
export type * from './face/platform.ts';
export type * from './face/settings.ts';

/** The operations on the simulated platform, by area. A new capability belongs to one area. */
export interface Sandbox
  extends
    PeopleMethods,
    PasskeysMethods,
    MessagesMethods,
    SettingsMethods,
    AccountMethods,
    GroupsMethods,
    ChannelsMethods,
    PostsMethods,
    BusinessMethods,
    CallsMethods,
    PlatformMethods {}
