/** Tests receivers of webhooks outside the outbox, one test at a time for each owner. */
import { webhookRequestOf } from '../delivery/webhook-request.ts';
import { type ChatwootTarget, done, type InstanceId, refuse, type Result, type Webhook } from '../model.ts';
import type { Dispatcher } from '../supervisor/dispatcher.ts';
import type { WebhookTest } from '../views.ts';
import type { WithPorts } from './host.ts';

type TestHost = WithPorts<'chance' | 'chatwoot' | 'envelope' | 'receiver' | 'signer' | 'time'> & { readonly dispatcher: Dispatcher };

export class WebhookTests {
  readonly #host: TestHost;
  /** The owners with a test under way. Null is the owner of the global webhook. */
  readonly #running = new Set<InstanceId | null>();

  constructor(host: TestHost) {
    this.#host = host;
  }

  /** Tests the receiver of a webhook. Refuses a second test of the same owner, because waiting tests would pile up behind a silent receiver. */
  async run(webhook: Webhook, type: string): Promise<Result<WebhookTest>> {
    const { instanceId: owner, url, chatwoot } = webhook;
    if (this.#running.has(owner)) return refuse('limited', 'another test of a webhook of this owner is under way', { retryAfter: 1 });
    this.#running.add(owner);
    try {
      return done(chatwoot ? await this.#checkChatwoot({ ...chatwoot, url }) : await this.#postInTurn(webhook, type));
    } finally {
      this.#running.delete(owner);
    }
  }

  /**
   * Posts when a slot of the receiver host is free. The test takes the slot under a holder name of its own, so that it does not wait behind the events of its
   * owner.
   */
  async #postInTurn(webhook: Webhook, type: string): Promise<WebhookTest> {
    const { slots } = this.#host.dispatcher.couriers;
    const host = URL.parse(webhook.url)?.host ?? '';
    const holder = `test ${webhook.instanceId ?? ''}`;
    await slots.take(host, holder);
    try {
      return await this.#post(webhook, type);
    } finally {
      slots.free(host, holder);
    }
  }

  async #post(webhook: Webhook, type: string): Promise<WebhookTest> {
    const { ports, dispatcher } = this.#host;
    const { receiver, chance, time } = ports;
    const started = time.now();
    const content = { eventId: `test_${chance.hex(12)}`, type, messageType: '', body: JSON.stringify({ test: true }) };
    const { url, body, headers } = webhookRequestOf(webhook, dispatcher.sender(webhook.instanceId), content, started, ports);
    const outcome = await receiver.post(url, body, headers);
    return { id: content.eventId, url, outcome, ms: time.now() - started };
  }

  /** Tests a connector. A connector posts no events, so the test checks the inbox that every delivery needs. */
  async #checkChatwoot(target: ChatwootTarget): Promise<WebhookTest> {
    const { chatwoot, chance, time } = this.#host.ports;
    const started = time.now();
    const found = await chatwoot.check(target);
    const outcome = found.ok ? ({ ok: true, status: 200 } as const) : found;
    return { id: `test_${chance.hex(12)}`, url: target.url, outcome, ms: time.now() - started };
  }
}
