/**
 * The forms of stanzas that a client sends. Sources: tulir/whatsmeow at 33cfac51, and vinikjkkj/zapo at 9a49e1f (builders: `src/transport/node/builders/`),
 * which follows the code of WhatsApp Web. Names of requests are `xmlns/type/child`.
 */
import type { BinaryNode } from '@whiskeysockets/baileys';
import {
  any,
  bytes,
  child,
  device,
  digits,
  empty,
  type Form,
  group,
  id,
  key,
  lid,
  participant,
  person,
  pn,
  server,
  signedKey,
  within,
} from './form.ts';

/** Returns the form of a request to the platform with one child. */
const asks = (source: string, children: Form['children'], to = server): Form => ({
  source,
  attrs: { id, to, type: /^(get|set)$/, xmlns: any, 'smax_id?': digits },
  children: children ?? {},
});
/** Returns the form of a request whose content is not checked. */
const shallow = (source: string, to = server, more: Form['attrs'] = {}): Form => ({
  source,
  attrs: { id, to, type: /^(get|set)$/, xmlns: any, ...more },
  open: true,
});

const companion = (node: BinaryNode): string | undefined => {
  const display = String(child(node, 'companion_platform_display')?.content ?? 'Chrome (Windows)');
  return /^\w+ \((Windows|Mac OS|Linux|[A-Z][\w ]+)\)$/.test(Buffer.from(display).toString()) ? undefined : 'names no real system';
};
const hello: Form = {
  attrs: { jid: pn, stage: /^companion_hello$/, should_show_push_notification: /^(true|false)$/ },
  children: {
    link_code_pairing_wrapped_companion_ephemeral_pub: { bytes: 80 },
    companion_server_auth_key_pub: { bytes: 32 },
    companion_platform_id: bytes,
    companion_platform_display: bytes,
    link_code_pairing_nonce: { bytes: 1 },
  },
  rule: companion,
};
const finish: Form = {
  attrs: { jid: pn, stage: /^companion_finish$/ },
  children: { link_code_pairing_wrapped_key_bundle: bytes, companion_identity_public: { bytes: 32 }, link_code_pairing_ref: bytes },
};

/** The five requests of linking with a passkey, and the pairing code. */
const pairing: Readonly<Record<string, Form>> = {
  'md/get/passkey_request_options': asks('zapo shortcake.ts:20', { passkey_request_options: empty }),
  'md/get/ref': asks('zapo shortcake.ts:27', { ref: empty }),
  'md/set/passkey_prologue': asks('zapo shortcake.ts:35', {
    passkey_prologue: {
      children: { credential_id: bytes, webauthn_assertion: bytes, prologue_payload: bytes, 'pairing_handoff_proof?': { bytes: 32 } },
    },
  }),
  'md/set/companion_nonce': asks('zapo shortcake.ts:57', { companion_nonce: { bytes: 32 } }),
  'md/set/encrypted_pairing_request': asks('zapo shortcake.ts:62', { encrypted_pairing_request: bytes }),
  'md/set/link_code_companion_reg companion_hello': asks('zapo pairing.ts:5', { link_code_companion_reg: hello }),
  'md/set/link_code_companion_reg companion_finish': asks('zapo pairing.ts:81', { link_code_companion_reg: finish }),
  'md/set/remove-companion-device': asks('whatsmeow client.go Logout', {
    'remove-companion-device': { attrs: { jid: device, reason: /^user_initiated$/ } },
  }),
};

const keys: Readonly<Record<string, Form>> = {
  'encrypt/get/count': asks('whatsmeow prekeys.go:38', { count: empty }),
  'encrypt/get/digest': asks('zapo SignalDigestSyncApi.ts:109', { digest: empty }),
  'encrypt/get/key': asks('whatsmeow prekeys.go:127', {
    key: { children: { 'user+': { attrs: { jid: device, 'reason?': /^identity$/ } } } },
  }),
  'encrypt/set/registration': asks('whatsmeow prekeys.go:77', {
    registration: { bytes: 4 },
    type: { bytes: 1 },
    identity: { bytes: 32 },
    list: { children: { 'key+': key } },
    skey: signedKey,
  }),
  'encrypt/set/rotate': asks('zapo prekeys.ts:67', { rotate: { children: { skey: signedKey } } }),
};

