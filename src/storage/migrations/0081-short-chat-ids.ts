/** Finds a chat by the short id that `/chat/find` answers. */
import { ConcurrentIndexes } from './concurrent.ts';

export class ShortChatIds extends ConcurrentIndexes {
  protected override readonly indexes = ['chat_short_id on chat (instance_id, id)'];
}
