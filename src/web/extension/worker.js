/**
 * Forwards requests from the panel to the gateway. The content security policy of web.whatsapp.com forbids requests from scripts of that page to other servers.
 * The gateway allows requests of extensions by CORS, so this extension needs a permission for web.whatsapp.com only.
 */

const site = 'https://web.whatsapp.com/';

/** The method and the path of the request of each step. A code allows only these requests. */
const steps = { follow: ['GET', '/passkey'], answer: ['POST', '/passkey'], confirm: ['POST', '/passkey/confirm'] };

/** Sends a request to the gateway. Never rejects. After a failure the answer has the status 0. */
const ask = async ({ gateway, code, step, body }) => {
  const [method, path] = steps[step];
  try {
    const response = await fetch(gateway + path, {
      method,
      headers: { 'passkey-code': code, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: 'omit',
      redirect: 'error',
      cache: 'no-store',
    });
    return { status: response.status, body: await response.json() };
  } catch {
    return { status: 0, body: { error: `The gateway at ${gateway} does not answer.` } };
  }
};

chrome.runtime.onMessage.addListener((message, sender, respond) => {
  if (sender.id !== chrome.runtime.id || !sender.url?.startsWith(site) || !(message.step in steps)) return false;
  void ask(message).then(respond);
  return true;
});

/** Shows the panel, in a new tab if the current tab shows another site. A tab that was opened before the extension was installed is reloaded with the panel. */
chrome.action.onClicked.addListener((tab) => {
  if (!tab.url?.startsWith(site)) return void chrome.tabs.create({ url: `${site}#dormouse=` });
  chrome.tabs.sendMessage(tab.id, 'show').catch(() => chrome.tabs.update(tab.id, { url: `${site}?#dormouse=` }));
});
