/** The platform's rules for stanzas of interactive messages. It cannot read the message, so it judges the nodes beside it. */
import { child, children, firstChild, type BinaryNode } from '../nodes.ts';

/** The codes by which the platform refuses. */
const [refusedKind, refusedFlow, malformed] = ['405', '473', '479'] as const;

/** Flows by name that only the platform's business customers may use towards people. Every other name is malformed. */
const refusedFlows: Readonly<Record<string, string>> = {
  cta_url: refusedFlow,
  call_permission_request: refusedFlow,
  payment_info: refusedFlow,
  review_and_pay: refusedFlow,
  order_details: refusedFlow,
  open_webview: refusedKind,
  galaxy_message: refusedKind,
};

/** Flows by name, with the version that they come in. */
const takenFlows: Readonly<Record<string, string>> = { mixed: '9', send_location: '2', mpm: '2', cta_catalog: '2' };

/** Payments are named by an attribute, without any child. */
const flatFlows = new Set(['payment_info', 'order_details']);

const interactiveRefusal = (interactive: BinaryNode): string | undefined => {
  const flow = child(interactive, 'native_flow');
  if (!flow || interactive.attrs['type'] !== 'native_flow' || interactive.attrs['v'] !== '1') return malformed;
  const { name = '', v } = flow.attrs;
  if (Object.hasOwn(takenFlows, name) && takenFlows[name] === v) return undefined;
  return (Object.hasOwn(refusedFlows, name) ? refusedFlows[name] : undefined) ?? malformed;
};

const bizRefusal = (biz: BinaryNode, inGroup: boolean): string | undefined => {
  const flat = biz.attrs['native_flow_name'];
  const inner = firstChild(biz);
  if (flat !== undefined) return flatFlows.has(flat) && inner === undefined ? undefined : malformed;
  if (inner?.tag === 'interactive') return interactiveRefusal(inner);
  if (inner?.tag === 'buttons') return refusedKind;
  if (inner?.tag !== 'list') return malformed;
  return !inGroup && inner.attrs['type'] === 'product_list' && inner.attrs['v'] === '2' ? undefined : malformed;
};

const mediaTypesOf = (stanza: BinaryNode): Set<string | undefined> => {
  const encs = [...children(stanza, 'enc'), ...children(child(stanza, 'participants'), 'to').flatMap((to) => children(to, 'enc'))];
  return new Set(encs.map((enc) => enc.attrs['mediatype']));
};

/** The code by which the platform refuses the stanza; `undefined` when it takes it. A stanza without `biz` is taken, and phones hide what needs one. */
export const interactiveRefusalOf = (stanza: BinaryNode, inGroup: boolean): string | undefined => {
  if (inGroup && child(stanza, 'bot')) return malformed;
  const biz = child(stanza, 'biz');
  if (biz) return bizRefusal(biz, inGroup);
  return mediaTypesOf(stanza).has('list') ? refusedKind : undefined;
};
