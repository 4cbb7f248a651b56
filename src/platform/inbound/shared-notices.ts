/** Notifications that collections of the shared state changed. The library fetches only the first collection of each, and acknowledges all of them. */
import { getBinaryNodeChildren, type WAPatchName, type WASocket } from '@whiskeysockets/baileys';
import type { Handlers } from './inbound-gate.ts';

/** Fetches collections of the shared state. */
export type Refresh = (names: readonly WAPatchName[]) => Promise<void>;

/** Refreshes that are asked for while one runs become one more: after an absence the platform sends a notification for each change. */
const gathered = (refresh: Refresh): Refresh => {
  let running: Promise<void> | null = null;
  let next: { readonly names: Set<WAPatchName>; readonly done: Promise<void> } | null = null;
  const begin = (names: readonly WAPatchName[]): Promise<void> =>
    (running = refresh(names).finally(() => {
      running = null;
    }));
  return (names) => {
    if (running === null) return begin(names);
    if (next === null) {
      const all = new Set<WAPatchName>();
      const done = running
        .catch(() => undefined)
        .then(() => {
          next = null;
          return begin([...all]);
        });
      next = { names: all, done };
    }
    for (const name of names) next.names.add(name);
    return next.done;
  };
};

/** Returns handlers that bring every named collection up to date. If that fails, nothing is acknowledged, so that the platform repeats the notification. */
export const withSharedNotices = (handlers: Handlers, sock: Pick<WASocket, 'sendMessageAck'>, refresh: Refresh): Handlers => {
  const refreshed = gathered(refresh);
  return {
    ...handlers,
    async notification(node) {
      if (node.attrs['type'] !== 'server_sync') return handlers.notification(node);
      const named = getBinaryNodeChildren(node, 'collection').flatMap(({ attrs }) => attrs['name'] ?? []);
      if (named.length > 0) await refreshed(named as WAPatchName[]);
      return sock.sendMessageAck(node);
    },
  };
};
