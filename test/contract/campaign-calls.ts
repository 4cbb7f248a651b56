/** Calls of the operations on campaigns, with all of their fields. */

/** Fields of messages of every kind that a campaign may have. */
const campaignContent = {
  text: 'Hello {{name}}',
  linkPreview: false,
  linkPreviewTitle: 'Title',
  linkPreviewDescription: 'Description',
  linkPreviewImage: 'https://example.com/image.jpg',
  linkPreviewLarge: false,
  file: 'https://example.com/a.jpg',
  docName: 'report.pdf',
  fullName: 'Ana Silva',
  phoneNumber: '5511999999999',
  organization: 'Shop',
  email: 'ana@example.com',
  url: 'https://example.com',
  latitude: -23.5,
  longitude: -46.6,
  name: 'Shop',
  address: 'Street 1',
  footerText: 'Below',
  buttonText: 'Menu',
  listButton: 'Menu',
  selectableCount: 1,
  choices: ['Yes|yes'],
  imageButton: 'https://example.com/image.jpg',
};

/** The calls. Status 409 means that the instance has no account. */
export const campaignCalls = {
  'POST /sender/simple': {
    body: {
      numbers: ['5511999999999', '5511888888888'],
      type: 'text',
      folder: 'January',
      delayMin: 10,
      delayMax: 30,
      scheduled_for: 1,
      info: 'about it',
      delay: 1,
      mentions: '5511999999999',
      ...campaignContent,
    },
    withoutPlatform: 409,
  },
  'POST /sender/advanced': {
    body: {
      delayMin: 3,
      delayMax: 6,
      info: 'about it',
      scheduled_for: 1,
      messages: [{ number: '5511999999999', type: 'text', ...campaignContent }],
    },
    withoutPlatform: 409,
  },
  'POST /sender/edit': { body: { folder_id: 'r1a2b3c4d5e6f70', action: 'stop' }, withoutPlatform: 404 },
  'POST /sender/cleardone': { body: { hours: 168 } },
  'DELETE /sender/clearall': {},
  'GET /sender/listfolders': {},
  'POST /sender/listmessages': {
    body: { folder_id: 'r1a2b3c4d5e6f70', messageStatus: 'Scheduled', limit: 10, offset: 0 },
    withoutPlatform: 404,
  },
} as const;
