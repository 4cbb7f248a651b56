/** What the gateway offers on the connector to Chatwoot. */
import type { ChatwootInbox, InstanceId, Result } from '../model.ts';

export interface ChatwootSettings extends Omit<ChatwootInbox, 'hook' | 'former'> {
  readonly enabled: boolean;
  readonly url: string;
}

export interface ChatwootFace {
  /** Null when nothing was ever set. The access token is masked. */
  chatwoot(id: InstanceId): ChatwootSettings | null;
  /**
   * Replaces the settings, once Chatwoot has answered with the inbox when it is to be enabled. The masked token means the stored one. Answers with the
   * address to which the inbox has to post.
   */
  saveChatwoot(id: InstanceId, settings: ChatwootSettings): Promise<Result<{ readonly hookUrl: string }>>;
  /**
   * Takes what Chatwoot posted to the address that ends so. Resolves when it is stored, or concerns nobody; it is sent afterwards. Refused (`notFound`)
   * when nobody has this address, and (`conflict`) for what would have to be sent while the connector is off, or of an inbox that is not its own.
   */
  chatwootPosted(hook: string, body: Readonly<Record<string, unknown>>): Promise<Result<null>>;
}