/** The protocols of a lookup. Contacts are looked up by LID since 2026-07-13 (whatsmeow 6e4c3416). */
const protocols: Form['children'] = {
  'contact?': { attrs: { addressing_mode: /^lid$/ } },
  'devices?': { attrs: { version: /^2$/ } },
  'business?': { children: { 'verified_name?': empty, 'profile?': { attrs: { v: digits } } } },
  'lid?': empty,
  'status?': empty,
  'picture?': { attrs: { type: /^preview$/ } },
  'disappearing_mode?': empty,
  'username?': empty,
};
const looksUp: Form = {
  attrs: {
    sid: id,
    index: /^0$/,
    last: /^true$/,
    mode: /^(query|full|delta)$/,
    context: /^(interactive|message|background|notification|add)$/,
  },
  children: {
    query: { children: protocols },
    list: {
      children: {
        'user+': {
          attrs: { 'jid?': /^\d+@(s\.whatsapp\.net|lid|c\.us)$/, 'pn_jid?': pn },
          children: { 'contact?': bytes, 'lid?': { attrs: { jid: lid } }, 'devices?': { attrs: {} } },
        },
      },
    },
  },
};

const members = (source: string, action: string): Form => asks(source, { [action]: { children: { 'participant+': participant } } }, group);
const create: Form = {
  // The attribute `key` was allowed until 2026-08. The platform refuses a request with it.
  attrs: { subject: any },
  children: {
    'participant*': participant,
    'description?': { attrs: { id: any }, children: { body: bytes } },
    'parent?': { attrs: { 'default_membership_approval_mode?': /^request_required$/ } },
    'linked_parent?': { attrs: { jid: group } },
    'locked?': empty,
    'announcement?': empty,
    'allow_non_admin_sub_group_creation?': empty,
    'create_general_chat?': empty,
    member_add_mode: bytes,
    ephemeral: { attrs: { expiration: digits, 'trigger?': digits } },
    membership_approval_mode: { children: { group_join: { attrs: { state: /^(on|off)$/ } } } },
  },
};
export const groupRequests: Readonly<Record<string, Form>> = {
  'w:g2/set/create': asks('whatsmeow group.go:60', { create }, /^@?g\.us$/),
  'w:g2/set/add': members('zapo group.ts:67', 'add'),
  'w:g2/set/remove': members('zapo group.ts:67', 'remove'),
  'w:g2/set/promote': members('zapo group.ts:67', 'promote'),
  'w:g2/set/demote': members('zapo group.ts:67', 'demote'),
  'w:g2/set/leave': asks('zapo group.ts:84', { leave: { children: { 'group+': { attrs: { id: group } } } } }, /^@?g\.us$/),
  'w:g2/set/subject': asks('whatsmeow group.go SetGroupName', { subject: bytes }, group),
  'w:g2/set/invite': asks('whatsmeow group.go GetGroupInviteLink', { invite: { attrs: { 'code?': any } } }, /^([\d-]+)?@?g\.us$/),
  'w:g2/get/invite': asks('whatsmeow group.go GetGroupInfoFromLink', { invite: { attrs: { 'code?': any } } }, /^([\d-]+)?@?g\.us$/),
  'w:g2/get/membership_approval_requests': asks('zapo group.ts:97', { membership_approval_requests: empty }, group),
  'w:g2/set/membership_requests_action': asks(
    'zapo group.ts:103',
    {
      membership_requests_action: {
        children: { 'approve?': { children: { 'participant+': participant } }, 'reject?': { children: { 'participant+': participant } } },
      },
    },
    group,
  ),
  'w:g2/set/membership_approval_mode': asks(
    'whatsmeow group.go SetGroupJoinApprovalMode',
    { membership_approval_mode: { children: { group_join: { attrs: { state: /^(on|off)$/ } } } } },
    group,
  ),
  'w:g2/set/description': asks(
    'whatsmeow group.go:364',
    {
      description: {
        attrs: { id, 'prev?': id, 'delete?': /^true$/ },
        children: { 'body?': bytes },
        rule: (node) =>
          (node.attrs['delete'] === undefined) === (child(node, 'body') !== undefined) ? undefined : 'has a text, or deletes it',
      },
    },
    group,
  ),
  'w:g2/set/announcement': asks('whatsmeow group.go:412', { announcement: empty }, group),
  'w:g2/set/not_announcement': asks('whatsmeow group.go:412', { not_announcement: empty }, group),
  'w:g2/set/locked': asks('whatsmeow group.go:402', { locked: empty }, group),
  'w:g2/set/unlocked': asks('whatsmeow group.go:402', { unlocked: empty }, group),
  'w:g2/set/member_add_mode': asks('whatsmeow group.go:1080', { member_add_mode: bytes }, group),
  'w:g2/set/ephemeral': asks('whatsmeow send.go:666', { ephemeral: { attrs: { expiration: digits } } }, group),
  'w:g2/set/not_ephemeral': asks('whatsmeow send.go:664', { not_ephemeral: empty }, group),
  'w:g2/set/links': asks(
    'zapo community.ts:10',
    { links: { children: { link: { attrs: { link_type: /^sub_group$/ }, children: { 'group+': { attrs: { jid: group } } } } } } },
    group,
  ),
  'w:g2/set/unlink': asks(
    'zapo community.ts:39',
    {
      unlink: {
        attrs: { unlink_type: /^sub_group$/ },
        children: { 'group+': { attrs: { jid: group, 'remove_orphaned_members?': /^true$/ } } },
      },
    },
    group,
  ),
  'w:g2/get/participating': asks(
    'whatsmeow group.go GetJoinedGroups',
    { participating: { children: { participants: empty, description: empty } } },
    /^@?g\.us$/,
  ),
  'w:g2/get/query': asks('whatsmeow group.go GetGroupInfo', { query: { attrs: { request: /^interactive$/ } } }, group),
};

