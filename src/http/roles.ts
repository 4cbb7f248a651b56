/**
 * The least role for each route that a session of the dashboard may call. A route without a row needs an administrator. The table applies only to
 * sessions of users. The admin token may call every route, and the token of an instance may call every route of its instance.
 */
import type { Role } from '#actors/gateway.ts';
import type { Address } from './route.ts';

/** The least role for each route. The key is the first address of a route. The role also applies to the aliases of the route. */
export const leastRoles: Readonly<Partial<Record<Address, Role>>> = {
  // The state of sessions and of the server. The answers contain no message text and no code for linking. They show the host of a receiver, but not
  // the whole address.
  'GET /instance/all': 'viewer',
  'GET /instance/status': 'viewer',
  'GET /admin/actors': 'viewer',
  'GET /admin/actors/:id': 'viewer',
  'GET /admin/actors/:id/picture': 'viewer',
  'GET /admin/actors/stream': 'viewer',
  'GET /admin/actors/:id/stream': 'viewer',
  'GET /admin/machines': 'viewer',
  'GET /admin/machines/:id/stately': 'viewer',
  'GET /admin/nodes': 'viewer',
  'GET /admin/figures': 'viewer',
  'GET /admin/numbers': 'viewer',
  'GET /admin/refused': 'viewer',
  'GET /metrics': 'viewer',
  'GET /admin/version': 'viewer',
  'GET /admin/storage': 'viewer',
  // The user's own sign-in.
  'DELETE /admin/session': 'viewer',
  'GET /admin/sessions': 'viewer',
  'POST /admin/sessions/end': 'viewer',
  'POST /admin/me/password': 'viewer',
  'POST /admin/me/code': 'viewer',
  'POST /admin/me/code/confirm': 'viewer',
  'POST /admin/me/code/remove': 'viewer',

  // Operation of sessions: link, connect, disconnect, restart, replay, test.
  'POST /instance/connect': 'operator',
  'POST /instance/disconnect': 'operator',
  'POST /instance/reset': 'operator',
  'POST /instance/hibernate': 'operator',
  'GET /instance/passkey': 'operator',
  'POST /instance/passkey': 'operator',
  'POST /instance/passkey/confirm': 'operator',
  'DELETE /instance/passkey': 'operator',
  'POST /instance/passkey/link': 'operator',
  'GET /instance/proxy': 'operator',
  'GET /admin/proxies': 'operator',
  'GET /instance/wa_messages_limits': 'operator',
  'POST /admin/sandbox/scan': 'operator',
  'POST /admin/actors/:id/events': 'operator',
  'POST /admin/refused/:instance/:id/retry': 'operator',
  'POST /admin/restart': 'operator',
  'POST /admin/nodes/:name/drain': 'operator',
  'GET /webhook': 'operator',
  'GET /webhook/deliveries': 'operator',
  'GET /webhook/deliveries/:id': 'operator',
  'GET /webhook/errors': 'operator',
  'POST /webhook/replay': 'operator',
  'POST /webhook/test': 'operator',
  'GET /globalwebhook': 'operator',
  'GET /globalwebhook/deliveries': 'operator',
  'GET /globalwebhook/deliveries/:id': 'operator',
  'GET /globalwebhook/errors': 'operator',
  'POST /globalwebhook/replay': 'operator',
  'POST /globalwebhook/test': 'operator',
  // The console and the chats of the dashboard.
  'GET /sse': 'operator',
  'POST /chat/find': 'operator',
  'POST /message/find': 'operator',
  'POST /message/download': 'operator',
  'POST /send/text': 'operator',
  'POST /send/media': 'operator',
  'POST /message/react': 'operator',
  'POST /message/star': 'operator',
  'POST /chat/read': 'operator',
  // Campaigns. An operator, who may write to one person, may also write to many.
  'POST /sender/simple': 'operator',
  'POST /sender/advanced': 'operator',
  'POST /sender/edit': 'operator',
  'GET /sender/listfolders': 'operator',
  'POST /sender/listmessages': 'operator',
  'GET /sender/stats': 'operator',

  // Settings, secrets, deletion and people. A route without a row also needs an administrator. These rows show that the role was chosen on purpose.
  'POST /instance/create': 'administrator',
  'POST /instance/updateAdminFields': 'administrator',
  'DELETE /admin/refused/:instance/:id': 'administrator',
  'POST /admin/import': 'administrator',
  'POST /admin/export': 'administrator',
  'POST /admin/token/rotate': 'administrator',
  'POST /admin/session': 'administrator',
  'GET /admin/session/token': 'administrator',
  'POST /globalwebhook': 'administrator',
  'GET /admin/users': 'administrator',
  'POST /admin/users': 'administrator',
  'POST /admin/users/update': 'administrator',
  'POST /admin/users/delete': 'administrator',
  'GET /admin/audit': 'administrator',
  'GET /admin/alerts': 'administrator',
  'POST /admin/alerts': 'administrator',
  'POST /admin/alerts/test': 'administrator',
  'GET /admin/settings': 'administrator',
};

export const leastRoleOf = (on: readonly [Address, ...Address[]]): Role => leastRoles[on[0]] ?? 'administrator';
