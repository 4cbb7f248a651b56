/** All webhooks as configured now, found by their id and by their owner at the same cost however many there are. */
import type { InstanceId, Webhook } from '../model.ts';

type Owner = InstanceId | null;

export class WebhookRegistry {
  readonly #byId = new Map<string, Webhook>();
  /** Ids in the order in which the webhooks were made. */
  readonly #byOwner = new Map<Owner, string[]>();
  /** Ids by the end of the address to which Chatwoot posts. */
  readonly #byHook = new Map<string, string>();

  get(id: string): Webhook | null {
    return this.#byId.get(id) ?? null;
  }

  get ids(): Iterable<string> {
    return this.#byId.keys();
  }

  /** Of one instance, or (null) the global one. */
  own(owner: Owner): readonly Webhook[] {
    return (this.#byOwner.get(owner) ?? []).map((id) => this.#byId.get(id)).filter((webhook) => webhook !== undefined);
  }

  /** Those that post to receivers: what the interface calls webhooks. */
  receivers(owner: Owner): readonly Webhook[] {
    return this.own(owner).filter(({ chatwoot }) => chatwoot === undefined);
  }

  /** The one whose deliveries go to Chatwoot. */
  chatwoot(owner: InstanceId): Webhook | null {
    return this.own(owner).find(({ chatwoot }) => chatwoot !== undefined) ?? null;
  }

  /** The one to whose address Chatwoot posted. */
  hooked(hook: string): Webhook | null {
    return this.get(this.#byHook.get(hook) ?? '');
  }

  /** Instances that are connected with an inbox of Chatwoot, those where the connector is switched off among them. */
  connected(): readonly InstanceId[] {
    return [...this.#byHook.values()].map((id) => this.get(id)?.instanceId ?? null).filter((id) => id !== null);
  }

  /** Those that may get an instance's events: its own, and the global one. */
  receiving(id: InstanceId): readonly Webhook[] {
    return [...this.own(id), ...this.own(null)];
  }

  set(webhook: Webhook): void {
    if (!this.#byId.has(webhook.id)) this.#byOwner.set(webhook.instanceId, [...(this.#byOwner.get(webhook.instanceId) ?? []), webhook.id]);
    this.#byId.set(webhook.id, webhook);
    if (webhook.chatwoot) this.#byHook.set(webhook.chatwoot.hook, webhook.id);
  }

  /** Answers what was there. */
  remove(id: string): Webhook | null {
    const webhook = this.get(id);
    if (!webhook) return null;
    this.#byId.delete(id);
    if (webhook.chatwoot) this.#byHook.delete(webhook.chatwoot.hook);
    const left = (this.#byOwner.get(webhook.instanceId) ?? []).filter((other) => other !== id);
    if (left.length > 0) this.#byOwner.set(webhook.instanceId, left);
    else this.#byOwner.delete(webhook.instanceId);
    return webhook;
  }
}
