/** Native flows: how the buttons of today's messages are written, each a name with its parameters as JSON. */
import type { proto } from '@whiskeysockets/baileys';
import type { Button, ListSection } from '#actors/model.ts';

type Flow = proto.Message.InteractiveMessage.NativeFlowMessage.INativeFlowButton;

export const flow = (name: string, params: unknown): Flow => ({ name, buttonParamsJson: JSON.stringify(params) });

export const buttonFlow = (button: Button): Flow => {
  const { text: display_text } = button;
  switch (button.kind) {
    case 'reply':
      return flow('quick_reply', { display_text, id: button.id });
    case 'url':
      return flow('cta_url', { display_text, url: button.url, merchant_url: button.url });
    case 'call':
      return flow('cta_call', { display_text, phone_number: button.phone });
    case 'copy':
      return flow('cta_copy', { display_text, copy_code: button.code });
  }
};

export const listFlow = (title: string, sections: readonly ListSection[]): Flow =>
  flow('single_select', {
    title,
    sections: sections.map((section) => ({
      title: section.title,
      highlight_label: '',
      rows: section.rows.map((row) => ({ header: '', title: row.title, description: row.description, id: row.id })),
    })),
  });

interface Words {
  readonly title?: string;
  readonly text: string;
  readonly footer?: string;
}

/** A picture, video or document above the text. */
export type HeadMessage = Pick<proto.Message.InteractiveMessage.IHeader, 'imageMessage' | 'videoMessage' | 'documentMessage'>;

/** The part that messages and cards have in common. */
export const interactive = (
  { title = '', text, footer = '' }: Words,
  buttons: readonly Flow[],
  head: HeadMessage | null = null,
): proto.Message.IInteractiveMessage => ({
  ...(title === '' && head === null ? {} : { header: { title, hasMediaAttachment: head !== null, ...head } }),
  body: { text },
  ...(footer === '' ? {} : { footer: { text: footer } }),
  nativeFlowMessage: { buttons: [...buttons], messageParamsJson: '', messageVersion: 1 },
});

/** The whole message. The list of devices stands in messages of this kind, empty, as clients that send them write it. */
export const interactiveMessage = (message: proto.Message.IInteractiveMessage): proto.IMessage => ({
  interactiveMessage: message,
  messageContextInfo: { deviceListMetadata: {}, deviceListMetadataVersion: 2 },
});
