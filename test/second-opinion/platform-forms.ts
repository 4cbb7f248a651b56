/**
 * The forms of stanzas that the platform sends, as other clients read them: tulir/whatsmeow at 33cfac51, and vinikjkkj/zapo at 9a49e1f. The simulated
 * platform is checked against them.
 */
import type { BinaryNode } from '@whiskeysockets/baileys';
import {
  any,
  bytes,
  child,
  childrenOf,
  device,
  digits,
  empty,
  type Form,
  group,
  id,
  key,
  lid,
  listHash,
  person,
  pn,
  server,
  signedKey,
} from './form.ts';
import { groupRequests } from './client-forms.ts';

const request = (source: string, children: Form['children']): Form => ({
  source,
  attrs: { id, from: server, type: /^set$/, xmlns: any, 't?': digits },
  children: children ?? {},
});

export const platformRequests: Readonly<Record<string, Form>> = {
  'md/set/pair-device': request('whatsmeow pair.go:51', { 'pair-device': { children: { 'ref+': bytes } } }),
  'md/set/pair-success': request('whatsmeow pair.go handlePairSuccess', {
    'pair-success': {
      children: {
        'device-identity': bytes,
        'biz?': { attrs: { name: any } },
        device: { attrs: { jid: /^\d+:\d+@s\.whatsapp\.net$/, 'lid?': /^\d+:\d+@lid$/ } },
        platform: { attrs: { name: any } },
        'encrypted-pairing-request?': bytes,
      },
    },
  }),
};

const answer = (source: string, children: Form['children']): Form => ({
  source,
  attrs: { id, from: any, type: /^result$/ },
  children: children ?? {},
});
/** Returns the form of an answer whose content is not checked. */
const shallow = (source: string): Form => ({ source, attrs: { id, from: any, type: /^result$/ }, open: true });

/** Checks the key index, which linked devices have and phones have not. */
const indexed = ({ attrs }: BinaryNode): string | undefined =>
  (attrs['id'] === '0') === (attrs['key-index'] === undefined) ? undefined : 'has a key index, the phone alone has none';
const devices: Form = {
  source: 'whatsmeow user.go:777; the library USyncDeviceProtocol.js',
  children: {
    'device-list': {
      attrs: { hash: listHash },
      children: { 'device+': { attrs: { id: digits, 'key-index?': digits, 'is_hosted?': /^true$/ }, rule: indexed } },
    },
    'key-index-list?': { attrs: { ts: digits, 'expected_ts?': digits }, bytes: 'any' },
  },
  rule: (node) =>
    childrenOf(child(node, 'device-list') ?? node).length > 1 && !child(node, 'key-index-list')
      ? 'lacks the signed list of key indexes'
      : undefined,
};
const looked: Form = {
  attrs: { sid: id, index: /^0$/, last: /^true$/, mode: any, context: any },
  children: {
    'result?': { open: true },
    list: {
      children: {
        'user*': {
          attrs: { 'jid?': person, 'pn_jid?': pn },
          children: {
            'contact?': { attrs: { type: /^(in|out|invalid)$/ }, open: true },
            'devices?': devices,
            'lid?': { attrs: { val: lid } },
            'business?': { open: true },
            'status?': { open: true },
            'disappearing_mode?': { attrs: { duration: digits, t: digits } },
            'username?': { open: true },
          },
          rule: ({ attrs }) => (attrs['jid'] === undefined && attrs['pn_jid'] === undefined ? 'names nobody' : undefined),
        },
      },
    },
  },
};

const bundle: Form['children'] = {
  registration: { bytes: 4 },
  type: { bytes: 1 },
  identity: { bytes: 32 },
  skey: signedKey,
};

