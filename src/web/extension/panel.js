/**
 * A panel on web.whatsapp.com, the only site on which browsers let the passkey of an account sign. The panel takes the link that the dashboard shows, asks for
 * the signature, and shows the progress until linking has ended. Nothing is signed or confirmed unless the person at the page presses a button.
 */

const mark = '#dormouse=';
const followMs = 1_500;
/** The largest number of consecutive answers without a stage. Between the last step and the login the gateway reports no stage. */
const looksUntilOver = 8;

const texts = {
  title: 'Link with your passkey',
  lead: 'Paste the link from the dashboard of your gateway: its address and a code, such as https://gateway.example.com#ABCD-2345.',
  label: 'Link',
  go: 'Continue',
  wrong: 'This is not a link of a gateway. A link begins with https:// and ends with a code, such as #ABCD-2345.',
  asks: (host) => `The gateway ${host} asks to link your WhatsApp account. Go on only if you began this.`,
  sign: 'Sign with the passkey',
  signing: 'Choose the passkey in the window of your browser …',
  unsigned: 'Nothing was signed. The window was closed, or this browser has no passkey of the account.',
  early: 'The gateway does not wait for a passkey now. Scan the QR code first, then make a new code.',
  phone: 'Your phone goes on now …',
  compare: 'Compare this code with your phone.',
  confirm: 'The phone shows the same code',
  differs: 'Do not confirm another code. Cancel linking in the dashboard.',
  linked: 'The account is linked. You can close this page.',
  over: 'Linking has ended. The dashboard says why.',
  close: 'Close',
};

const style = `
:host { all: initial }
section { position: fixed; z-index: 2147483647; top: 16px; right: 16px; width: 320px; padding: 16px; border-radius: 12px; font: 14px/20px system-ui, sans-serif;
  color: #18211f; background: #fff; box-shadow: 0 4px 24px #0005; display: grid; gap: 12px }
h1 { margin: 0; font-size: 16px } p { margin: 0 } label { display: grid; gap: 4px; font-weight: 600 }
input, button { font: inherit; padding: 8px 12px; border-radius: 6px; border: 1px solid #74827d; color: inherit; background: #fff }
button.main { background: #1f6354; color: #fff; border-color: #1f6354 } button { cursor: pointer }
output { font: 600 28px/36px ui-monospace, monospace; letter-spacing: 2px } [role=alert] { color: #a02a20 }
`;

/** Returns the gateway and the code of a link; null if the text is no link. The address may have a path. */
const readLink = (text) => {
  const link = URL.parse(text.trim());
  if (link === null || !['https:', 'http:'].includes(link.protocol) || link.hash.length < 9) return null;
  // Removes the slashes at the end. A regular expression would take quadratic time for a hostile address.
  let path = link.pathname;
  while (path.endsWith('/')) path = path.slice(0, -1);
  return { gateway: link.origin + path, host: link.host, code: decodeURIComponent(link.hash.slice(1)) };
};

const ask = (link, step, body) => chrome.runtime.sendMessage({ gateway: link.gateway, code: link.code, step, body });

/** Makes an element with attributes and children. `press` is called for clicks of a person, not of a script. */
const make = (tag, { press, ...attributes } = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (press) element.addEventListener('click', (event) => event.isTrusted && press());
  element.append(...children);
  return element;
};

let host = null;

const close = () => {
  host?.remove();
  host = null;
};

/** Replaces the content of the panel, and opens the panel if it is closed. */
const show = (...parts) => {
  if (host === null) {
    host = make('dormouse-panel');
    host.attachShadow({ mode: 'open' });
    document.documentElement.append(host);
  }
  const cross = make('button', { press: close }, texts.close);
  const sheet = make('style', {}, style);
  host.shadowRoot.replaceChildren(sheet, make('section', { 'aria-label': texts.title }, make('h1', {}, texts.title), ...parts, cross));
};

const alertOf = (text) => make('p', { role: 'alert' }, text);
const statusOf = (text) => make('p', { role: 'status' }, text);

const askForLink = (problem = '') => {
  const input = make('input', { autocomplete: 'off', spellcheck: 'false' });
  const go = () => {
    const link = readLink(input.value);
    if (link === null) return askForLink(texts.wrong);
    void begin(link);
  };
  input.addEventListener('keydown', (event) => event.key === 'Enter' && event.isTrusted && go());
  const field = make('label', {}, texts.label, input);
  show(
    make('p', {}, texts.lead),
    field,
    ...(problem === '' ? [] : [alertOf(problem)]),
    make('button', { class: 'main', press: go }, texts.go),
  );
  input.focus();
};

/** Asks the gateway for the stage of linking until linking has ended. `looks`: the number of consecutive answers without a stage. */
const follow = async (link, looks = 0) => {
  if (host === null) return;
  const { status, body } = await ask(link, 'follow');
  if (status === 401) return show(alertOf(body.error));
  if (body.stage === 'linked') return show(statusOf(texts.linked));
  if (body.stage === 'none' && looks >= looksUntilOver) return show(alertOf(texts.over));
  if (body.stage === 'code') return compare(link, body.code);
  setTimeout(() => void follow(link, body.stage === 'none' ? looks + 1 : 0), followMs);
};

const compare = (link, code) => {
  const confirm = async () => {
    show(statusOf(texts.phone));
    const { status, body } = await ask(link, 'confirm');
    if (status !== 200) return show(alertOf(body.error));
    void follow(link);
  };
  show(
    make('p', {}, texts.compare),
    make('output', {}, code),
    make('p', {}, texts.differs),
    make('button', { class: 'main', press: confirm }, texts.confirm),
  );
};

const sign = async (link, options) => {
  show(statusOf(texts.signing));
  let credential;
  try {
    credential = await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
  } catch {
    return begin(link, texts.unsigned);
  }
  const { status, body } = await ask(link, 'answer', credential.toJSON());
  if (status === 400) return begin(link, body.error);
  if (status !== 200) return show(alertOf(body.error));
  show(statusOf(texts.phone));
  void follow({ ...link, code: body.ticket });
};

/** Reads the options of the signature, and shows the button that signs. */
const begin = async (link, problem = '') => {
  const { status, body } = await ask(link, 'follow');
  if (status !== 200) return askForLink(body.error);
  if (body.stage !== 'assertion') return askForLink(texts.early);
  const button = make('button', { class: 'main', press: () => void sign(link, body.options) }, texts.sign);
  show(make('p', {}, texts.asks(link.host)), ...(problem === '' ? [] : [alertOf(problem)]), button);
};

const open = (text) => {
  const link = readLink(text);
  if (link === null) askForLink();
  else void begin(link);
};

chrome.runtime.onMessage.addListener((message, sender) => {
  if (sender.id === chrome.runtime.id && message === 'show') askForLink();
});

// Reads the link before the script of the page changes the address, and removes the code from the address.
if (location.hash.startsWith(mark)) {
  const given = decodeURIComponent(location.hash.slice(mark.length));
  history.replaceState(null, '', location.pathname + location.search);
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', () => open(given));
  else open(given);
}
