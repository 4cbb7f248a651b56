/** Starts the page: the views, the switch between them on small screens, the live stream. */
import { drawChatList, startChatList } from './chat-list.js';
import { drawChannels, startChannels } from './channels.js';
import { drawPosts } from './posts.js';
import { startComposer } from './composer.js';
import { byId, toast } from './dom.js';
import { startFaults } from './faults.js';
import { drawPhones, startPhones } from './phones.js';
import { changed, start, state, watch } from './state.js';
import { startStats } from './stats.js';
import { drawThread } from './thread.js';

const tabs = [...document.querySelectorAll('nav.views button')];

const drawTop = () => {
  const live = byId('live');
  live.textContent = state.live ? 'live' : 'not connected';
  live.className = state.live ? 'pill good' : 'pill bad';
  for (const tab of tabs) tab.setAttribute('aria-pressed', String(tab.dataset.view === document.body.dataset.view));
};

for (const tab of tabs) {
  tab.addEventListener('click', () => {
    document.body.dataset.view = tab.dataset.view;
    changed();
  });
}

startPhones();
startChatList();
startChannels();
startComposer();
startFaults();
startStats();
for (const draw of [drawTop, drawPhones, drawChatList, drawChannels, drawPosts, drawThread]) watch(draw);
start((error) => toast(error.message, true));