/** Answers by the name of their request. The content of an answer without a form is not checked, because other tests read it. */
export const platformAnswers: Readonly<Record<string, Form>> = {
  'usync/get/usync': answer('whatsmeow user.go:191', { usync: looked }),
  'encrypt/get/count': answer('whatsmeow prekeys.go:38', { count: { attrs: { value: digits } } }),
  'encrypt/get/digest': answer('zapo SignalDigestSyncApi.ts:249', {
    digest: { children: { ...bundle, list: { children: { 'id*': { bytes: 3 } } }, hash: { bytes: 20 } } },
  }),
  'encrypt/get/key': answer('whatsmeow prekeys.go:137', {
    list: {
      children: { 'user+': { attrs: { jid: device, 't?': digits }, children: { ...bundle, 'key?': key, 'device-identity?': bytes } } },
    },
  }),
  'encrypt/set/registration': answer('whatsmeow prekeys.go:77', {}),
  'encrypt/set/rotate': answer('zapo prekeys.ts:67', {}),
  'md/get/passkey_request_options': answer('zapo shortcake.ts:20', { passkey_request_options: bytes }),
  'md/get/ref': answer('zapo shortcake.ts:27', { ref: bytes }),
  'md/set/passkey_prologue': answer('zapo shortcake.ts:35', {}),
  'md/set/companion_nonce': answer('zapo shortcake.ts:57', {}),
  'md/set/encrypted_pairing_request': answer('zapo shortcake.ts:62', {}),
  'md/set/link_code_companion_reg companion_hello': answer('whatsmeow pair-code.go', {
    link_code_companion_reg: { attrs: { 'stage?': any }, children: { link_code_pairing_ref: bytes } },
  }),
  'md/set/link_code_companion_reg companion_finish': answer('whatsmeow pair-code.go', {}),
  'md/set/remove-companion-device': answer('whatsmeow client.go Logout', {}),
  'passive/set/active': answer('zapo passive.ts:7', {}),
  'blocklist/get/': answer('whatsmeow user.go GetBlocklist', {
    'list?': {
      attrs: { 'dhash?': any, 'addressing_mode?': /^lid$/ },
      children: { 'item*': { attrs: { jid: person, 'pn_jid?': pn, 'action?': any } } },
    },
  }),
  'blocklist/set/item': answer('whatsmeow user.go UpdateBlocklist', { 'list?': { attrs: { 'dhash?': any }, open: true } }),
  'w:mex/get/query': answer('whatsmeow newsletter.go sendMexIQ', { result: bytes }),
  ...Object.fromEntries(
    [
      ...Object.keys(groupRequests),
      'privacy/get/privacy',
      'privacy/set/tokens',
      'abt/get/props',
      'w:profile:picture/get/picture',
      'w:profile:picture/set/picture',
      'w:profile:picture/set/',
      'w:sync:app:state/set/sync',
      'w:p/get/',
      'w:p/get/ping',
    ].map((name) => [name, shallow(name)]),
  ),
};

export const errorAnswer: Form = {
  source: 'whatsmeow request.go, errors.go',
  attrs: { id, from: any, type: /^error$/ },
  children: { error: { attrs: { code: digits, text: any, 'backoff?': digits } } },
};

const changed = (key: 'add' | 'remove'): Form => ({
  attrs: { device_hash: listHash, 'device_lid_hash?': listHash },
  children: {
    device: { attrs: { jid: device, 'lid?': /^\d+(:\d+)?@lid$/, ...(key === 'add' ? { 'key-index': digits } : {}) } },
    'key-index-list': { attrs: { ts: digits }, ...(key === 'add' ? { bytes: 'any' as const } : {}) },
  },
});
const devicesRule = (node: BinaryNode): string | undefined => {
  const [change] = childrenOf(node);
  if (change === undefined || childrenOf(node).length !== 1) return 'has one change';
  const shown = [node.attrs['lid'], change.attrs['device_lid_hash'], child(change, 'device')?.attrs['lid']].map((one) => one !== undefined);
  return new Set(shown).size === 1 || change.tag === 'update'
    ? undefined
    : 'names the LID of the person, of the device, and the hash by LID together';
};

const notified = (source: string, form: Form, from = server): Form => ({
  source,
  ...form,
  attrs: { id, from, type: any, t: digits, 'offline?': digits, ...form.attrs },
});
/** The author of a change in a group. */
const actor: Form['attrs'] = {
  'participant?': person,
  'participant_pn?': pn,
  'participant_lid?': lid,
  'addressing_mode?': /^(pn|lid)$/,
  'notify?': any,
};