export const clientRequests: Readonly<Record<string, Form>> = {
  ...pairing,
  ...keys,
  ...groupRequests,
  'usync/get/usync': asks('zapo usync.ts:106', { usync: looksUp }),
  'blocklist/get/': asks('zapo privacy.ts:143', {}),
  'blocklist/set/item': asks('zapo privacy.ts:186', {
    item: {
      attrs: { action: /^(block|unblock)$/, jid: lid, 'pn_jid?': pn },
      rule: ({ attrs }) =>
        (attrs['action'] === 'block') === (attrs['pn_jid'] !== undefined) ? undefined : 'names the number only to block',
    },
  }),
  'passive/set/active': asks('zapo passive.ts:7', { active: empty }),
  'privacy/set/tokens': asks('zapo privacy-token.ts', {
    tokens: { children: { 'token+': { attrs: { jid: person, t: digits, type: /^trusted_contact$/ } } } },
  }),
  'privacy/get/privacy': asks('zapo privacy.ts', { privacy: empty }),
  'abt/get/props': shallow('zapo abprops.ts'),
  'w:mex/get/query': asks('whatsmeow newsletter.go sendMexIQ', { query: { attrs: { query_id: digits }, bytes: 'any' } }),
  'w:profile:picture/get/picture': shallow('zapo profile.ts', server, { target: /@/ }),
  'w:profile:picture/set/picture': shallow('zapo profile.ts', server, { 'target?': /@/ }),
  'w:profile:picture/set/': shallow('zapo profile.ts', server, { 'target?': /@/ }),
  'w:sync:app:state/set/sync': shallow('whatsmeow appstate.go'),
  'w:p/get/': shallow('whatsmeow keepalive.go'),
  'w:p/get/ping': asks('the library socket.js', { ping: empty }),
};

/** The forms of a client's answers to requests of the platform. */
const answer = (source: string, children: Form['children'] = {}): Form => ({
  source,
  attrs: { id, to: server, type: /^result$/ },
  children,
});
export const clientAnswers: Readonly<Record<string, Form>> = {
  'md/set/pair-device': answer('whatsmeow pair.go:54'),
  'md/set/pair-success': answer('whatsmeow pair.go handlePair', {
    'pair-device-sign': { children: { 'device-identity': { attrs: { 'key-index': digits }, bytes: 'any' } } },
  }),
};

const enc: Form = {
  source: 'zapo message.ts:54',
  attrs: { v: /^2$/, type: /^(msg|pkmsg|skmsg)$/, 'mediatype?': any, 'count?': digits, 'decrypt-fail?': /^hide$/ },
  bytes: 'any',
};
const addressing = (jid: string | undefined): string => jid?.slice(jid.indexOf('@')) ?? '';

