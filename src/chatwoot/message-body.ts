/** A message as Chatwoot takes it: JSON, or a form when it has a file. */
import { openAsBlob } from 'node:fs';
import { FormData } from 'undici';
import type { ChatwootPost } from '#actors/ports.ts';

/** Characters that Chatwoot takes of one text. */
const longest = 150_000;

export const messageBody = async ({
  text,
  incoming,
  private: isNote,
  sourceId,
  replyTo,
  file,
}: ChatwootPost): Promise<object | FormData> => {
  const fields = {
    content: text.slice(0, longest),
    message_type: incoming ? 'incoming' : 'outgoing',
    private: isNote,
    source_id: sourceId,
  };
  const attributes = replyTo === 0 ? null : { in_reply_to: replyTo };
  if (file === null) return { ...fields, ...(attributes && { content_attributes: attributes }) };
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, String(value));
  if (attributes) form.set('content_attributes', JSON.stringify(attributes));
  form.set('attachments[]', await openAsBlob(file.path, { type: file.mimetype }), file.name);
  return form;
};