/** Notifications by their type. */
export const notifications: Readonly<Record<string, Form>> = {
  devices: notified(
    'whatsmeow notification.go:116',
    {
      attrs: { 'lid?': lid },
      children: { 'add?': changed('add'), 'remove?': changed('remove'), 'update?': { attrs: { 'hash?': any } } },
      rule: devicesRule,
    },
    person,
  ),
  encrypt: notified(
    'whatsmeow notification.go:26',
    {
      attrs: { 'lid?': lid },
      children: { 'count?': { attrs: { value: digits } }, 'identity?': { open: true }, 'device-identity?': bytes },
      rule: ({ attrs, content }) =>
        Array.isArray(content) && content.some(({ tag }) => tag === (server.test(attrs['from'] ?? '') ? 'count' : 'identity'))
          ? undefined
          : 'counts keys for the account, or says who has others',
    },
    /^(@?s\.whatsapp\.net|\d+(:\d+)?@(s\.whatsapp\.net|lid))$/,
  ),
  companion_reg_refresh: notified('zapo WaPairingFlow', { children: { 'companion_reg_refresh?': empty, 'pair-device-rotate-qr?': empty } }),
  link_code_companion_reg: notified('whatsmeow pair-code.go', {
    children: {
      link_code_companion_reg: {
        attrs: { stage: /^(primary_hello|refresh_code)$/, 'force_manual_refresh?': /^true$/ },
        children: {
          link_code_pairing_ref: bytes,
          'link_code_pairing_wrapped_primary_ephemeral_pub?': { bytes: 80 },
          'primary_identity_pub?': { bytes: 32 },
        },
      },
    },
  }),
  passkey_prologue_request: notified('zapo shortcake', { children: { 'passkey_request_options?': bytes } }),
  crsc_continuation: notified('zapo shortcake', { children: { primary_ephemeral_identity: bytes } }),
  'w:gp2': notified('whatsmeow group.go parseGroupChange', { attrs: actor, open: true }, group),
  picture: notified('whatsmeow notification.go:91', { attrs: actor, open: true }, /@/),
  account_sync: notified('whatsmeow notification.go handleAccountSync', { open: true }, person),
  privacy_token: notified('zapo privacy-token.ts', { attrs: { 'sender_lid?': lid }, open: true }, person),
  mex: notified('whatsmeow notification.go handleMexNotification', { children: { update: { attrs: { op_name: any }, bytes: 'any' } } }),
};

const written: Form = {
  source: 'whatsmeow message.go parseMessageSource',
  attrs: {
    id,
    from: /@/,
    type: /^(text|media|reaction|poll|event|medianotify)$/,
    t: digits,
    'notify?': any,
    'participant?': device,
    'participant_pn?': pn,
    'participant_lid?': lid,
    'sender_pn?': pn,
    'sender_lid?': lid,
    'recipient?': /@/,
    'peer_recipient_pn?': pn,
    'peer_recipient_lid?': lid,
    'addressing_mode?': /^(pn|lid)$/,
    'category?': /^peer$/,
    'edit?': /^[1-8]$/,
    'offline?': digits,
  },
  children: {
    'enc+': {
      attrs: { v: /^2$/, type: /^(msg|pkmsg|skmsg)$/, 'mediatype?': any, 'count?': digits, 'decrypt-fail?': /^hide$/ },
      bytes: 'any',
    },
    'device-identity?': bytes,
    'meta?': { open: true },
    'biz?': { open: true },
    'reporting?': { open: true },
    'tctoken?': bytes,
  },
  rule: ({ attrs }) =>
    group.test(attrs['from'] ?? '') === (attrs['participant'] !== undefined) ? undefined : 'names its writer in groups alone',
};

export const platformStanzas: Readonly<Record<string, Form>> = {
  message: written,
  success: {
    source: 'whatsmeow connectionevents.go handleConnectSuccess',
    attrs: {
      t: digits,
      lid: /^\d+:\d+@lid$/,
      'props?': any,
      'location?': any,
      'abprops?': any,
      'companion_enc_static?': any,
      'display_name?': any,
    },
  },
  failure: {
    source: 'whatsmeow connectionevents.go handleConnectFailure',
    attrs: { reason: digits, 'location?': any, 'code?': digits, 'expire?': digits, 'message?': any },
    open: true,
  },
  ack: {
    source: 'whatsmeow send.go:446',
    attrs: {
      id,
      class: any,
      from: any,
      't?': digits,
      'type?': any,
      'participant?': device,
      'error?': digits,
      'phash?': listHash,
      'refresh_lid?': /^true$/,
      'server_id?': digits,
    },
  },
  receipt: {
    source: 'whatsmeow receipt.go parseReceipt',
    attrs: {
      id,
      from: /@/,
      t: digits,
      'type?': any,
      'participant?': device,
      'participant_pn?': pn,
      'participant_lid?': lid,
      'recipient?': person,
      'offline?': digits,
    },
    open: true,
  },
  ib: { source: 'whatsmeow connectionevents.go handleIB', attrs: { from: server }, open: true },
  chatstate: { source: 'whatsmeow presence.go:25', attrs: { from: /@/, 'participant?': device }, open: true },
  presence: { source: 'whatsmeow presence.go:48', attrs: { from: person, 'type?': /^unavailable$/, 'last?': any }, open: true },
  call: {
    source: 'whatsmeow call.go',
    attrs: { id, from: /@/, t: digits, 'notify?': any, 'offline?': digits, 'platform?': any, 'version?': any },
    open: true,
  },
  'stream:error': { source: 'whatsmeow connectionevents.go:25', attrs: { 'code?': digits }, open: true },
  xmlstreamend: { source: 'whatsmeow client.go' },
};