/** Returns a fault of a message: its addressing, and parts that belong together. */
function messageRule(node: BinaryNode): string | undefined {
  const { to = '', peer_recipient_pn: number, addressing_mode: mode, participant: one, category, device_fanout: fanout } = node.attrs;
  const encs = within(node, 'enc').map(({ attrs }) => attrs['type']);
  const named = within(node, 'to').map(({ attrs }) => addressing(attrs['jid']));
  if (encs.includes('pkmsg') !== (child(node, 'device-identity') !== undefined) && category !== 'peer')
    return 'carries the identity of the device with a first message, and with no other';
  if (group.test(to)) {
    if (mode === undefined) return 'to a group lacks addressing_mode';
    if (named.some((form) => form !== (mode === 'lid' ? '@lid' : '@s.whatsapp.net'))) return 'mixes forms of addresses';
    return encs.includes('skmsg') === (one === undefined) ? undefined : 'to a group is encrypted for all, or again for one';
  }
  if (mode !== undefined) return 'to a person must not have addressing_mode';
  if (named.some((form) => form !== addressing(to))) return 'mixes forms of addresses';
  if (category === 'peer' || fanout === 'false' || one !== undefined) return undefined;
  // Private chats are always addressed by LID, with the number beside it (whatsmeow 4f8f64e0).
  return lid.test(to) && number !== undefined ? undefined : 'to a person is addressed by number, or does not name the number';
}

export const message: Form = {
  source: 'zapo message.ts:76, :216, :238, :263',
  attrs: {
    id,
    to: /@(lid|s\.whatsapp\.net|g\.us)$/,
    type: /^(text|media|reaction|poll|event|medianotify)$/,
    'edit?': /^[1-8]$/,
    'phash?': /^2:/,
    'addressing_mode?': /^(pn|lid)$/,
    'peer_recipient_pn?': pn,
    'participant?': device,
    'category?': /^peer$/,
    'push_priority?': /^high(_force)?$/,
    'device_fanout?': /^false$/,
    'recipient?': person,
    'expiration?': digits,
  },
  children: {
    'participants?': { children: { 'to+': { attrs: { jid: device }, children: { enc } } } },
    'enc?': enc,
    'device-identity?': bytes,
    'reporting?': { children: { reporting_token: { attrs: { v: /^2$/ }, bytes: 'any' } } },
    'meta?': { attrs: { 'polltype?': any, 'event_type?': any, 'appdata?': any } },
    'biz?': { attrs: { 'native_flow_name?': any }, open: true },
    'tctoken?': bytes,
    'cstoken?': bytes,
  },
  rule: messageRule,
};

const types = /^(read|read-self|played|inactive|peer_msg|hist_sync|retry|sender|server-error)$/;
export const receipt: Form = {
  source: 'whatsmeow receipt.go, retry.go; zapo retry.ts',
  attrs: {
    id,
    to: /@/,
    'type?': types,
    'participant?': device,
    'recipient?': person,
    't?': digits,
    'category?': /^peer$/,
  },
  children: {
    'list?': { children: { 'item+': { attrs: { id } } } },
    'retry?': { attrs: { id, count: digits, t: digits, v: /^1$/, 'error?': digits } },
    'registration?': { bytes: 4 },
    'keys?': {
      children: { type: { bytes: 1 }, identity: { bytes: 32 }, 'key?': key, skey: signedKey, 'device-identity?': bytes },
    },
    'encrypt?': { open: true },
    'rmr?': { open: true },
  },
  rule: (node) =>
    (node.attrs['type'] === 'retry') === (child(node, 'retry') !== undefined) ? undefined : 'has <retry> when it asks again',
};

export const ack: Form = {
  source: 'whatsmeow receipt.go:149',
  attrs: {
    id,
    to: any,
    class: /^(message|receipt|notification|call|status)$/,
    'type?': any,
    'participant?': device,
    'recipient?': person,
    'error?': digits,
  },
  rule: ({ attrs: { class: kind, type } }) => {
    if (kind === 'notification' && type === undefined) return 'of a notification lacks its type';
    return kind === 'message' && type !== undefined ? 'of a message must not have a type' : undefined;
  },
};

export const clientStanzas: Readonly<Record<string, Form>> = {
  message,
  receipt,
  ack,
  // The attribute `from` is absent since 2026-08-04, and the address is the LID (whatsmeow 1494ba73).
  chatstate: {
    source: 'zapo chatstate.ts:22',
    attrs: { to: /@(lid|g\.us)$/ },
    children: { 'composing?': { attrs: { 'media?': /^audio$/ } }, 'paused?': empty },
    rule: ({ content }) => (Array.isArray(content) && content.length === 1 ? undefined : 'has one state'),
  },
  presence: {
    source: 'zapo presence.ts:11, :44',
    attrs: { 'type?': /^(available|unavailable|subscribe)$/, 'name?': any, 'to?': person, 'id?': id, 'context?': any },
    children: { 'tctoken?': bytes },
  },
  ib: { source: 'whatsmeow presence.go (unified session)', children: { unified_session: { attrs: { id: digits } } } },
  call: { source: 'whatsmeow call.go', attrs: { id, to: any, 'from?': any }, open: true },
};
