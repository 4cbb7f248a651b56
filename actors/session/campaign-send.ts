/** Sends one message of a campaign on a live session, by the same steps as any other message. Stores the outcome for the recipient. */
import { hasFilesToTake, withFilesTaken } from '../attachments.ts';
import {
  notConnected,
  payloadTo,
  plainNumber,
  refuse,
  type Campaign,
  type Refusal,
  type Result,
  type Send,
  type SendContent,
} from '../model.ts';
import type { Ports } from '../ports.ts';
import type { DueRecipient, SendEnd } from './campaign-runner.ts';
import type { KeyedMutex } from '../waiting.ts';
import { postponed } from './queue-host.ts';
import { recipientOf } from './requests.ts';
import { sendNow, type Sendable } from './sending.ts';

export type EndOf = 'waiting' | 'failed' | 'skipped' | 'unknown';

/** A session that sends the messages of a chat one after the other. */
interface CampaignSession extends Sendable {
  readonly chatMutex: KeyedMutex;
}

interface SendInput {
  readonly ports: Ports;
  readonly campaign: Campaign;
  readonly due: DueRecipient;
  /** Stores the outcome of the recipient. */
  readonly settle: (state: EndOf, error: string) => Promise<void>;
}

/** Codes for accounts that may not start chats for now: the reach-out time lock, and the limit of new chats. */
const accountCodes: ReadonlySet<number | undefined> = new Set([463, 475]);

/**
 * Returns true if the refusal concerns the account, and not only the recipient. A refusal with 463 concerns only the recipient if the time-lock of the account
 * is known to be inactive.
 */
const isOfAccount = ({ reason, code, limits }: Refusal): boolean =>
  reason === 'refused' && accountCodes.has(code) && !(code === 463 && limits?.timeLock?.ok === true && !limits.timeLock.value.active);

/** Returns true if the gateway temporarily cannot take the files of a message, for a reason that does not concern the message. */
const isPassing = ({ reason, retryAfter }: Refusal): boolean =>
  reason === 'unavailable' || (reason === 'limited' && retryAfter !== undefined);

/** Returns the content with its files fetched from their URLs. Files in the request body were stored when the campaign was created. */
async function withFiles({ attachments }: Ports, cell: CampaignSession, content: SendContent): Promise<Result<SendContent>> {
  if (!hasFilesToTake(content)) return { ok: true, value: content };
  return withFilesTaken(content, (given) => attachments.take(cell.record.id, given));
}

/** Lets the recipient wait, and returns the consequence for the campaign. `gone` is true if the connection ended. */
async function putBack({ settle, due }: SendInput, refusal: Refusal, gone: boolean): Promise<SendEnd> {
  await settle('waiting', '');
  return postponed(refusal, due.number, gone) ?? 'later';
}

/** Stores the outcome of a refused send for its recipient, and returns the consequence for the campaign. */
async function afterRefusal(input: SendInput, refusal: Refusal, gone: boolean): Promise<SendEnd> {
  const { settle } = input;
  const { reason, message } = refusal;
  if (reason === 'notSent' || reason === 'unavailable') return putBack(input, refusal, gone);
  if (reason === 'unknown') {
    await settle('unknown', message);
    return 'left';
  }
  if (isOfAccount(refusal)) {
    await settle('waiting', '');
    return { stop: message };
  }
  await settle('failed', message);
  return reason === 'refused' ? 'refused' : 'settled';
}

async function sendTo(
  input: SendInput,
  cell: CampaignSession,
  signal: AbortSignal,
  number: string,
  chatId: string,
): Promise<Result<unknown>> {
  const { ports, campaign, due } = input;
  const { content, mentions, forward, replyTo, ...rest } = due.send;
  const send: Send = { number, content, mentions, forward, replyTo };
  const options = { ...rest, payload: payloadTo(rest, due.number), async: false, folder: { id: campaign.id, position: due.position } };
  return cell.chatMutex.run(chatId, async (release) =>
    signal.aborted ? notConnected : sendNow(ports, cell, signal, { send, options, chatId, key: null }, release),
  );
}

export async function sendOfCampaign(input: SendInput, cell: CampaignSession, signal: AbortSignal): Promise<SendEnd> {
  const { ports, due, settle } = input;
  const plain = plainNumber(due.number);
  const recipient = await recipientOf(cell, signal, plain);
  if (!recipient.ok) {
    const postponement = postponed(recipient.refusal, due.number, signal.aborted);
    if (postponement !== null) return postponement;
    await settle('failed', recipient.refusal.message);
    return 'settled';
  }
  const { chatId, number } = recipient.value;
  const written = cell.link.chatOf(plain);
  // The contact may have opted out under another form of the number.
  if (await ports.optOuts.has(cell.record.id, [chatId, ...(written.ok ? written.value.forms : [])])) {
    await settle('skipped', 'the contact asked to get no campaigns');
    return 'settled';
  }
  const content = await withFiles(ports, cell, due.send.content);
  if (!content.ok) {
    if (isPassing(content.refusal)) return putBack(input, content.refusal, signal.aborted);
    await settle('failed', content.refusal.message);
    return 'fileless';
  }
  const whole = { ...due, send: { ...due.send, content: content.value } };
  const sent = await sendTo({ ...input, due: whole }, cell, signal, number, chatId);
  if (sent.ok) ports.meter.campaigned('sent');
  return sent.ok ? 'left' : afterRefusal(input, sent.refusal, signal.aborted);
}

/** Returns the reason why a recipient cannot get messages of a campaign, or null. */
export const recipientProblem = (chatId: string): Refusal | null =>
  /@(s\.whatsapp\.net|lid|g\.us)$/.test(chatId) ? null : refuse('invalid', 'campaigns go to contacts and groups').refusal;
