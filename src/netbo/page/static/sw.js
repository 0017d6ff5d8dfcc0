// Opens the page without coverage: what was fetched last is shown, the newest first wherever there is a connection.

const NAME = 'netbo-1', KEPT = /\/(static|maplibre)\/|\/$|\/api\/v1\/(state|network|history|levels|network\/lines)/;

addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('fetch', (event) => {
  const { request } = event, url = new URL(request.url);
  if (request.method !== 'GET' || url.origin !== location.origin || !KEPT.test(url.pathname)) return;
  event.respondWith((async () => {
    const kept = await caches.open(NAME);
    try {
      const answer = await fetch(request);
      if (answer.ok) await kept.put(request, answer.clone());
      return answer;
    } catch (error) {
      const found = await kept.match(request);
      if (found) return found;
      throw error;
    }
  })());
});
