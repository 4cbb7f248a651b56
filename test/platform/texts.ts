/** Texts from an instance to phones. */
import assert from 'node:assert/strict';
import type { ReceivedMessage, Sandbox } from '#src/sandbox/interface.ts';
import { until } from '#test/support/until.ts';
import type { Instance } from './setup.ts';

/** Sends a text to a number or a group, and returns its id. */
export const sendText = async (instance: Instance, to: string, text: string): Promise<string> => {
  const control = { signal: new AbortController().signal, deadline: Date.now() + 60_000 };
  const send = { number: to, replyTo: '', mentions: [], forward: false, content: { kind: 'text' as const, text, preview: null } };
  const composed = await instance.link.perform({ name: 'message.compose', input: { send, draft: null } }, control);
  assert.ok(composed.ok, composed.ok ? '' : composed.refusal.message);
  const sent = await instance.link.perform({ name: 'message.transmit', input: { message: composed.value } }, control);
  assert.ok(sent.ok, sent.ok ? '' : sent.refusal.message);
  return composed.value.messageId;
};

/** Waits until a message arrives at a phone, and returns it, read or unreadable. */
export const arrivedAt = (sandbox: Pick<Sandbox, 'received'>, phone: string, id: string): Promise<ReceivedMessage> =>
  until(() => sandbox.received(phone).find((one) => one.id === id), `${id} arrives at ${phone}`);
