/** Calls of the operations on groups, with all of their fields. */

export const groupjid = '120363153742561022@g.us';
const invitecode = 'https://chat.whatsapp.com/IYnl5Zg9bUcJD32rJrDzO7';

/** The calls. Status 409 means that the session is not connected. */
export const groupCalls = Object.fromEntries(
  (
    [
      ['create', { name: 'Team', participants: ['5511999999999'] }],
      ['info', { groupjid, getInviteLink: true, getRequestsParticipants: true, force: true }],
      ['inviteInfo', { invitecode }],
      ['join', { invitecode }],
      ['leave', { groupjid }],
      ['list', { limit: 50, offset: 0, search: 'team', force: true, noParticipants: true }],
      ['resetInviteCode', { groupjid }],
      ['updateAnnounce', { groupjid, announce: true }],
      ['updateJoinApproval', { groupjid, IsJoinApprovalRequired: true }],
      ['updateMemberAddMode', { groupjid, MemberAddMode: 'admin_add' }],
      ['updateDescription', { groupjid, description: 'About us' }],
      ['ephemeral', { groupjid, duration: '1d' }],
      ['updateImage', { groupjid, image: 'remove' }],
      ['updateLocked', { groupjid, locked: true }],
      ['updateName', { groupjid, name: 'Team' }],
      ['updateParticipants', { groupjid, action: 'add', participants: ['5511999999999'] }],
    ] as const
  ).map(([name, body]) => [`POST /group/${name}`, { body, withoutPlatform: 409 }]),
);
