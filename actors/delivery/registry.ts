/** The current configuration of all webhooks. A look-up by id or by owner costs the same however many webhooks exist. */
import type { InstanceId, Webhook } from '../model.ts';

type Owner = InstanceId | null;

export class WebhookRegistry {
  readonly #byId = new Map<string, Webhook>();
  /** Ids in the order of creation. */
  readonly #byOwner = new Map<Owner, string[]>();
  /** Ids by the last segment of the address to which Chatwoot posts. */
  readonly #byHook = new Map<string, string>();

  get(id: string): Webhook | null {
    return this.#byId.get(id) ?? null;
  }

  get ids(): Iterable<string> {
    return this.#byId.keys();
  }

  /** Returns the webhooks of one instance, or (null) the global webhook. */
  own(owner: Owner): readonly Webhook[] {
    return (this.#byOwner.get(owner) ?? []).map((id) => this.#byId.get(id)).filter((webhook) => webhook !== undefined);
  }

  /** Returns the webhooks that post to receivers. The interface calls only these webhooks. */
  receivers(owner: Owner): readonly Webhook[] {
    return this.own(owner).filter(({ chatwoot }) => chatwoot === undefined);
  }

  /** Returns the webhook that delivers to Chatwoot, or null. */
  chatwoot(owner: InstanceId): Webhook | null {
    return this.own(owner).find(({ chatwoot }) => chatwoot !== undefined) ?? null;
  }

  /** Returns the webhook to whose address Chatwoot posted, or null. */
  hooked(hook: string): Webhook | null {
    return this.get(this.#byHook.get(hook) ?? '');
  }

  /** Returns the instances that are connected to an inbox of Chatwoot, even if the connector is switched off. */
  connected(): readonly InstanceId[] {
    return [...this.#byHook.values()].map((id) => this.get(id)?.instanceId ?? null).filter((id) => id !== null);
  }

  /** Returns the webhooks that may get events of an instance: its own ones, and the global one. */
  receiving(id: InstanceId): readonly Webhook[] {
    return [...this.own(id), ...this.own(null)];
  }

  set(webhook: Webhook): void {
    if (!this.#byId.has(webhook.id)) this.#byOwner.set(webhook.instanceId, [...(this.#byOwner.get(webhook.instanceId) ?? []), webhook.id]);
    this.#byId.set(webhook.id, webhook);
    if (webhook.chatwoot) this.#byHook.set(webhook.chatwoot.hook, webhook.id);
  }

  /** Removes a webhook and returns it. */
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
