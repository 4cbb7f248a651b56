/**
 * The interface of the simulated platform for its control interface (HTTP, page) and for tests. `world/` implements it with accounts, devices,
 * contacts, groups and queues. `control/` and the page use only this interface. Every method rejects with a `SandboxError` if its input is
 * invalid. Any other rejection is a bug.
 */
import type { AccountMethods, PasskeysMethods, PeopleMethods } from './interface/people.ts';
import type { BusinessMethods } from './interface/business.ts';
import type { CallsMethods, MessagesMethods } from './interface/messages.ts';
import type { ChannelsMethods, GroupsMethods, PostsMethods } from './interface/groups.ts';
import type { PlatformMethods } from './interface/platform.ts';
import type { SettingsMethods } from './interface/settings.ts';

export type * from './interface/people.ts';
export type * from './interface/business.ts';
export type * from './interface/messages.ts';
export type * from './interface/groups.ts';
export * from './interface/common.ts';
export * from './interface/platform.ts';
export type * from './interface/settings.ts';

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
