/** The stored form of each kind of message, for the documents: a test sends the example bodies and compares. */

/** The name of a kind, and an outline of its content: names of fields, and of a button also its name. */
interface Stored {
  readonly messageType: string;
  readonly content: string;
}

/** A message with buttons. */
const nativeFlow = (button: string): Stored => ({
  messageType: 'NativeFlowMessage',
  content: `{body: {text}, nativeFlowMessage: {buttons: [{name: "${button}", buttonParamsJSON}], messageParamsJSON, messageVersion}}`,
});

const stored = {
  '/send/text': { messageType: 'ExtendedTextMessage', content: '{text}' },
  '/send/media': {
    messageType: 'ImageMessage',
    content:
      '{mimetype, fileLength, fileSHA256, URL, directPath, mediaKey, fileEncSHA256, mediaKeyTimestamp, JPEGThumbnail, width, height}',
  },
  '/send/contact': { messageType: 'ContactMessage', content: '{displayName, vcard}' },
  '/send/location': { messageType: 'LocationMessage', content: '{degreesLatitude, degreesLongitude}' },
  '/send/group-invite': { messageType: 'GroupInviteMessage', content: '{groupJID, inviteCode, inviteExpiration}' },
  '/send/event': { messageType: 'EventMessage', content: '{isCanceled, name, startTime, endTime, extraGuestsAllowed, isScheduleCall}' },
  '/send/menu': nativeFlow('quick_reply'),
  '/send/carousel': nativeFlow('quick_reply'),
  '/send/location-button': nativeFlow('send_location'),
  '/send/request-payment': nativeFlow('review_and_pay'),
  '/send/pix-button': nativeFlow('payment_info'),
  '/send/status': { messageType: 'ExtendedTextMessage', content: '{text, backgroundArgb, textArgb, font}' },
} as const satisfies Readonly<Record<string, Stored>>;

export type SendPath = keyof typeof stored;

/** Returns the sentence on the answer to the example body of this send. */
export const storedText = (path: SendPath): string => {
  const { messageType, content } = stored[path];
  return `The answer to the example has the \`messageType\` \`${messageType}\` and the \`content\` \`${content}\``;
};
