/** Rows of a campaign for tests of the storage. */
import type { CampaignSend, Claim } from '#actors/model.ts';
import type { Stores } from '#actors/ports.ts';

export const campaignSend: CampaignSend = {
  content: { kind: 'text', text: 'Hello {{name}}', preview: null },
  mentions: [],
  forward: false,
  replyTo: '',
  delay: 0,
  readChat: false,
  readMessages: false,
  trackSource: '',
  trackId: '',
  label: '/sender/simple',
  payload: { text: 'Hello' },
};

/** Stores a campaign with one recipient, and a contact that has opted out. */
export const putCampaign = async ({ campaigns, optOuts }: Pick<Stores, 'campaigns' | 'optOuts'>, claim: Claim): Promise<void> => {
  const recipient = { number: '551', chatId: '551@s.whatsapp.net', state: 'waiting', error: '', own: null } as const;
  const times = { scheduledFor: 0, delayMin: 1, delayMax: 1, created: 1 };
  await campaigns.create(claim, { id: 'c', info: '', shared: campaignSend, ...times }, [recipient], null);
  await optOuts.add(claim, ['1@lid'], 1);
};
