/** Tests modules of the dashboard without a browser: their requests, and the answers that they keep. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageModule, server } from './page.ts';

interface Drafts {
  send(
    instance: string,
    chat: { readonly wa_chatid: string },
    draft: { text: string; file: null; key: string },
    answered: null,
  ): Promise<unknown>;
}

test('chats: a message that a person writes names the dashboard as its origin', async () => {
  const { send } = await pageModule<Drafts>('chats/drafts.js');
  const number = '5511999990001@s.whatsapp.net';
  await send('r1', { wa_chatid: number }, { text: 'hi', file: null, key: 'k1' }, null);
  const body = { number, readchat: true, track_source: 'dormouse-dashboard', text: 'hi' };
  assert.deepEqual(server.calls, [{ method: 'POST', path: '/send/text', body }]);
});
