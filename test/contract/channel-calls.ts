/** Calls of the operations on channels. */

/** A picture of one pixel. */
const pixel = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const newsletter = { jid: '120363123456789012@newsletter', id: '120363123456789012' };

export const channelCalls = {
  'POST /newsletter/create': {
    body: { name: 'Offers', description: 'Every day', picture: pixel },
    withoutPlatform: 409,
  },
  'GET /newsletter/list': { withoutPlatform: 409 },
  'POST /newsletter/info': { body: newsletter, withoutPlatform: 409 },
  'POST /newsletter/link': { body: { key: '0029VaAbCdEfGhIjKlMn' }, withoutPlatform: 409 },
  'POST /newsletter/follow': { body: newsletter, withoutPlatform: 409 },
  'POST /newsletter/unfollow': { body: newsletter, withoutPlatform: 409 },
  'POST /newsletter/mute': { body: newsletter, withoutPlatform: 409 },
  'POST /newsletter/unmute': { body: newsletter, withoutPlatform: 409 },
  'POST /newsletter/delete': { body: newsletter, withoutPlatform: 409 },
  'POST /newsletter/picture': { body: { ...newsletter, picture: 'remove' }, withoutPlatform: 409 },
  'POST /newsletter/name': { body: { ...newsletter, name: 'Better offers' }, withoutPlatform: 409 },
  'POST /newsletter/description': { body: { ...newsletter, description: 'Every week' }, withoutPlatform: 409 },
  'POST /newsletter/settings': { body: { ...newsletter, reactionCodes: 'basic' }, withoutPlatform: 409 },
  'POST /newsletter/search': {
    body: { searchText: 'promo', limit: 20, view: 'RECOMMENDED', countryCodes: ['BR'], after: 'YXJyYXljb25uZWN0aW9uOjE5' },
    withoutPlatform: 409,
  },
  'POST /newsletter/admin/invite': { body: { ...newsletter, phone: '5511999999999' }, withoutPlatform: 409 },
  'POST /newsletter/admin/accept': { body: newsletter, withoutPlatform: 409 },
  'POST /newsletter/admin/remove': { body: { ...newsletter, phone: '5511999999999' }, withoutPlatform: 409 },
  'POST /newsletter/admin/revoke': { body: { ...newsletter, phone: '5511999999999' }, withoutPlatform: 409 },
  'POST /newsletter/owner/transfer': { body: { ...newsletter, phone: '5511999999999', quitAdmin: true }, withoutPlatform: 409 },
  ...Object.fromEntries(
    (
      [
        ['messages', { count: 20, beforeid: 12_345 }],
        [
          'messages/edit',
          {
            messageid: '3EB0538DA65A59F6D8A251',
            serverid: 12_345,
            text: 'new',
            caption: 'new',
            mediahandle: '4:abc',
            count: 100,
            maxpages: 5,
          },
        ],
        ['messages/delete', { messageid: '3EB0538DA65A59F6D8A251', serverid: 12_345, count: 100, maxpages: 5 }],
        ['updates', { count: 50, afterid: 12_345, since: 1_710_000_000 }],
        ['viewed', { serverids: [12_345] }],
        ['reaction', { serverid: 12_345, reaction: '👍', reactionmessageid: '3EB0538DA65A59F6D8A251' }],
        ['subscribe', {}],
      ] as const
    ).map(([name, body]) => [`POST /newsletter/${name}`, { body: { ...newsletter, ...body }, withoutPlatform: 409 }]),
  ),
} as const;
