/** Runs the dashboard tests of campaigns, the chatbot, receivers and settings, in a real browser. The files of the folder share a gateway and a browser. */
import { Dashboard } from '#test/support/dashboard.ts';
import { Scene } from '#test/support/scene.ts';
import { runTogether } from '#test/support/together.ts';

Scene.keep({
  LOOKUP_EVERY_MS: '1',
  CAMPAIGN_DAILY_CAP: '20',
  CHATBOT_PAUSE_MS: '300',
  WEBHOOK_QUICK_RETRIES_MS: '0,100,200,600000',
});
Dashboard.keep();
runTogether('test/e2e/together/dashboard-settings');
