/** Gateway methods for the Chatwoot connector. */
import type { ChatwootInbox, InstanceId, Result } from '../model.ts';

export interface ChatwootSettings extends Omit<ChatwootInbox, 'hook' | 'former'> {
  readonly enabled: boolean;
  readonly url: string;
}

export interface ChatwootFace {
  /** Returns the settings with a masked access token; null if none were ever saved. */
  chatwoot(id: InstanceId): ChatwootSettings | null;
  /**
   * Replaces the settings. To enable the connector, Chatwoot must first confirm the inbox. The masked token keeps the stored token. Returns the URL
   * to which the inbox has to post.
   */
  saveChatwoot(id: InstanceId, settings: ChatwootSettings): Promise<Result<{ readonly hookUrl: string }>>;
  /**
   * Takes a post of Chatwoot to the hook address. Resolves when the post is stored or ignored; sending happens later. Refuses with `notFound` for an
   * unknown address. Refuses with `conflict` if the connector is off, or if the post is from another inbox.
   */
  chatwootPosted(hook: string, body: Readonly<Record<string, unknown>>): Promise<Result<null>>;
}
